// Linear layers by products of cuBLAS, with kernels of our own around them.
#include <array>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/check.hpp"
#include "cuda/gemm/blas_library.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/linear/backend.hpp"
#include "cuda/linear/row_product.hpp"
#include "cuda/linear/rows.hpp"
#include "tensor/transfer.hpp"

namespace trine::cuda {
namespace {

/// Calls go panel by panel: what is between a product and its epilogue stays in the level 2 cache,
/// and the memory for it does not grow with the number of rows. Bits do not depend on the panels.
constexpr std::int64_t kPanelBytes = std::int64_t{32} << 20;
/// cuBLAS kernels may count the elements of a panel in 32 bits, gaps between rows included.
constexpr std::int64_t kMaxPanelRows = std::int64_t{1} << 16;

template <class Real>
std::vector<Real> padded(Matrix<const Real> w) {
  const std::int64_t stride = aligned_columns<Real>(w.cols);
  std::vector<Real> rows(static_cast<std::size_t>(w.rows * stride));
  for (std::int64_t r = 0; r < w.rows; ++r) {
    std::copy_n(w.row(r), w.cols, rows.begin() + r * stride);
  }
  return rows;
}

template <class Real>
class PlainLinear final : public PackedLinear<Real, MemSpace::device> {
 public:
  PlainLinear(cublasLtHandle_t handle, const LinearWeights<Real>& w)
      : PackedLinear<Real, MemSpace::device>(w),
        weight_(uploaded(padded(w.weight))),
        bias_(uploaded(std::vector<Real>(w.bias.begin(), w.bias.end()))),
        forward_(handle, RowProduct<Real>::Direction::forward, weight(), panel_rows()),
        backward_(handle, RowProduct<Real>::Direction::backward, weight(), panel_rows()) {}

  const RowProduct<Real>& forward() const { return forward_; }
  const RowProduct<Real>& backward() const { return backward_; }
  const Real* bias() const { return bias_.size() > 0 ? bias_.data() : nullptr; }

  /// Columns of a panel's operand or result, whichever is wider.
  std::int64_t panel_columns() const {
    return aligned_columns<Real>(std::max(this->in(), this->pre()));
  }
  std::int64_t panel_rows() const {
    return std::min(kMaxPanelRows, rows_in<Real>(kPanelBytes, panel_columns()));
  }

 private:
  using Memory = Buffer<Real, MemSpace::device>;

  static Memory uploaded(const std::vector<Real>& from) {
    Memory to;
    upload(from, to);
    return to;
  }
  DeviceRows<const Real> weight() const {
    return {weight_.data(), this->pre(), this->in(), aligned_columns<Real>(this->in())};
  }

  Memory weight_, bias_;
  RowProduct<Real> forward_, backward_;
};

class LtHandle {
 public:
  LtHandle() { check_cublas(blas().cublasLtCreate(&handle_), "start"); }
  ~LtHandle() { blas().cublasLtDestroy(handle_); }
  LtHandle(const LtHandle&) = delete;
  LtHandle& operator=(const LtHandle&) = delete;
  operator cublasLtHandle_t() const { return handle_; }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

template <class Real>
class PlainLinears final : public LinearBackend<Real> {
 public:
  explicit PlainLinears(cudaStream_t stream)
      : stream_(stream),
        operand_(kPanelBytes / static_cast<std::int64_t>(sizeof(Real))),
        result_(operand_.size()) {
    probe();
  }

  std::unique_ptr<PackedLinear<Real, MemSpace::device>> pack(
      const LinearWeights<Real>& weights) override {
    return std::make_unique<PlainLinear<Real>>(handle_, weights);
  }

  void forward(const LinearArgs<Real, MemSpace::device>& args) override {
    const auto& w = static_cast<const PlainLinear<Real>&>(*args.weight);
    for_each_panel(args, args.x.rows, w.panel_rows(),
                   [&](const auto& panel) { forward_panel(w, panel); });
  }

  void backward(const LinearBackwardArgs<Real, MemSpace::device>& args) override {
    const auto& w = static_cast<const PlainLinear<Real>&>(*args.weight);
    for_each_panel(args, args.dx.rows, w.panel_rows(),
                   [&](const auto& panel) { backward_panel(w, panel); });
  }

 private:
  static DeviceRows<Real> panel_in(const Buffer<Real, MemSpace::device>& memory, std::int64_t rows,
                                   std::int64_t columns) {
    return {memory.data(), rows, columns, aligned_columns<Real>(columns)};
  }

