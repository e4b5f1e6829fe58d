#include "cuda/ops_impl.hpp"

#include <fmt/format.h>

#include <limits>

#include "cuda/edges/edges.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/linear/linear.hpp"
#include "cuda/list/neighbor_list.hpp"
#include "cuda/memory/callers.hpp"
#include "cuda/memory/device_memory.hpp"
#include "cuda/network/attention.hpp"
#include "cuda/network/readout.hpp"
#include "cuda/network/row_ops.hpp"
#include "cuda/recordings.hpp"

namespace trine::cuda {
namespace {

constexpr MemSpace kDevice = MemSpace::device;

/// Waits for the default stream and is waited for by it, so that copies come in order even of
/// those who do not `use` the device.
class Stream {
 public:
  Stream() { check_cuda(cudaStreamCreate(&stream_), "create a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

template <class Real>
class OpsImpl final : public Ops<Real, kDevice> {
 public:
  explicit OpsImpl(int device) : device_(device), linears_(device, stream_) {
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, device), "describe the device");
    description_ = fmt::format("cuda:{}, {}", device, properties.name);
  }

  std::string description() const override { return description_; }

  // All there are, as long as there is memory: a GPU has no cache to stay in.
  std::int64_t preferred_edges() const override {
    return std::numeric_limits<std::int64_t>::max() / 2;
  }

  std::int64_t available_memory() const override { return memory().free; }
  std::int64_t memory_in_use() const override {
    const Memory now = memory();
    return now.total - now.free;
  }
  std::int64_t list_growth(std::int64_t pairs, double cutoff) const override {
    return list_.growth(pairs, cutoff);
  }

  bool keeps_list(std::int64_t atoms, std::int64_t structures, double cutoff) const override {
    return list_.keeps(atoms, structures, cutoff);
  }
  std::int64_t count_of_frees() const override { return cuda::count_of_frees(); }

  std::shared_ptr<void> use() override { return std::make_shared<DeviceInUse>(device_, stream_); }

  void wait() override { check_cuda(cudaStreamSynchronize(stream_), "wait for the device"); }

  void start_after(void* stream) override { order_.put_after(stream_, callers_stream(stream)); }
  void finish_before(void* stream) override { order_.put_after(callers_stream(stream), stream_); }
  void check_not_recording(void* stream) const override {
    cuda::check_not_recording(callers_stream(stream));
  }
  void check_memory(const void* memory, const char* name) const override {
    cuda::check_memory(memory, name, device_);
  }

  void repeat(std::span<const std::int64_t> key, const std::function<void()>& work) override {
    recordings_.run(key, work, stream_);
  }

  std::unique_ptr<PackedLinear<Real, kDevice>> pack(const LinearWeights<Real>& w) override {
    return linears_.pack(w);
  }

  void set_zero(Vector<std::byte, kDevice> bytes) override {
    if (bytes.size == 0) return;
    check_cuda(cudaMemsetAsync(bytes.data, 0, static_cast<std::size_t>(bytes.size), stream_),
               "clear memory");
  }
  void convert(Vector<const double, kDevice> x, Vector<Real, kDevice> y) override {
    cuda::convert(x, y, stream_);
  }
  void accumulate(Vector<const Real, kDevice> x, Vector<double, kDevice> y) override {
    cuda::accumulate(x, y, stream_);
  }

  void neighbor_list(const NeighborListArgs<kDevice>& a) override { list_.build(a, stream_); }
  void pair_geometry(const PairGeometryArgs<kDevice>& a) override {
    edges_.pair_geometry(a, stream_);
  }
  void adaptive_cutoff(const AdaptiveCutoffArgs<kDevice>& a) override {
    cuda::adaptive_cutoff(a, stream_);
  }
  void select_edges(const SelectEdgesArgs<kDevice>& a) override { edges_.select(a, stream_); }
  void cutoff_weights(const CutoffWeightsArgs<kDevice>& a) override {
    cuda::cutoff_weights(a, stream_);
  }
  void gather_edges(const GatherEdgesArgs<kDevice>& a) override { cuda::gather_edges(a, stream_); }
  void edge_backward(const EdgeBackwardArgs<kDevice>& a) override { edges_.backward(a, stream_); }

 private:
  void do_linear(const LinearArgs<Real, kDevice>& a) override { linears_.forward(a); }
  void do_linear_backward(const LinearBackwardArgs<Real, kDevice>& a) override {
    linears_.backward(a);
  }
  void do_norm(const NormArgs<Real, kDevice>& a) override { cuda::norm(a, stream_); }
  void do_norm_backward(const NormBackwardArgs<Real, kDevice>& a) override {
    cuda::norm_backward(a, stream_);
  }
  void do_norms(const NormArgs<Real, kDevice>& a, const NormArgs<Real, kDevice>& b) override {
    cuda::norm(a, b, stream_);
  }
  void do_norms_backward(const NormBackwardArgs<Real, kDevice>& a,
                         const NormBackwardArgs<Real, kDevice>& b) override {
    cuda::norm_backward(a, b, stream_);
  }
  void do_attention(const AttentionArgs<Real, kDevice>& a) override { cuda::attention(a, stream_); }
  void do_attention_backward(const AttentionBackwardArgs<Real, kDevice>& a) override {
    cuda::attention_backward(a, stream_);
  }
  void do_edge_embedding(const EdgeEmbeddingArgs<Real, kDevice>& a) override {
    cuda::edge_embedding(a, stream_);
  }
  void do_edge_embedding_backward(const EdgeEmbeddingBackwardArgs<Real, kDevice>& a) override {
    cuda::edge_embedding_backward(a, stream_);
  }
  void do_combine(const CombineArgs<Real, kDevice>& a) override { cuda::combine(a, stream_); }
  void do_combine_backward(const CombineBackwardArgs<Real, kDevice>& a) override {
    cuda::combine_backward(a, stream_);
  }
  void do_add_reversed(const AddReversedArgs<Real, kDevice>& a) override {
    cuda::add_reversed(a, stream_);
  }
  void do_gather_rows(const GatherRowsArgs<Real, kDevice>& a) override {
    cuda::gather_rows(a, stream_);
  }
  void do_scale(const ScaleArgs<Real, kDevice>& a) override { cuda::scale(a, stream_); }
  void do_readout(const ReadoutArgs<Real, kDevice>& a) override { cuda::readout(a, stream_); }
  void do_readout_backward(const ReadoutBackwardArgs<Real, kDevice>& a) override {
    cuda::readout_backward(a, stream_);
  }
  void do_energies(const EnergiesArgs<kDevice>& a) override { cuda::energies(a, stream_); }
  void do_scale_by_species(const ScaleBySpeciesArgs<kDevice>& a) override {
    cuda::scale_by_species(a, stream_);
  }

  struct Memory {
    std::int64_t free, total;
  };
  static Memory memory() {
    std::size_t free = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "ask for free memory");
    return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
  }

  int device_;
  std::string description_;
  Stream stream_;
  StreamOrder order_;
  Linears<Real> linears_;
  ListBuilder list_;
  EdgeBuilder edges_;
  Recordings recordings_;
};

}  // namespace

template <class Real>
std::unique_ptr<Ops<Real, MemSpace::device>> make_ops(int device) {
  const CurrentDevice current(device);
  return std::make_unique<OpsImpl<Real>>(device);
}

template std::unique_ptr<Ops<float, MemSpace::device>> make_ops<float>(int);
template std::unique_ptr<Ops<double, MemSpace::device>> make_ops<double>(int);

}  // namespace trine::cuda
