#include "cuda/gemm/context.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "cuda/gemm/launch.hpp"
#include "cuda/gemm/pack.hpp"

namespace trine {
namespace {

using namespace cuda;

constexpr unsigned long long kNoBadRow = ~0ull;

std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b * b;
}

}  // namespace

void GemmContext::Impl::prepare_kernels(GemmMethod method) {
  bool& done = prepared[static_cast<std::size_t>(method)];
  if (done) return;
  for (const auto direction : {Direction::forward, Direction::backward}) {
    for (int i = 0; i < static_cast<int>(EpilogueKind::size_); ++i) {
      const auto kind = static_cast<EpilogueKind>(i);
      for (const Kernel& kernel : find_kernels(method, family, direction, kind)) prepare(kernel);
      if (family != KernelFamily::sm90 || !has_planes(method) || general(kind) != kind) continue;
      for (const Form form : {Form{true, false}, Form{false, true}, Form{true, true}}) {
        for (const Kernel& kernel : find_planes_kernels(method, form, direction, kind)) {
          prepare(kernel);
        }
      }
    }
  }
  done = true;
}

GemmContext::GemmContext(int device, void* stream, GemmKernels kernels)
    : impl_(std::make_unique<Impl>()) {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "count the devices");
  check(device >= 0 && device < count, ErrorCode::not_supported,
        "there is no GPU {} (this machine has {}), choose another", device, count);
  const CurrentDevice current(device);
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "describe the device");
  impl_->device = device;
  impl_->stream = static_cast<cudaStream_t>(stream);
  impl_->name = properties.name;
  impl_->capability = 10 * properties.major + properties.minor;
  impl_->multiprocessors = properties.multiProcessorCount;
  check(impl_->capability >= 80, ErrorCode::not_supported,
        "{} has compute capability {}.{} (the products need 8.0), use a newer GPU or the CPU",
        impl_->name, properties.major, properties.minor);
  if (impl_->capability == 90 && kernels == GemmKernels::best) impl_->family = KernelFamily::sm90;
  impl_->bad_row = DeviceArray<unsigned long long>(1);
  check_cuda(
      cudaMemcpy(impl_->bad_row.data(), &kNoBadRow, sizeof kNoBadRow, cudaMemcpyHostToDevice),
      "clear the status");
}

GemmContext::GemmContext(GemmContext&&) noexcept = default;
GemmContext::~GemmContext() = default;

std::string GemmContext::device_name() const {
  return impl_->name;
}

int GemmContext::capability() const {
  return impl_->capability;
}

// Portable kernels on Hopper add as it does, but promote as on every other device.
GemmArch GemmContext::arch() const {
  if (impl_->capability < 90) return GemmArch::sm_80;
  return impl_->family == KernelFamily::sm90 ? GemmArch::sm_90 : GemmArch::sm_100;
}

GemmSupport GemmContext::supports(GemmMethod method, const GemmShape& shape) const {
  return gemm_support(method, impl_->capability, shape);
}

GemmMethod GemmContext::choose(const GemmShape& shape) const {
  // Nothing has been measured on other devices and kernels yet.
  if (impl_->family != KernelFamily::sm90) return GemmMethod::fp32;
  PackedOperand w;
  w.out_blocks = static_cast<int>(round_up(shape.n, 2 * kBlock) / kBlock);
  w.chunks = static_cast<int>(round_up(shape.k, 2 * kBlock) / kBlock);
  const KernelsByTile kernels =
      find_kernels(GemmMethod::fp16x3, impl_->family, Direction::forward, EpilogueKind::linear);
  const double split = choose_tile(kernels, shape.m, w, impl_->multiprocessors).microseconds;
  // cuBLAS SGEMM on an H200, fitted like kCost in launch.cpp.
  const double plain = 5.2 + 2e-6 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                                 static_cast<double>(shape.k) / 35.0;
  return split < plain ? GemmMethod::fp16x3 : GemmMethod::fp32;
}

namespace {

void check_weight(const GemmSupport& support, GemmMethod method, std::int64_t n, std::int64_t k) {
  check(support.supported, ErrorCode::not_supported,
        "no product {} of {} x {} ({}), choose another", gemm_method_info(method).name, n, k,
        support.reason);
}

void check_stored(const float* w, std::int64_t ldw, std::int64_t k) {
  check(w && ldw >= k, ErrorCode::usage, "the weight needs rows of at least {} numbers (got {})", k,
        ldw);
}

void describe(PackedWeight& weight, GemmMethod method, GemmActivation activation, std::int64_t n,
              std::int64_t k) {
  weight.method = method;
  weight.activation = activation;
  weight.n = n;
  weight.k = k;
  weight.layout = packed_layout(method, activation, n, k);
}

}  // namespace