  /// x itself, or a copy in `operand_` whose rows start at multiples of 16 bytes.
  DeviceRows<const Real> aligned(DeviceRows<const Real> x) {
    if (has_aligned_rows<Real>(x)) return x;
    const auto copy = panel_in(operand_, x.rows, x.cols);
    finish_rows<Real>({.z = x, .addend = {}, .pre = {}, .residual = {}, .y = copy}, stream_);
    return copy;
  }

  void forward_panel(const PlainLinear<Real>& w, const LinearArgs<Real, MemSpace::device>& a) {
    const bool bare = w.activation() == LinearActivation::none && !w.bias() && a.addend.empty() &&
                      a.pre.empty() && a.residual[0].empty() && a.residual[1].empty();
    const auto x = aligned(a.x);
    if (bare && has_aligned_rows<Real>(a.y)) {
      return w.forward().multiply(handle_, stream_, x, false, a.y);
    }
    const auto z = panel_in(result_, a.x.rows, w.pre());
    w.forward().multiply(handle_, stream_, x, false, z);
    finish_rows<Real>({.activation = w.activation(),
                       .z = z,
                       .bias = w.bias(),
                       .addend = a.addend,
                       .pre = a.pre,
                       .residual = a.residual,
                       .y = a.y},
                      stream_);
  }

  void backward_panel(const PlainLinear<Real>& w,
                      const LinearBackwardArgs<Real, MemSpace::device>& a) {
    DeviceRows<const Real> dz;
    if (a.pre.empty()) {
      dz = aligned(a.dy);
    } else {
      const auto through = panel_in(operand_, a.dy.rows, w.pre());
      activation_backward<Real>(w.activation(), a.dy, a.pre, through, stream_);
      dz = through;
    }
    if (a.through.activation != LinearActivation::none) {
      const auto product = panel_in(result_, a.dx.rows, w.in());
      w.backward().multiply(handle_, stream_, dz, false, product);
      return activation_backward<Real>(a.through.activation, product, a.through.pre, a.dx, stream_);
    }
    const bool add = a.write == Write::add;
    if (has_aligned_rows<Real>(a.dx)) {
      return w.backward().multiply(handle_, stream_, dz, add, a.dx);
    }
    const auto product = panel_in(result_, a.dx.rows, w.in());
    w.backward().multiply(handle_, stream_, dz, false, product);
    const auto before = add ? a.dx : DeviceRows<Real>{};
    finish_rows<Real>({.z = product, .addend = {}, .pre = {}, .residual = {before}, .y = a.dx},
                      stream_);
  }

  /// Error unless products keep every bit of their operands: TF32, and emulations by shorter words,
  /// lose the last one of 1 + 2^-p.
  void probe() {
    constexpr std::int64_t kSize = 64;
    const Real value = 1 + std::ldexp(Real(1), sizeof(Real) == 4 ? -12 : -27);
    std::vector<Real> diagonal(kSize * kSize);
    for (std::size_t i = 0; i < kSize; ++i) diagonal[i * kSize + i] = value;
    const auto packed = pack({{diagonal.data(), kSize, kSize}, {}, LinearActivation::none});
    Buffer<Real, MemSpace::device> x, y(kSize * kSize);
    upload(diagonal, x);
    forward({.x = {x.data(), kSize, kSize},
             .weight = packed.get(),
             .addend = {},
             .pre = {},
             .residual = {},
             .y = {y.data(), kSize, kSize}});
    check(download(y.const_view()).back() == value * value, ErrorCode::not_supported,
          "cuBLAS does not keep all bits of its operands here (the environment may ask for TF32 or "
          "an emulation), clear NVIDIA_TF32_OVERRIDE and CUBLAS_EMULATE_*");
  }

  LtHandle handle_;
  cudaStream_t stream_;
  /// A panel of x or dz, and one of a product. Never moved: recorded graphs hold their addresses.
  const Buffer<Real, MemSpace::device> operand_, result_;
};

}  // namespace

template <class Real>
std::unique_ptr<LinearBackend<Real>> make_plain_linears(cudaStream_t stream) {
  return std::make_unique<PlainLinears<Real>>(stream);
}

template std::unique_ptr<LinearBackend<float>> make_plain_linears(cudaStream_t);
template std::unique_ptr<LinearBackend<double>> make_plain_linears(cudaStream_t);

}  // namespace trine::cuda
