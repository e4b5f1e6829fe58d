#include "cpu/ops_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/memory.hpp"
#include "cpu/adaptive_cutoff.hpp"
#include "cpu/attention.hpp"
#include "cpu/cutoff_weights.hpp"
#include "cpu/edge_backward.hpp"
#include "cpu/edges.hpp"
#include "cpu/linear.hpp"
#include "cpu/neighbor_list.hpp"
#include "cpu/pair_geometry.hpp"
#include "cpu/readout.hpp"
#include "cpu/row_ops.hpp"

namespace trine::cpu {
namespace {

constexpr MemSpace kHost = MemSpace::host;

template <class Real>
class OpsImpl final : public Ops<Real, kHost> {
 public:
  OpsImpl(int threads, const emulation::Kernels& kernels)
      : threads_(static_cast<std::size_t>(threads)), kernels_(kernels) {}

  std::string description() const override {
    return fmt::format("CPU, {}, {} thread{}", instruction_set(), threads_.size(),
                       threads_.size() == 1 ? "" : "s");
  }

  std::int64_t available_memory() const override { return trine::available_memory(); }

  // A chunk's arrays should stay in the last-level cache, and every thread needs a few panels.
  std::int64_t preferred_edges() const override {
    return std::max<std::int64_t>(2048, 512 * static_cast<std::int64_t>(threads_.size()));
  }

  std::unique_ptr<PackedLinear<Real, kHost>> pack(const LinearWeights<Real>& w) override {
    return std::make_unique<CpuLinear<Real>>(w, kernels_);
  }

  void set_zero(Vector<std::byte, kHost> bytes) override {
    if (bytes.size > 0) std::memset(bytes.data, 0, static_cast<std::size_t>(bytes.size));
  }
  void convert(Vector<const double, kHost> x, Vector<Real, kHost> y) override {
    std::transform(x.begin(), x.end(), y.begin(), [](double v) { return static_cast<Real>(v); });
  }
  void accumulate(Vector<const Real, kHost> x, Vector<double, kHost> y) override {
    std::transform(x.begin(), x.end(), y.begin(), y.begin(),
                   [](Real a, double b) { return static_cast<double>(a) + b; });
  }

  void neighbor_list(const NeighborListArgs<kHost>& a) override { cpu::neighbor_list(a, count()); }
  void pair_geometry(const PairGeometryArgs<kHost>& a) override { cpu::pair_geometry(a, count()); }
  void adaptive_cutoff(const AdaptiveCutoffArgs<kHost>& a) override {
    cpu::adaptive_cutoff(a, count());
  }
  void select_edges(const SelectEdgesArgs<kHost>& a) override { cpu::select_edges(a, count()); }
  void cutoff_weights(const CutoffWeightsArgs<kHost>& a) override {
    cpu::cutoff_weights(a, count());
  }
  void gather_edges(const GatherEdgesArgs<kHost>& a) override {
    const auto& offsets = a.edges->offsets;
    const std::int64_t edges = offsets[offsets.size() - 1];
    for (std::int64_t e = 0; e < edges; ++e) {
      a.edge_vector[e] = a.vector[a.edges->pair[e]];
      a.edge_species[e] = a.species[a.edges->neighbor[e]];
    }
    std::fill(a.edge_vector.begin() + edges, a.edge_vector.end(), Vec3{});
    std::fill(a.edge_species.begin() + edges, a.edge_species.end(), 0);
  }
  void edge_backward(const EdgeBackwardArgs<kHost>& a) override { cpu::edge_backward(a, count()); }

 private:
  int count() const { return static_cast<int>(threads_.size()); }

  void do_linear(const LinearArgs<Real, kHost>& a) override { cpu::linear(a, threads_); }
  void do_linear_backward(const LinearBackwardArgs<Real, kHost>& a) override {
    cpu::linear_backward(a, threads_);
  }
  void do_norm(const NormArgs<Real, kHost>& a) override { cpu::norm(a, threads_); }
  void do_norm_backward(const NormBackwardArgs<Real, kHost>& a) override {
    cpu::norm_backward(a, threads_);
  }
  void do_attention(const AttentionArgs<Real, kHost>& a) override { cpu::attention(a, threads_); }
  void do_attention_backward(const AttentionBackwardArgs<Real, kHost>& a) override {
    cpu::attention_backward(a, threads_);
  }
  void do_edge_embedding(const EdgeEmbeddingArgs<Real, kHost>& a) override {
    cpu::edge_embedding(a, threads_);
  }
  void do_edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, kHost>& a) override {
    cpu::edge_embedding_backward(a, threads_);
  }
  void do_combine(const CombineArgs<Real, kHost>& a) override { cpu::combine(a, threads_); }
  void do_combine_backward(const CombineBackwardArgs<Real, kHost>& a) override {
    cpu::combine_backward(a, threads_);
  }
  void do_add_reversed(const AddReversedArgs<Real, kHost>& a) override {
    cpu::add_reversed(a, threads_);
  }
  void do_gather_rows(const GatherRowsArgs<Real, kHost>& a) override {
    cpu::gather_rows(a, threads_);
  }
  void do_scale(const ScaleArgs<Real, kHost>& a) override { cpu::scale(a, threads_); }
  void do_readout(const ReadoutArgs<Real, kHost>& a) override { cpu::readout(a, threads_); }
  void do_readout_backward(const ReadoutBackwardArgs<Real, kHost>& a) override {
    cpu::readout_backward(a, threads_);
  }
  void do_energies(const EnergiesArgs<kHost>& a) override { cpu::energies(a); }
  void do_scale_by_species(const ScaleBySpeciesArgs<kHost>& a) override {
    cpu::scale_by_species(a);
  }

  Threads<Real> threads_;
  const emulation::Kernels& kernels_;
};

}  // namespace

template <class Real>
std::unique_ptr<Ops<Real, MemSpace::host>> make_ops(int threads,
                                                    const emulation::Kernels& kernels) {
  return std::make_unique<OpsImpl<Real>>(threads, kernels);
}

template std::unique_ptr<Ops<float, MemSpace::host>> make_ops<float>(int,
                                                                     const emulation::Kernels&);
template std::unique_ptr<Ops<double, MemSpace::host>> make_ops<double>(int,
                                                                       const emulation::Kernels&);

}  // namespace trine::cpu
