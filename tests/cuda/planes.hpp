// Matrices in planes on the device, and products from them.
#pragma once

#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {

/// A matrix in planes, full of 0xff until something fills it, with a margin behind.
class Planes {
 public:
  Planes(const GemmContext& gemm, GemmMethod method, std::int64_t m, std::int64_t cols)
      : cols_(cols), memory_(gemm.planes_bytes(method, m, cols)) {}
  GemmPlanes get() const { return {memory_.data(), cols_}; }
  void expect_intact() const { memory_.expect_intact(); }

 private:
  std::int64_t cols_;
  Workspace memory_;
};

/// Skips methods that have no planes.
class PlanesTest : public MethodTest {
 protected:
  void SetUp() override {
    MethodTest::SetUp();
    if (IsSkipped()) return;
    const GemmSupport support = gemm().supports_planes(method());
    if (!support.supported) GTEST_SKIP() << support.reason;
  }

  Planes planes(std::int64_t m, std::int64_t cols) { return {gemm(), method(), m, cols}; }

  Planes split(const HostMatrix& x, bool gated = false, Layout layout = {}) {
    const DeviceMatrix in(x, layout);
    Planes out = planes(x.rows, x.cols);
    gemm().split(method(), x.rows, in.data(), in.stride(), out.get(), gated);
    cuda_check(cudaDeviceSynchronize(), "split");
    out.expect_intact();
    return out;
  }

  HostMatrix forward_from(const GemmWeight& weight, const Planes& x, std::int64_t m) {
    const DeviceMatrix y(m, weight.n());
    GemmForwardArgs args{.m = m, .y = y.data(), .ldy = y.stride()};
    args.x_planes = x.get();
    gemm().forward(weight, args);
    return y.download();
  }
  HostMatrix backward_from(const GemmWeight& weight, const Planes& dy, std::int64_t m) {
    const DeviceMatrix dx(m, weight.k());
    GemmBackwardArgs args{.m = m, .dx = dx.data(), .ldx = dx.stride()};
    args.dy_planes = dy.get();
    gemm().backward(weight, args);
    return dx.download();
  }

  /// Many rows repeat a few, a prime number of them: they meet every place of a tile.
  static HostMatrix rows(std::int64_t m, std::int64_t cols) {
    return repeated(mixed_rows(m > 300 ? 101 : m, cols, 9), m);
  }
};

}  // namespace trine::test
