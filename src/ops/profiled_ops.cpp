// The decorator that times every operation of a device.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "ops/profile.hpp"
#include "tensor/for_each_device.hpp"

namespace trine {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string columns(std::int64_t count) {
  return fmt::format(" x {}", count);
}

std::string suffix(LinearActivation activation) {
  switch (activation) {
    case LinearActivation::none:
      return "";
    case LinearActivation::silu:
      return " silu";
    case LinearActivation::swiglu:
      return " swiglu";
  }
  return "";
}

std::string suffix(Write write) {
  return write == Write::add ? ", added" : "";
}

template <class Real, MemSpace S>
double arithmetic(std::int64_t rows, const PackedLinear<Real, S>& w) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(w.in()) *
         static_cast<double>(w.pre());
}

template <class Real, MemSpace S>
OperationCall describe(const LinearArgs<Real, S>& a) {
  const auto& w = *a.weight;
  std::string shape = columns(w.pre()) + columns(w.in()) + suffix(w.activation());
  if (!a.addend.empty()) shape += ", addend";
  const auto residuals =
      std::count_if(a.residual.begin(), a.residual.end(), [](const auto& r) { return !r.empty(); });
  if (residuals > 0) shape += fmt::format(", {} residual{}", residuals, residuals > 1 ? "s" : "");
  if (!a.pre.empty()) shape += ", z kept";
  return {"linear", a.x.rows, shape, arithmetic(a.x.rows, w), w.site()};
}

template <class Real, MemSpace S>
OperationCall describe(const LinearBackwardArgs<Real, S>& a) {
  const auto& w = *a.weight;
  std::string shape = columns(w.in()) + columns(w.pre());
  if (!a.pre.empty()) shape += suffix(w.activation());
  if (a.through.activation != LinearActivation::none) {
    shape += ", through" + suffix(a.through.activation);
  }
  return {"linear_backward", a.dx.rows, shape + suffix(a.write), arithmetic(a.dx.rows, w),
          w.site()};
}

template <class Real, MemSpace S>
OperationCall describe(const std::string& name, const AttentionArgs<Real, S>& a) {
  return {name, a.layout.atoms,
          fmt::format(" atoms, {} heads x {}", a.heads, a.qkv.cols / (3 * a.heads))};
}

template <class T, MemSpace S>
OperationCall describe(const std::string& name, const Matrix<T, S>& y,
                       const std::string& more = "") {
  return {name, y.rows, columns(y.cols) + more};
}

/// The second one of two that are started together.
template <class T, MemSpace S>
std::string beside(const Matrix<T, S>& y, const std::string& more = "") {
  return ", and" + columns(y.cols) + more;
}

template <class Real, MemSpace S>
class ProfiledOps final : public Ops<Real, S> {
 public:
  ProfiledOps(std::unique_ptr<Ops<Real, S>> ops, std::shared_ptr<Profile> profile)
      : ops_(std::move(ops)), profile_(std::move(profile)) {
    const auto device = ops_->use();
    Buffer<std::byte, S> one;
    one.resize(1);
    empty_ = std::numeric_limits<double>::infinity();
    for (int k = 0; k < kTries; ++k) {
      empty_ = std::min(empty_, seconds([&] { ops_->set_zero(one.view()); }));
    }
  }

  std::string description() const override { return ops_->description(); }
  std::int64_t available_memory() const override { return ops_->available_memory(); }
  std::int64_t memory_in_use() const override { return ops_->memory_in_use(); }
  std::int64_t list_growth(std::int64_t pairs, double cutoff) const override {
    return ops_->list_growth(pairs, cutoff);
  }
  std::shared_ptr<void> use() override { return ops_->use(); }
  void wait() override { ops_->wait(); }
  void start_after(void* stream) override { ops_->start_after(stream); }
  void check_not_recording(void* stream) const override { ops_->check_not_recording(stream); }
  void finish_before(void* stream) override { ops_->finish_before(stream); }
  void check_memory(const void* memory, const char* name) const override {
    ops_->check_memory(memory, name);
  }
  std::int64_t preferred_edges() const override { return ops_->preferred_edges(); }
  std::unique_ptr<PackedLinear<Real, S>> pack(const LinearWeights<Real>& weights) override {
    return ops_->pack(weights);
  }

  void set_zero(Vector<std::byte, S> bytes) override {
    time({"set_zero", bytes.size, " bytes"}, [&] { ops_->set_zero(bytes); });
  }
  void convert(Vector<const double, S> x, Vector<Real, S> y) override {
    time({"convert", x.size, ""}, [&] { ops_->convert(x, y); });
  }
  void accumulate(Vector<const Real, S> x, Vector<double, S> y) override {
    time({"accumulate", x.size, ""}, [&] { ops_->accumulate(x, y); });
  }