GemmWeight GemmContext::pack(GemmMethod method, const float* w, std::int64_t ldw, std::int64_t n,
                             std::int64_t k, const float* bias, GemmActivation activation) {
  check_weight(supports(method, {1, n, k}), method, n, k);
  check_stored(w, ldw, k);
  check(activation != GemmActivation::swiglu || n % 2 == 0, ErrorCode::usage,
        "a swiglu weight has values and gates (an even number of rows), got {}", n);
  const CurrentDevice current(impl_->device);
  auto weight = std::make_unique<GemmWeight::Impl>();
  describe(*weight, method, activation, n, k);
  weight->owned = DeviceArray<std::uint8_t>(static_cast<std::int64_t>(weight->layout.end));
  weight->memory = weight->owned.data();
  DeviceArray<float> copy(n * k), bias_copy(bias ? n : 0);
  check_cuda(cudaMemcpy2DAsync(copy.data(), sizeof(float) * static_cast<std::size_t>(k), w,
                               sizeof(float) * static_cast<std::size_t>(ldw),
                               sizeof(float) * static_cast<std::size_t>(k),
                               static_cast<std::size_t>(n), cudaMemcpyDefault, impl_->stream),
             "copy a weight");
  if (bias) {
    check_cuda(cudaMemcpyAsync(bias_copy.data(), bias, bias_copy.bytes(), cudaMemcpyDefault,
                               impl_->stream),
               "copy a bias");
  }
  pack_bias(*weight, bias ? bias_copy.data() : nullptr, impl_->stream);
  if (method == GemmMethod::fp32) {
    if (!impl_->plain) impl_->plain = std::make_unique<PlainProduct>(impl_->stream);
    check_finite(copy.data(), n * k, impl_->stream);
    weight->plain = std::move(copy);
  } else {
    impl_->prepare_kernels(method);
    pack_words(*weight, copy.data(), k, PackedScale::relative, arch(), impl_->stream);
  }
  check_cuda(cudaStreamSynchronize(impl_->stream), "pack a weight");
  return GemmWeight(std::move(weight));
}

std::size_t GemmContext::packed_bytes(GemmMethod method, std::int64_t n, std::int64_t k) const {
  check_weight(supports(method, {1, n, k}), method, n, k);
  return packed_layout(method, GemmActivation::none, n, k).end;
}

GemmWeight GemmContext::place(GemmMethod method, std::int64_t n, std::int64_t k, void* memory) {
  check_weight(supports(method, {1, n, k}), method, n, k);
  check(method != GemmMethod::fp32, ErrorCode::not_supported,
        "fp32 has no words to place (nothing is packed), multiply with cuBLAS");
  check(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0, ErrorCode::usage,
        "a placed weight needs memory that starts at a multiple of 256 bytes, give that");
  const CurrentDevice current(impl_->device);
  auto weight = std::make_unique<GemmWeight::Impl>();
  describe(*weight, method, GemmActivation::none, n, k);
  weight->is_placed = true;
  if (!memory)
    weight->owned = DeviceArray<std::uint8_t>(static_cast<std::int64_t>(weight->layout.end));
  weight->memory = memory ? static_cast<std::uint8_t*>(memory) : weight->owned.data();
  impl_->prepare_kernels(method);
  return GemmWeight(std::move(weight));
}

void GemmContext::repack(GemmWeight& weight, const float* w, std::int64_t ldw, const float* bias) {
  GemmWeight::Impl& packed = *weight.impl_;
  check_stored(w, ldw, packed.k);
  check(packed.is_placed, ErrorCode::usage,
        "only a weight that was placed is packed again (pack() made this one), use place()");
  const CurrentDevice current(impl_->device);
  pack_words(packed, w, ldw, PackedScale::absolute, arch(), impl_->stream);
  pack_bias(packed, bias, impl_->stream);
}

void GemmContext::use_stream(void* stream) {
  impl_->stream = static_cast<cudaStream_t>(stream);
  if (impl_->plain) impl_->plain->use_stream(impl_->stream);
}

std::size_t GemmContext::workspace_bytes(const GemmWeight& weight, std::int64_t m) const {
  const auto& w = *weight.impl_;
  const std::int64_t row = std::max(round_up(w.k, 4), round_up(w.n, 8));
  const auto copy = static_cast<std::size_t>(std::max<std::int64_t>(m, 0) * row) * sizeof(float);
  return std::max(copy, impl_->splitting_bytes(w, m));
}

std::int64_t GemmContext::first_bad_row() {
  const CurrentDevice current(impl_->device);
  unsigned long long row = kNoBadRow;
  check_cuda(cudaMemcpyAsync(&row, impl_->bad_row.data(), sizeof row, cudaMemcpyDeviceToHost,
                             impl_->stream),
             "read the status");
  check_cuda(cudaMemcpyAsync(impl_->bad_row.data(), &kNoBadRow, sizeof row, cudaMemcpyHostToDevice,
                             impl_->stream),
             "clear the status");
  check_cuda(cudaStreamSynchronize(impl_->stream), "read the status");
  return row == kNoBadRow ? -1 : static_cast<std::int64_t>(row);
}

GemmWeight::GemmWeight(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GemmWeight::GemmWeight(GemmWeight&&) noexcept = default;
GemmWeight& GemmWeight::operator=(GemmWeight&&) noexcept = default;
GemmWeight::~GemmWeight() = default;
GemmMethod GemmWeight::method() const {
  return impl_->method;
}
std::int64_t GemmWeight::n() const {
  return impl_->n;
}
std::int64_t GemmWeight::k() const {
  return impl_->k;
}
std::size_t GemmWeight::bytes() const {
  return std::max(impl_->owned.bytes(), impl_->layout.end) + impl_->plain.bytes();
}

}  // namespace trine
