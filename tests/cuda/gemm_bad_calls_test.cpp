// Calls that make no sense are refused before anything is written.
#include <functional>
#include <optional>
#include <string>

#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

constexpr std::int64_t kM = 5, kN = 64, kK = 32;

class GemmBadCalls : public MethodTest {
 protected:
  void SetUp() override {
    MethodTest::SetUp();
    if (IsSkipped()) return;
    memory_.emplace(HostMatrix(4 * kM, 2 * kN, 1.0f));
  }

  GemmForwardArgs good_forward() const {
    return {.m = kM, .x = at(0), .ldx = kK, .y = at(1), .ldy = kN};
  }
  GemmBackwardArgs good_backward() const {
    return {.m = kM, .dy = at(0), .ldy = kN, .dx = at(1), .ldx = kK};
  }
  /// One of four parts of the memory.
  float* at(int part) const { return memory_->data() + part * kM * memory_->stride(); }

  void expect_refused(const std::string& what, ErrorCode code, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << what << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << what << ": " << error.what();
    }
    const HostMatrix now = memory_->download();
    EXPECT_TRUE(equal_bits(now, HostMatrix(now.rows, now.cols, 1.0f))) << what;
  }

 private:
  std::optional<DeviceMatrix> memory_;
};

TEST_P(GemmBadCalls, SmallForward) {
  const GemmWeight plain = pack(gemm(), method(), HostMatrix(kN, kK, 1));
  const GemmWeight gated = pack(gemm(), method(), HostMatrix(kN, kK, 1), GemmActivation::swiglu);
  struct Case {
    const char* what;
    ErrorCode code;
    const GemmWeight& weight;
    std::function<void(GemmForwardArgs&)> spoil;
  };
  const Case cases[] = {
      {"a negative m", ErrorCode::usage, plain, [](auto& a) { a.m = -1; }},
      {"no x", ErrorCode::usage, plain, [](auto& a) { a.x = nullptr; }},
      {"no y", ErrorCode::usage, plain, [](auto& a) { a.y = nullptr; }},
      {"overlapping rows of x", ErrorCode::usage, plain, [](auto& a) { a.ldx = kK - 1; }},
      {"overlapping rows of y", ErrorCode::usage, plain, [](auto& a) { a.ldy = kN - 1; }},
      {"overlapping rows of pre", ErrorCode::usage, plain,
       [this](auto& a) { a.pre = at(2), a.ld_pre = kN - 1; }},
      {"overlapping rows of addend", ErrorCode::usage, plain,
       [this](auto& a) { a.addend = at(2), a.ld_addend = 0; }},
      {"overlapping rows of residual", ErrorCode::usage, plain,
       [this](auto& a) { a.residual = at(2), a.ld_residual = 1; }},
      {"statistics of swiglu", ErrorCode::not_supported, gated,
       [this](auto& a) { a.row_statistics = at(2); }},
  };
  for (const Case& c : cases) {
    GemmForwardArgs args = good_forward();
    c.spoil(args);
    expect_refused(c.what, c.code, [&] { gemm().forward(c.weight, args); });
  }
}

TEST_P(GemmBadCalls, SmallBackward) {
  const GemmWeight weight = pack(gemm(), method(), HostMatrix(kN, kK, 1));
  struct Case {
    const char* what;
    std::function<void(GemmBackwardArgs&)> spoil;
  };
  const Case cases[] = {
      {"a negative m", [](auto& a) { a.m = -1; }},
      {"no dy", [](auto& a) { a.dy = nullptr; }},
      {"no dx", [](auto& a) { a.dx = nullptr; }},
      {"overlapping rows of dy", [](auto& a) { a.ldy = kN - 1; }},
      {"overlapping rows of dx", [](auto& a) { a.ldx = kK - 1; }},
      {"no pre", [](auto& a) { a.activation = GemmActivation::silu; }},
      {"dx too narrow for swiglu",
       [this](auto& a) {
         a.activation = GemmActivation::swiglu, a.pre = at(2), a.ld_pre = 2 * kK;
       }},
      {"add with an activation",
       [this](auto& a) {
         a.activation = GemmActivation::silu, a.pre = at(2), a.ld_pre = kK, a.add = true;
       }},
  };
  for (const Case& c : cases) {
    GemmBackwardArgs args = good_backward();
    c.spoil(args);
    expect_refused(c.what, ErrorCode::usage, [&] { gemm().backward(weight, args); });
  }
}

TEST_P(GemmBadCalls, SmallMissingWorkspace) {
  if (method() == GemmMethod::fp32) GTEST_SKIP() << "cuBLAS takes rows that start anywhere";
  const GemmWeight weight = pack(gemm(), method(), HostMatrix(kN, kK, 1));
  GemmForwardArgs forward = good_forward();
  forward.x += 1;
  expect_refused("unaligned x", ErrorCode::usage, [&] { gemm().forward(weight, forward); });
  GemmBackwardArgs backward = good_backward();
  backward.ldy = kN + 1;
  expect_refused("odd rows of dy", ErrorCode::usage, [&] { gemm().backward(weight, backward); });
}

TEST_P(GemmBadCalls, SmallWeights) {
  const HostMatrix w(kN + 1, kK, 1);
  const auto pack_it = [&](const float* data, std::int64_t ldw, std::int64_t n, std::int64_t k,
                           GemmActivation activation = GemmActivation::none) {
    return [=, this] { gemm().pack(method(), data, ldw, n, k, nullptr, activation); };
  };
  const float* data = w.values.data();
  expect_refused("no weight", ErrorCode::usage, pack_it(nullptr, kK, kN, kK));
  expect_refused("overlapping rows", ErrorCode::usage, pack_it(data, kK - 1, kN, kK));
  expect_refused("an odd number of rows of swiglu", ErrorCode::usage,
                 pack_it(data, kK, kN + 1, kK, GemmActivation::swiglu));
  expect_refused("negative sides", ErrorCode::not_supported, pack_it(data, kK, -1, kK));
}

INSTANTIATE_TEST_SUITE_P(Methods, GemmBadCalls, ::testing::ValuesIn(all_methods()), variant_name);

}  // namespace
}  // namespace trine::test
