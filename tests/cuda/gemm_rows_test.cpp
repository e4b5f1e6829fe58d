// A row of the result depends on that row of x and on w alone: not on how many rows there are,
// where they lie, what is in them, who else computes, or when. Nothing but bits is compared.
#include <cmath>
#include <optional>

#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

constexpr std::int64_t kN = 192, kK = 256;

class GemmRows : public MethodTest {
 protected:
  void SetUp() override {
    MethodTest::SetUp();
    if (IsSkipped()) return;
    w_ = mixed_weight(kN, kK, 1);
    weight_.emplace(pack(gemm(), method(), w_));
  }

  HostMatrix y(const HostMatrix& x, Layout layout = {}) {
    return forward(gemm(), *weight_, x, layout);
  }
  HostMatrix dx(const HostMatrix& dy, Layout layout = {}) {
    return backward(gemm(), *weight_, dy, layout);
  }
  const GemmWeight& weight() const { return *weight_; }
  const HostMatrix& w() const { return w_; }

 private:
  HostMatrix w_;
  std::optional<GemmWeight> weight_;
};

class TensorCoreRows : public GemmRows {};

TEST_P(TensorCoreRows, SmallBatchesEqualLargeOnes) {
  const HostMatrix x = mixed_rows(4096, kK, 2), dy = mixed_rows(4096, kN, 3);
  const HostMatrix all_y = y(x), all_dx = dx(dy);
  for (const std::int64_t count : {1, 17, 64, 200, 1100}) {
    for (const std::int64_t first : {0, 63, 1000, 2990}) {
      EXPECT_TRUE(equal_bits(y(x.slice_rows(first, count)), all_y.slice_rows(first, count)))
          << count << " rows from " << first;
      EXPECT_TRUE(equal_bits(dx(dy.slice_rows(first, count)), all_dx.slice_rows(first, count)))
          << "backward, " << count << " rows from " << first;
    }
  }
}

TEST_P(TensorCoreRows, EqualRowsGiveEqualResults) {
  const HostMatrix x = normal_matrix(1, kK, 4), dy = normal_matrix(1, kN, 5);
  for (const std::int64_t m : {130, 5000}) {
    EXPECT_TRUE(rows_repeat(y(repeated(x, m)), y(x)));
    EXPECT_TRUE(rows_repeat(dx(repeated(dy, m)), dx(dy)));
  }
}

TEST_P(TensorCoreRows, SmallNeighboursDoNotMatter) {
  const HostMatrix x = normal_matrix(100, kK, 6);
  HostMatrix others = x;
  for (std::int64_t r = 0; r < x.rows; ++r) {
    if (r % 7 == 3) continue;
    for (std::int64_t c = 0; c < kK; ++c) others(r, c) = r % 2 == 0 ? 0x1p100f : 0.0f;
  }
  const HostMatrix plain = y(x), changed = y(others);
  for (std::int64_t r = 3; r < x.rows; r += 7) {
    EXPECT_TRUE(equal_bits(changed.slice_rows(r, 1), plain.slice_rows(r, 1))) << "row " << r;
  }
}

// y = x w^T forward with w is dx = dy v backward with v = w^T.
TEST_P(TensorCoreRows, ForwardIsBackwardOfTheTransposedWeight) {
  const GemmWeight transposed = pack(gemm(), method(), w().transposed());
  for (const std::int64_t m : {65, 3000}) {
    const HostMatrix x = repeated(mixed_rows(150, kK, 7), m);
    EXPECT_TRUE(equal_bits(backward(gemm(), transposed, x), y(x)));
  }
}

TEST_P(TensorCoreRows, SmallLayoutsDoNotMatter) {
  const HostMatrix x = mixed_rows(70, kK, 8), dy = mixed_rows(70, kN, 9);
  const HostMatrix plain_y = y(x), plain_dx = dx(dy);
  for (const Layout layout :
       {Layout{4, 0}, Layout{64, 4}, Layout{1, 0}, Layout{3, 1}, Layout{0, 1}}) {
    EXPECT_TRUE(equal_bits(y(x, layout), plain_y)) << layout.gap << " " << layout.offset;
    EXPECT_TRUE(equal_bits(dx(dy, layout), plain_dx)) << layout.gap << " " << layout.offset;
  }
}

TEST_P(GemmRows, RepeatsAreEqual) {
  for (const std::int64_t m : {192, 5000}) {
    const HostMatrix x = normal_matrix(m, kK, 10), dy = normal_matrix(m, kN, 11);
    const HostMatrix first_y = y(x), first_dx = dx(dy);
    for (int repeat = 0; repeat < 4; ++repeat) {
      EXPECT_TRUE(equal_bits(y(x), first_y));
      EXPECT_TRUE(equal_bits(dx(dy), first_dx));
    }
  }
}

