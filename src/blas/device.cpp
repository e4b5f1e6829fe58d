#include "blas/device.hpp"

#include <cuda_runtime_api.h>

#include <exception>
#include <map>
#include <memory>
#include <mutex>

#include "cuda/gemm/device.hpp"
#include "trine/gemm.hpp"

namespace trine::blas {
namespace {

using cuda::check_cuda;
using cuda::CurrentDevice;

/// What the pool keeps when nothing uses it, so that a step finds the memory of the one before.
constexpr std::uint64_t kKeptBytes = std::uint64_t{256} << 20;
/// With more rows a workspace is of use for misaligned rows only (GemmContext::workspace_bytes).
constexpr std::int64_t kFewRows = 512;

/// What this thread does meanwhile is no part of a capture, and does not disturb those of others.
class OutsideCaptures {
 public:
  OutsideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~OutsideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  OutsideCaptures(const OutsideCaptures&) = delete;
  OutsideCaptures& operator=(const OutsideCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

cudaMemPool_t make_pool(int device) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaMemPoolCreate(&pool, &properties), "make a pool of memory");
  std::uint64_t kept = kKeptBytes;
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept),
             "set up a pool of memory");
  return pool;
}

struct Device {
  std::mutex mutex;
  GemmContext gemm;
  cudaMemPool_t pool;
  bool used = false;  ///< its kernels are loaded

  explicit Device(int device) : gemm(device, nullptr), pool(make_pool(device)) {}
};

/// That of a GPU; null if there is none yet and none may be made. Lives as long as the process.
Device* find_device(int device, bool may_make) {
  static std::mutex mutex;
  static auto* const devices = new std::map<int, std::unique_ptr<Device>>;
  const std::scoped_lock lock(mutex);
  std::unique_ptr<Device>& found = (*devices)[device];
  if (!found && may_make) {
    const OutsideCaptures outside;
    found = std::make_unique<Device>(device);
  }
  return found.get();
}

/// Memory for one product, taken and given back in the order of a stream.
class Scratch {
 public:
  Scratch(std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) : stream_(stream) {
    if (bytes > 0) check_cuda(cudaMallocFromPoolAsync(&data_, bytes, pool, stream), "take memory");
  }
  ~Scratch() {
    if (data_) cudaFreeAsync(data_, stream_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_;
};

/// The GPU that holds all operands, -1 if there is no such.
int device_of(const Product& p) {
  int device = -1;
  const float* const d = p.d;
  for (const float* data : {d, p.a, p.b, p.beta != 0 ? p.c : d, p.bias ? p.bias : d}) {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
      cudaGetLastError();  // it is dealt with
      return -1;
    }
    if (attributes.type != cudaMemoryTypeDevice) return -1;
    if (device >= 0 && attributes.device != device) return -1;
    device = attributes.device;
  }
  return device;
}

bool has_aligned_rows(const Product& p) {
  return reinterpret_cast<std::uintptr_t>(p.b) % 16 == 0 && p.ldb % 4 == 0 && p.stride_b % 4 == 0;
}

/// Does the product gain more than the packing of the weight costs? In microseconds on an H200:
/// SGEMM at 35 TFLOP/s, of which a split product saves two thirds, and packing as fast as memory.
bool pays(const Product& p) {
  const double saved = 2.0 / 3.0 * flop(p) / 35e6;
  return saved > 4 + 4e-6 * static_cast<double>(p.m) * static_cast<double>(p.k);
}

GemmMethod choose(const GemmContext& gemm, const Product& p, const Settings& settings) {
  if (settings.method) return *settings.method;
  return pays(p) ? gemm.choose({p.n, p.m, p.k}) : GemmMethod::fp32;
}

void multiply(GemmContext& gemm, const GemmWeight& weight, const Product& p, std::int64_t index,
              void* workspace) {
  const float *x = p.b + index * p.stride_b, *c = p.c ? p.c + index * p.stride_c : nullptr;
  float* const y = p.d + index * p.stride_d;
  const Arrangement as = arrange(p);
  if (as.forward) {
    gemm.forward(weight, {.m = as.rows,
                          .x = x,
                          .ldx = p.ldb,
                          .residual = p.beta != 0 ? c : nullptr,
                          .ld_residual = p.ldc,
                          .y = y,
                          .ldy = p.ldd,
                          .workspace = workspace});
  } else {
    gemm.backward(weight, {.m = as.rows,
                           .dy = x,
                           .ldy = p.ldb,
                           .add = p.beta != 0,
                           .dx = y,
                           .ldx = p.ldd,
                           .workspace = workspace});
  }
}

Served multiply_batch(Device& device, GemmMethod method, const Product& p) {
  GemmContext& gemm = device.gemm;
  const auto stream = static_cast<cudaStream_t>(p.stream);
  const Arrangement as = arrange(p);
  gemm.use_stream(p.stream);
  const Scratch words(gemm.packed_bytes(method, as.n, as.k), device.pool, stream);
  GemmWeight weight = gemm.place(method, as.n, as.k, words.data());
  const bool needs_workspace = as.rows <= kFewRows || !has_aligned_rows(p);
  const Scratch workspace(needs_workspace ? gemm.workspace_bytes(weight, as.rows) : 0, device.pool,
                          stream);
  bool written = false;
  try {
    for (std::int64_t i = 0; i < p.batch; ++i) {
      if (i == 0 || p.stride_a != 0) gemm.repack(weight, p.a + i * p.stride_a, p.lda, p.bias);
      written = true;
      multiply(gemm, weight, p, i, workspace.data());
    }
  } catch (const std::exception& error) {
    if (written && p.beta != 0) return {Outcome::broken, error.what(), false};
    throw;
  }
  return {Outcome::done, std::string(gemm_method_info(method).name), !device.used};
}

}  // namespace

Served multiply_on_device(const Product& p, const Settings& settings) {
  const int index = device_of(p);
  if (index < 0) return refuse("not all operands are in the memory of one GPU");
  const CurrentDevice current(index);
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(static_cast<cudaStream_t>(p.stream), &capture),
             "look at the stream");
  const bool captured = capture != cudaStreamCaptureStatusNone;
  Device* const device = find_device(index, !captured);
  if (!device) return refuse("a capture, before anything was computed");
  const std::scoped_lock lock(device->mutex);
  if (captured && !device->used) return refuse("a capture, before anything was computed");
  const GemmMethod method = choose(device->gemm, p, settings);
  if (method == GemmMethod::fp32) return refuse("the original is faster");
  Served served = multiply_batch(*device, method, p);
  device->used = device->used || served.outcome == Outcome::done;
  return served;
}

}  // namespace trine::blas