  void neighbor_list(const NeighborListArgs<S>& a) override {
    time({"neighbor_list", a.atoms.atoms(), " atoms"}, [&] { ops_->neighbor_list(a); });
  }
  void pair_geometry(const PairGeometryArgs<S>& a) override {
    time({"pair_geometry", a.vector.size, " pairs"}, [&] { ops_->pair_geometry(a); });
  }
  void adaptive_cutoff(const AdaptiveCutoffArgs<S>& a) override {
    time({"adaptive_cutoff", a.radius.size, " atoms"}, [&] { ops_->adaptive_cutoff(a); });
  }
  void select_edges(const SelectEdgesArgs<S>& a) override {
    time({"select_edges", a.distance.size, " pairs"}, [&] { ops_->select_edges(a); });
  }
  void cutoff_weights(const CutoffWeightsArgs<S>& a) override {
    time({"cutoff_weights", a.weight.size, " edges"}, [&] { ops_->cutoff_weights(a); });
  }
  void gather_edges(const GatherEdgesArgs<S>& a) override {
    time({"gather_edges", a.edge_vector.size, " edges"}, [&] { ops_->gather_edges(a); });
  }
  void edge_backward(const EdgeBackwardArgs<S>& a) override {
    time({"edge_backward", a.distance.size, " pairs"}, [&] { ops_->edge_backward(a); });
  }

 private:
  static constexpr int kTries = 50;

  void do_linear(const LinearArgs<Real, S>& a) override {
    time(describe(a), [&] { ops_->linear(a); });
  }
  void do_linear_backward(const LinearBackwardArgs<Real, S>& a) override {
    time(describe(a), [&] { ops_->linear_backward(a); });
  }
  void do_norm(const NormArgs<Real, S>& a) override {
    time(describe("norm", a.y), [&] { ops_->norm(a); });
  }
  void do_norm_backward(const NormBackwardArgs<Real, S>& a) override {
    time(describe("norm_backward", a.dx, suffix(a.write)), [&] { ops_->norm_backward(a); });
  }
  void do_norms(const NormArgs<Real, S>& a, const NormArgs<Real, S>& b) override {
    time(describe("norm", a.y, beside(b.y)), [&] { ops_->norm(a, b); });
  }
  void do_norms_backward(const NormBackwardArgs<Real, S>& a,
                         const NormBackwardArgs<Real, S>& b) override {
    time(describe("norm_backward", a.dx, suffix(a.write) + beside(b.dx, suffix(b.write))),
         [&] { ops_->norm_backward(a, b); });
  }
  void do_attention(const AttentionArgs<Real, S>& a) override {
    time(describe("attention", a), [&] { ops_->attention(a); });
  }
  void do_attention_backward(const AttentionBackwardArgs<Real, S>& a) override {
    time(describe("attention_backward", a.forward), [&] { ops_->attention_backward(a); });
  }
  void do_edge_embedding(const EdgeEmbeddingArgs<Real, S>& a) override {
    time(describe("edge_embedding", a.pre), [&] { ops_->edge_embedding(a); });
  }
  void do_edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, S>& a) override {
    time(describe("edge_embedding_backward", a.d_pre), [&] { ops_->edge_embedding_backward(a); });
  }
  void do_combine(const CombineArgs<Real, S>& a) override {
    time(describe("combine", a.y), [&] { ops_->combine(a); });
  }
  void do_combine_backward(const CombineBackwardArgs<Real, S>& a) override {
    time(describe("combine_backward", a.dy), [&] { ops_->combine_backward(a); });
  }
  void do_add_reversed(const AddReversedArgs<Real, S>& a) override {
    time(describe("add_reversed", a.y), [&] { ops_->add_reversed(a); });
  }
  void do_gather_rows(const GatherRowsArgs<Real, S>& a) override {
    time(describe("gather_rows", a.y, suffix(a.write)), [&] { ops_->gather_rows(a); });
  }
  void do_scale(const ScaleArgs<Real, S>& a) override {
    time(describe("scale", a.y, suffix(a.write)), [&] { ops_->scale(a); });
  }
  void do_readout(const ReadoutArgs<Real, S>& a) override {
    time(describe("readout", a.edge), [&] { ops_->readout(a); });
  }
  void do_readout_backward(const ReadoutBackwardArgs<Real, S>& a) override {
    time(describe("readout_backward", a.d_edge), [&] { ops_->readout_backward(a); });
  }
  void do_energies(const EnergiesArgs<S>& a) override {
    time({"energies", a.energies.size, " atoms"}, [&] { ops_->energies(a); });
  }
  void do_scale_by_species(const ScaleBySpeciesArgs<S>& a) override {
    time({"scale_by_species", a.x.rows, " atoms"}, [&] { ops_->scale_by_species(a); });
  }

  template <class Work>
  double seconds(const Work& work) {
    ops_->wait();
    const auto start = std::chrono::steady_clock::now();
    work();
    ops_->wait();
    return seconds_since(start);
  }

  template <class Work>
  void time(const OperationCall& call, const Work& work) {
    profile_->add(call, std::max(0.0, seconds(work) - empty_));
  }

  std::unique_ptr<Ops<Real, S>> ops_;
  std::shared_ptr<Profile> profile_;
  double empty_ = 0;  ///< seconds of an operation that does next to nothing
};

}  // namespace

template <class Real, MemSpace S>
std::unique_ptr<Ops<Real, S>> make_profiled(std::unique_ptr<Ops<Real, S>> ops,
                                            std::shared_ptr<Profile> profile) {
  return std::make_unique<ProfiledOps<Real, S>>(std::move(ops), std::move(profile));
}

#define TRINE_INSTANTIATE(Real, S)                                                    \
  template std::unique_ptr<Ops<Real, S>> make_profiled(std::unique_ptr<Ops<Real, S>>, \
                                                       std::shared_ptr<Profile>);
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine
