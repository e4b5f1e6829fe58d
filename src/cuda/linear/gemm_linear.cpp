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

/// What needs rows of memory between two kernels goes panel by panel: the memory does not grow with
/// the number of rows. Large enough that the ends of the launches hardly count.
constexpr std::int64_t kPanelBytes = std::int64_t{128} << 20;
/// The same for operands whose rows start anywhere, of which products make a copy.
constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;

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
  GemmLinears(int device, cudaStream_t stream)
      : context_(device, stream),
        stream_(stream),
        rows_(kPanelBytes / static_cast<std::int64_t>(sizeof(float))),
        workspace_(kWorkspaceBytes) {}

  std::unique_ptr<PackedLinear<float, kDevice>> pack(const LinearWeights<float>& w) override {
    return std::make_unique<GemmLinear>(
        w, context_.pack(w.method, w.weight.data, w.weight.stride, w.weight.rows, w.weight.cols,
                         w.bias.empty() ? nullptr : w.bias.data, in_gemm(w.activation)));
  }

  void forward(const LinearArgs<float, kDevice>& args) override {
    const auto& w = static_cast<const GemmLinear&>(*args.weight);
    auto a = args;
    auto& [first, second] = a.residual;
    if (first.empty()) std::swap(first, second);
    if (second.empty()) return product(w, a);
    // Without an activation the first residual is one more addend: the same order of sums. As for
    // the other one, each thread reads what it adds before it writes there, so y may be either.
    if (w.activation() == LinearActivation::none && a.addend.empty() && a.pre.empty()) {
      a.addend = std::exchange(first, second);
      return product(w, a);
    }
    for_each_panel(args, args.x.rows, rows_in<float>(kPanelBytes, w.out()), [&](auto panel) {
      const FinishArgs<float> sum{.z = rows(panel.x.rows, w.out()),
                                  .addend = {},
                                  .pre = {},
                                  .residual = panel.residual,
                                  .y = panel.y};
      panel.residual = {};
      panel.y = rows(panel.x.rows, w.out());
      product(w, panel);
      finish_rows(sum, stream_);
    });
  }

  void backward(const LinearBackwardArgs<float, kDevice>& a) override {
    const auto& w = static_cast<const GemmLinear&>(*a.weight);
    if (a.pre.empty()) return product_backward(w, a);
    for_each_panel(a, a.dx.rows, rows_in<float>(kPanelBytes, w.pre()), [&](auto panel) {
      const auto dz = rows(panel.dy.rows, w.pre());
      activation_backward<float>(w.activation(), panel.dy, panel.pre, dz, stream_);
      panel.dy = dz;
      product_backward(w, panel);
    });
  }

 private:
  /// Of the panel that is at work.
  DeviceRows<float> rows(std::int64_t count, std::int64_t columns) const {
    return {rows_.data(), count, columns, aligned_columns<float>(columns)};
  }

  /// Rows of which a copy fits into the workspace. Of many rows at a time, because fewer may need
  /// more: they are split beforehand.
  std::int64_t workspace_rows(const GemmLinear& w) const {
    constexpr std::int64_t kMany = 4096;
    const auto bytes = static_cast<std::int64_t>(context_.workspace_bytes(w.weight, kMany));
    return rows_in<std::byte>(kWorkspaceBytes, bytes / kMany);
  }

  /// The workspace, if it is enough for `rows` rows.
  void* workspace(const GemmLinear& w, std::int64_t rows) const {
    const bool fits = context_.workspace_bytes(w.weight, rows) <= std::size_t{kWorkspaceBytes};
    return fits ? workspace_.data() : nullptr;
  }

  /// With residual[0] alone.
  void product(const GemmLinear& w, const LinearArgs<float, kDevice>& args) {
    const std::int64_t panel = has_aligned_rows<float>(args.x) ? args.x.rows : workspace_rows(w);
    for_each_panel(args, args.x.rows, panel, [&](const auto& a) {
      context_.forward(w.weight, {.m = a.x.rows,
                                  .x = a.x.data,
                                  .ldx = a.x.stride,
                                  .addend = a.addend.data,
                                  .ld_addend = a.addend.stride,
                                  .pre = a.pre.data,
                                  .ld_pre = a.pre.stride,
                                  .residual = a.residual[0].data,
                                  .ld_residual = a.residual[0].stride,
                                  .y = a.y.data,
                                  .ldy = a.y.stride,
                                  .workspace = workspace(w, a.x.rows)});
    });
  }

  /// dy: the gradient of z.
  void product_backward(const GemmLinear& w, const LinearBackwardArgs<float, kDevice>& args) {
    // The halves of swiglu are operands of their own.
    const bool halves_aligned =
        w.activation() != LinearActivation::swiglu || w.out() == aligned_columns<float>(w.out());
    const bool aligned = has_aligned_rows<float>(args.dy) && halves_aligned;
    const std::int64_t panel = aligned ? args.dy.rows : workspace_rows(w);
    for_each_panel(args, args.dy.rows, panel, [&](const auto& a) {
      context_.backward(w.weight, {.m = a.dy.rows,
                                   .dy = a.dy.data,
                                   .ldy = a.dy.stride,
                                   .activation = in_gemm(a.through.activation),
                                   .pre = a.through.pre.data,
                                   .ld_pre = a.through.pre.stride,
                                   .add = a.write == Write::add,
                                   .dx = a.dx.data,
                                   .ldx = a.dx.stride,
                                   .workspace = workspace(w, a.dy.rows)});
    });
  }

  GemmContext context_;
  cudaStream_t stream_;
  // Never moved: recorded graphs hold their addresses.
  const Buffer<float, kDevice> rows_;           ///< dz, or y before its residuals
  const Buffer<std::byte, kDevice> workspace_;  ///< of products
};

}  // namespace

std::unique_ptr<LinearBackend<float>> make_gemm_linears(int device, cudaStream_t stream) {
  return std::make_unique<GemmLinears>(device, stream);
}

}  // namespace trine::cuda
