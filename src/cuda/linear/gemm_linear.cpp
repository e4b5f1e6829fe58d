// Linear layers by the products of trine_gemm.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "cuda/linear/backend.hpp"
#include "cuda/linear/rows.hpp"
#include "tensor/buffer.hpp"

namespace trine::cuda {
namespace {

constexpr MemSpace kDevice = MemSpace::device;

/// What needs rows of memory between two kernels goes panel by panel. Large enough that the ends of
/// the launches do not count.
constexpr std::int64_t kPanelBytes = std::int64_t{256} << 20;

GemmActivation in_gemm(LinearActivation activation) {
  switch (activation) {
    case LinearActivation::silu:
      return GemmActivation::silu;
    case LinearActivation::swiglu:
      return GemmActivation::swiglu;
    case LinearActivation::none:
      break;
  }
  return GemmActivation::none;
}

class GemmLinear final : public PackedLinear<float, kDevice> {
 public:
  GemmLinear(const LinearWeights<float>& w, GemmWeight packed)
      : PackedLinear<float, kDevice>(w), weight(std::move(packed)) {}

  const GemmWeight weight;
};

class GemmLinears final : public LinearBackend<float> {
 public:
  GemmLinears(int device, cudaStream_t stream, GemmMethod method)
      : context_(device, stream), stream_(stream), method_(method) {}

  std::unique_ptr<PackedLinear<float, kDevice>> pack(const LinearWeights<float>& w) override {
    return std::make_unique<GemmLinear>(
        w, context_.pack(method_, w.weight.data, w.weight.stride, w.weight.rows, w.weight.cols,
                         w.bias.empty() ? nullptr : w.bias.data, in_gemm(w.activation)));
  }

  void forward(const LinearArgs<float, kDevice>& a) override {
    if (a.x.rows == 0) return;
    const auto& w = static_cast<const GemmLinear&>(*a.weight);
    const auto [first, second] = a.residual;
    if (first.empty() || second.empty()) {
      return product(w, a, a.addend, first.empty() ? second : first, a.y);
    }
    // Without an activation the first residual is one more addend: the same order of sums. As for
    // the other one, each thread reads what it adds before it writes there, so y may be either.
    if (w.activation() == LinearActivation::none && a.addend.empty() && a.pre.empty()) {
      return product(w, a, first, second, a.y);
    }
    for_each_panel(a, a.x.rows, rows_in<float>(kPanelBytes, w.out()), [&](const auto& panel) {
      const auto activated = rows(panel.x.rows, w.out());
      product(w, panel, panel.addend, {}, activated);
      finish_rows<float>(
          {.z = activated, .addend = {}, .pre = {}, .residual = panel.residual, .y = panel.y},
          stream_);
    });
  }

  void backward(const LinearBackwardArgs<float, kDevice>& a) override {
    if (a.dx.rows == 0) return;
    const auto& w = static_cast<const GemmLinear&>(*a.weight);
    if (w.activation() == LinearActivation::none) return product_backward(w, a.dy, a);
    for_each_panel(a, a.dx.rows, rows_in<float>(kPanelBytes, w.pre()), [&](const auto& panel) {
      const auto dz = rows(panel.dy.rows, w.pre());
      activation_backward<float>(w.activation(), panel.dy, panel.pre, dz, stream_);
      product_backward(w, dz, panel);
    });
  }

 private:
  using Rows = DeviceRows<float>;
  using ConstRows = DeviceRows<const float>;

  void product(const GemmLinear& w, const LinearArgs<float, kDevice>& a, ConstRows addend,
               ConstRows residual, Rows y) {
    context_.forward(w.weight, {.m = a.x.rows,
                                .x = a.x.data,
                                .ldx = a.x.stride,
                                .addend = addend.data,
                                .ld_addend = addend.stride,
                                .pre = a.pre.data,
                                .ld_pre = a.pre.stride,
                                .residual = residual.data,
                                .ld_residual = residual.stride,
                                .y = y.data,
                                .ldy = y.stride,
                                .workspace = workspace(w, a.x, has_aligned_rows<float>(a.x))});
  }

  void product_backward(const GemmLinear& w, ConstRows dz,
                        const LinearBackwardArgs<float, kDevice>& a) {
    // The halves of dz are operands of their own.
    const bool halves = w.activation() == LinearActivation::swiglu;
    const bool aligned =
        has_aligned_rows<float>(dz) && (!halves || w.out() == aligned_columns<float>(w.out()));
    context_.backward(w.weight, {.m = a.dx.rows,
                                 .dy = dz.data,
                                 .ldy = dz.stride,
                                 .add = a.write == Write::add,
                                 .dx = a.dx.data,
                                 .ldx = a.dx.stride,
                                 .workspace = workspace(w, dz, aligned)});
  }

  // Both buffers grow with the largest call so far. Kernels of earlier calls may be using what is
  // replaced; freeing it waits for the device.

  Rows rows(std::int64_t count, std::int64_t columns) {
    const std::int64_t stride = aligned_columns<float>(columns);
    rows_.resize(count * stride);
    return {rows_.data(), count, columns, stride};
  }
  void* workspace(const GemmLinear& w, ConstRows x, bool aligned) {
    if (aligned) return nullptr;
    workspace_.resize(static_cast<std::int64_t>(context_.workspace_bytes(w.weight, x.rows)));
    return workspace_.data();
  }

  GemmContext context_;
  cudaStream_t stream_;
  GemmMethod method_;
  Buffer<float, kDevice> rows_;           ///< dz, or y before its residuals
  Buffer<std::byte, kDevice> workspace_;  ///< of products
};

}  // namespace

std::unique_ptr<LinearBackend<float>> make_gemm_linears(int device, cudaStream_t stream,
                                                        GemmMethod method) {
  return std::make_unique<GemmLinears>(device, stream, method);
}

}  // namespace trine::cuda
