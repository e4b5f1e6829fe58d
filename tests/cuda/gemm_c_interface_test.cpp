// Products through the C interface are those of C++.
#include "cuda/inputs.hpp"
#include "cuda/products.hpp"
#include "trine/c/gemm.h"

namespace trine::test {
namespace {

constexpr std::int64_t kM = 70, kN = 128, kK = 96;

void ok(int status) {
  ASSERT_EQ(status, TRINE_OK) << trine_gemm_last_error();
}

class GemmCInterface : public MethodTest {
 protected:
  void SetUp() override {
    MethodTest::SetUp();
    if (IsSkipped()) return;
    ok(trine_gemm_context_create(0, nullptr, &context_));
    trine_gemm_pack_args args{};
    args.struct_size = sizeof args;
    args.method = static_cast<int>(method());
    args.w = w_.values.data();
    args.ldw = args.k = kK;
    args.n = kN;
    ok(trine_gemm_pack(context_, &args, &weight_));
  }
  void TearDown() override {
    trine_gemm_weight_destroy(weight_);
    trine_gemm_context_destroy(context_);
  }

  std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    ok(trine_gemm_workspace_bytes(context_, weight_, kM, &bytes));
    return bytes;
  }

  HostMatrix w_ = normal_matrix(kN, kK, 1);
  trine_gemm_context* context_ = nullptr;
  trine_gemm_weight* weight_ = nullptr;
};

TEST_P(GemmCInterface, SmallForward) {
  const HostMatrix x = normal_matrix(kM, kK, 2), residual = normal_matrix(kM, kN, 3);
  const DeviceMatrix in(x), y(residual);
  const Workspace workspace(workspace_bytes());
  trine_gemm_forward_args args{};
  args.struct_size = sizeof args;
  args.m = kM;
  args.x = in.data();
  args.ldx = kK;
  args.residual = args.y = y.data();
  args.ld_residual = args.ldy = kN;
  args.workspace = workspace.data();
  ok(trine_gemm_forward(context_, weight_, &args));

  HostMatrix wanted = forward(gemm(), pack(gemm(), method(), w_), x);
  for (std::size_t i = 0; i < wanted.values.size(); ++i) wanted.values[i] += residual.values[i];
  EXPECT_TRUE(method() == GemmMethod::fp32 || equal_bits(y.download(), wanted));
  std::int64_t row = 0;
  ok(trine_gemm_first_bad_row(context_, &row));
  EXPECT_EQ(row, -1);
}

TEST_P(GemmCInterface, SmallBackward) {
  const HostMatrix dy = normal_matrix(kM, kN, 4), before = normal_matrix(kM, kK, 5);
  const DeviceMatrix in(dy), dx(before);
  const Workspace workspace(workspace_bytes());
  trine_gemm_backward_args args{};
  args.struct_size = sizeof args;
  args.m = kM;
  args.dy = in.data();
  args.ldy = kN;
  args.add = 1;
  args.dx = dx.data();
  args.ldx = kK;
  args.workspace = workspace.data();
  ok(trine_gemm_backward(context_, weight_, &args));

  HostMatrix wanted = backward(gemm(), pack(gemm(), method(), w_), dy);
  for (std::size_t i = 0; i < wanted.values.size(); ++i) wanted.values[i] += before.values[i];
  EXPECT_TRUE(method() == GemmMethod::fp32 || equal_bits(dx.download(), wanted));
}

TEST_P(GemmCInterface, SmallBadNumbersAreReported) {
  HostMatrix bad = w_;
  bad(3, 4) = std::numeric_limits<float>::quiet_NaN();
  trine_gemm_pack_args args{};
  args.struct_size = sizeof args;
  args.method = static_cast<int>(method());
  args.w = bad.values.data();
  args.ldw = args.k = kK;
  args.n = kN;
  trine_gemm_weight* refused = weight_;
  EXPECT_EQ(trine_gemm_pack(context_, &args, &refused), TRINE_ERROR_BAD_INPUT);
  EXPECT_EQ(refused, nullptr);
  EXPECT_STRNE(trine_gemm_last_error(), "");
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmCInterface, ::testing::ValuesIn(all_methods()), variant_name);

}  // namespace
}  // namespace trine::test