TEST_P(GemmRows, StreamsDoNotDisturbEachOther) {
  constexpr std::int64_t kM = 5000;
  const HostMatrix x = normal_matrix(kM, kK, 12);
  const HostMatrix wanted = y(x);
  const DeviceMatrix in(x);
  const Stream streams[2];
  const GemmKernels kernels = GetParam().kernels;
  GemmContext contexts[] = {GemmContext(0, streams[0].get(), kernels),
                            GemmContext(0, streams[1].get(), kernels)};
  const GemmWeight weights[] = {pack(contexts[0], method(), w()), pack(contexts[1], method(), w())};
  const Workspace workspaces[] = {Workspace(contexts[0], weights[0], kM),
                                  Workspace(contexts[1], weights[1], kM)};
  std::vector<DeviceMatrix> results;
  results.reserve(8);
  for (int i = 0; i < 8; ++i) results.emplace_back(kM, kN);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const DeviceMatrix& out = results[i];
    contexts[i % 2].forward(weights[i % 2], {.m = kM,
                                             .x = in.data(),
                                             .ldx = in.stride(),
                                             .y = out.data(),
                                             .ldy = out.stride(),
                                             .workspace = workspaces[i % 2].data()});
  }
  for (const DeviceMatrix& out : results) EXPECT_TRUE(equal_bits(out.download(), wanted));
}

// Infinities, quiet NaN, and a signalling NaN whose payload would be lost with its low bits.
TEST_P(TensorCoreRows, SmallBadRowsAreNanAndNamed) {
  const float bad[] = {INFINITY, -INFINITY, NAN, std::bit_cast<float>(0x7f800001u)};
  const HostMatrix x = normal_matrix(150, kK, 13), dy = normal_matrix(150, kN, 14);
  const HostMatrix good_y = y(x), good_dx = dx(dy);
  EXPECT_EQ(gemm().first_bad_row(), -1);
  for (const float value : bad) {
    HostMatrix bad_x = x, bad_dy = dy, wanted_y = good_y, wanted_dx = good_dx;
    for (const std::int64_t r : {70, 71, 149}) {
      bad_x(r, (r * 37) % kK) = value;
      bad_dy(r, (r * 37) % kN) = value;
      std::fill_n(wanted_y.row(r), kN, NAN);
      std::fill_n(wanted_dx.row(r), kK, NAN);
    }
    EXPECT_TRUE(equal_bits(y(bad_x), wanted_y)) << value;
    EXPECT_EQ(gemm().first_bad_row(), 70) << value;
    EXPECT_EQ(gemm().first_bad_row(), -1) << "was not forgotten";
    EXPECT_TRUE(equal_bits(dx(bad_dy), wanted_dx)) << value;
    EXPECT_EQ(gemm().first_bad_row(), 70) << value;
  }
  EXPECT_TRUE(equal_bits(y(x), good_y));
  EXPECT_EQ(gemm().first_bad_row(), -1);
}

// cuBLAS carries infinities through: the result is not finite, but need not be NaN.
TEST_P(GemmRows, SmallBadRowsStayAlone) {
  HostMatrix x = normal_matrix(150, kK, 15);
  const HostMatrix good = y(x);
  std::fill_n(x.row(70), kK, INFINITY);
  const HostMatrix bad = y(x);
  EXPECT_TRUE(equal_bits(bad.slice_rows(0, 70), good.slice_rows(0, 70)));
  EXPECT_TRUE(equal_bits(bad.slice_rows(71, 79), good.slice_rows(71, 79)));
  for (std::int64_t c = 0; c < kN; ++c) EXPECT_FALSE(std::isfinite(bad(70, c))) << c;
  gemm().first_bad_row();
}

TEST_P(GemmRows, SmallBadWeightsAreRefused) {
  for (const float value : {INFINITY, -INFINITY, NAN}) {
    HostMatrix bad = w();
    bad(130, 200) = value;
    try {
      pack(gemm(), method(), bad);
      ADD_FAILURE() << value << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
    }
  }
}

TEST_P(GemmRows, SmallNoRowsAreNoWork) {
  gemm().forward(weight(), {.m = 0, .ldx = kK, .ldy = kN});
  gemm().backward(weight(), {.m = 0, .ldy = kN, .ldx = kK});
  EXPECT_EQ(gemm().first_bad_row(), -1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmRows,
                         ::testing::ValuesIn(with_portable_kernels(all_methods())), variant_name);
INSTANTIATE_TEST_SUITE_P(Methods, TensorCoreRows,
                         ::testing::ValuesIn(with_portable_kernels(tensor_core_methods())),
                         variant_name);

}  // namespace
}  // namespace trine::test
