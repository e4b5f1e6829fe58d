#include "cuda/gemm/planes.hpp"

#include <string>

#include "base/check.hpp"
#include "cuda/gemm/context.hpp"

namespace trine {
namespace cuda {

SplitOperand describe_planes(GemmMethod method, std::int64_t m, const GemmPlanes& planes) {
  const GemmMethodInfo& info = gemm_method_info(method);
  SplitOperand x;
  x.words_per_number = info.words;
  x.slices_per_chunk = info.word == "TF32" ? 2 : 1;
  x.row_blocks = static_cast<int>((m + kBlock - 1) / kBlock);
  x.slices = static_cast<int>((planes.cols + kBlock - 1) / kBlock) * x.slices_per_chunk;
  x.words = static_cast<std::uint8_t*>(planes.data);
  if (x.words) x.exponents = x.words_at(x.row_blocks, 0);
  return x;
}

std::size_t planes_bytes(const SplitOperand& x) {
  const std::size_t each = static_cast<std::size_t>(x.words_per_number) * kBlockBytes + kBlock;
  return static_cast<std::size_t>(x.row_blocks) * static_cast<std::size_t>(x.slices) * each;
}

SplitOperand advanced(SplitOperand x, std::int64_t rows) {
  const std::int64_t blocks = rows / kBlock;
  x.words = x.words_at(blocks, 0);
  x.exponents = x.exponents_at(blocks, 0);
  x.row_blocks -= static_cast<int>(blocks);
  return x;
}

}  // namespace cuda

namespace {

constexpr std::int64_t kMostRows = std::int64_t{cuda::kBlock} << 30;
constexpr std::int64_t kMostColumns = std::int64_t{1} << 30;

}  // namespace

GemmSupport GemmContext::Impl::planes_support(GemmMethod method) const {
  if (method == GemmMethod::fp32) return {false, "fp32 splits nothing"};
  if (family != cuda::KernelFamily::sm90) return {false, "only kernels for Hopper take them"};
  if (!cuda::has_planes(method)) {
    return {false, std::string(gemm_method_info(method).name) + " has no kernels for them"};
  }
  return {true, ""};
}

GemmSupport GemmContext::supports_planes(GemmMethod method) const {
  return impl_->planes_support(method);
}

void GemmContext::Impl::check_planes(GemmMethod method, std::int64_t m, const GemmPlanes& planes,
                                     std::int64_t cols, const char* what) const {
  if (!planes.data) return;
  const GemmSupport support = planes_support(method);
  check(support.supported, ErrorCode::not_supported,
        "no planes of {} here ({}), give it as FP32 numbers", what, support.reason);
  check(planes.cols == cols, ErrorCode::usage,
        "{} has {} columns (the planes have {}), give planes of the right matrix", what, cols,
        planes.cols);
  check(reinterpret_cast<std::uintptr_t>(planes.data) % 256 == 0, ErrorCode::usage,
        "planes of {} must start at a multiple of 256 bytes (copies need it), align them", what);
  check(m < kMostRows, ErrorCode::usage,
        "planes of {} with {} rows are too many (31 bits count blocks of 64), split the matrix",
        what, m);
}

std::size_t GemmContext::planes_bytes(GemmMethod method, std::int64_t m, std::int64_t cols) const {
  const GemmSupport support = supports_planes(method);
  check(support.supported, ErrorCode::not_supported, "no planes here ({}), give x as FP32",
        support.reason);
  check(m >= 0 && m < kMostRows && cols > 0 && cols < kMostColumns, ErrorCode::usage,
        "planes need rows and columns (got {} x {}), give the size of the matrix", m, cols);
  return cuda::planes_bytes(cuda::describe_planes(method, m, {nullptr, cols}));
}

void GemmContext::split(GemmMethod method, std::int64_t m, const float* x, std::int64_t ldx,
                        const GemmPlanes& planes, bool gated) {
  static_cast<void>(planes_bytes(method, m, planes.cols));  // or what is wrong with the size
  impl_->check_planes(method, m, planes, planes.cols, "x");
  check(m == 0 || (x && planes.data), ErrorCode::usage,
        "a split needs x and planes, one of them is null");
  cuda::need_rows(x, ldx, planes.cols, "x");
  check(!gated || planes.cols % 2 == 0, ErrorCode::usage,
        "gated columns are values and gates (an even number), got {}", planes.cols);
  if (m == 0) return;
  const cuda::CurrentDevice current(impl_->device);
  const std::int64_t part = gated ? planes.cols / 2 : 4;  // where the second part begins
  const bool wide = reinterpret_cast<std::uintptr_t>(x) % 16 == 0 && ldx % 4 == 0 && part % 4 == 0;
  cuda::split_rows(method, {x, ldx, m, static_cast<int>(planes.cols), gated, wide},
                   cuda::describe_planes(method, m, planes), impl_->multiprocessors, impl_->stream);
}

}  // namespace trine
