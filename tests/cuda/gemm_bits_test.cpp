// The kernels give the bits of the emulation, whatever the shape and whatever the numbers.
#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

class GemmBits : public MethodTest {
 protected:
  void expect_forward(const GemmShape& s, GemmActivation activation = GemmActivation::none) {
    const HostMatrix w = mixed_weight(s.n, s.k, 7), x = rows(s.m, s.k);
    const HostMatrix wanted = emulated_forward(GetParam(), w, x, activation);
    const GemmWeight weight = pack(gemm(), method(), w, activation);
    const HostMatrix all = repeated(x, s.m);
    const HostMatrix z = activation == GemmActivation::none ? forward(gemm(), weight, all)
                                                            : before_activation(weight, all);
    check(rows_repeat(z, wanted), s, "forward");
  }

  void expect_backward(const GemmShape& s, GemmActivation activation = GemmActivation::none) {
    const HostMatrix w = mixed_weight(s.n, s.k, 8), dy = rows(s.m, s.n);
    const HostMatrix wanted = emulated_backward(GetParam(), w, dy, activation);
    const GemmWeight weight = pack(gemm(), method(), w, activation);
    const HostMatrix dx = backward(gemm(), weight, repeated(dy, s.m));
    check(rows_repeat(dx, wanted), s, "backward");
  }

  void TearDown() override {
    if (!IsSkipped()) record_worst(different_shapes_);
  }

 private:
  /// Many rows repeat a few, a prime number of them: they meet every place of a tile.
  static HostMatrix rows(std::int64_t m, std::int64_t cols) {
    return mixed_rows(m > 300 ? 101 : m, cols, 9);
  }

  HostMatrix before_activation(const GemmWeight& weight, const HostMatrix& x) {
    const DeviceMatrix in(x), pre(x.rows, weight.n()), y(x.rows, weight.n());
    const Workspace workspace(gemm(), weight, x.rows);
    gemm().forward(weight, {.m = x.rows,
                            .x = in.data(),
                            .ldx = in.stride(),
                            .pre = pre.data(),
                            .ld_pre = pre.stride(),
                            .y = y.data(),
                            .ldy = y.stride(),
                            .workspace = workspace.data()});
    return pre.download();
  }

  void check(const ::testing::AssertionResult& same, const GemmShape& s, const char* what) {
    EXPECT_TRUE(same) << what << " m=" << s.m << " n=" << s.n << " k=" << s.k;
    different_shapes_ += !same;
  }

  int different_shapes_ = 0;
};

constexpr GemmShape kSmall[] = {{1, 1, 1},      {1, 8, 8},      {9, 64, 64},    {63, 30, 64},
                                {64, 64, 96},   {65, 96, 30},   {127, 128, 64}, {129, 30, 128},
                                {20, 200, 200}, {64, 128, 256}, {10, 320, 40}};
constexpr GemmShape kMedium[] = {{129, 200, 200}, {300, 320, 256}, {129, 256, 320},
                                 {300, 129, 33},  {65, 64, 2048},  {33, 2048, 64},
                                 {300, 1, 256},   {257, 96, 1000}};
// Enough tiles to fill every multiprocessor of a large device: other kernels take these.
constexpr GemmShape kLarge[] = {{7400, 256, 256}, {17281, 128, 256}, {9001, 768, 256},
                                {9001, 256, 768}, {6000, 512, 512},  {20000, 256, 96},
                                {5003, 320, 640}, {30001, 64, 192},  {2049, 1024, 300},
                                {34001, 64, 230}, {34001, 512, 256}, {34001, 200, 512}};

TEST_P(GemmBits, SmallForward) {
  for (const GemmShape& s : kSmall) expect_forward(s);
}
TEST_P(GemmBits, SmallBackward) {
  for (const GemmShape& s : kSmall) expect_backward(s);
}
TEST_P(GemmBits, MediumForward) {
  for (const GemmShape& s : kMedium) expect_forward(s);
}
TEST_P(GemmBits, MediumBackward) {
  for (const GemmShape& s : kMedium) expect_backward(s);
}
TEST_P(GemmBits, LargeForward) {
  for (const GemmShape& s : kLarge) expect_forward(s);
}
TEST_P(GemmBits, LargeBackward) {
  for (const GemmShape& s : kLarge) expect_backward(s);
}

// The rows of such a weight are packed in another order.
constexpr GemmShape kGated[] = {{65, 64, 64}, {130, 128, 96}, {33, 20, 64}, {70, 200, 128}};
TEST_P(GemmBits, SmallGatedForward) {
  for (const GemmShape& s : kGated) expect_forward(s, GemmActivation::swiglu);
}
TEST_P(GemmBits, SmallGatedBackward) {
  for (const GemmShape& s : kGated) expect_backward(s, GemmActivation::swiglu);
}
TEST_P(GemmBits, LargeGated) {
  expect_forward({7400, 1024, 256}, GemmActivation::swiglu);
  expect_backward({7400, 1024, 256}, GemmActivation::swiglu);
  expect_backward({17000, 256, 512}, GemmActivation::swiglu);
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmBits,
                         ::testing::ValuesIn(with_portable_kernels(tensor_core_methods())),
                         variant_name);

}  // namespace
}  // namespace trine::test
