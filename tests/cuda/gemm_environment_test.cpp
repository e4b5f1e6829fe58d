// Method fp32 is FP32 whatever the environment asks cuBLAS for, or says clearly that it is not.
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {
namespace {

enum Outcome { kExact = 0, kRefused = 10, kInexact = 11, kUnclear = 12 };

/// Ends the process, since cuBLAS reads its environment once.
[[noreturn]] void probe_with(const std::vector<std::pair<const char*, const char*>>& environment) {
  for (const auto& [name, value] : environment) setenv(name, value, 1);
  try {
    constexpr std::int64_t kSize = 512;
    HostMatrix identity(kSize, kSize), x(kSize, kSize);
    for (std::int64_t i = 0; i < kSize; ++i) {
      identity(i, i) = 1;
      for (std::int64_t c = 0; c < kSize; ++c)
        x(i, c) = 1.0f + std::ldexp(1.0f, -(12 + int(c) % 12));
    }
    const GemmWeight weight = pack(context(), GemmMethod::fp32, identity);
    std::_Exit(equal_bits(forward(context(), weight, x), x) ? kExact : kInexact);
  } catch (const Error& error) {
    const bool clear = error.code() == ErrorCode::not_supported &&
                       std::string(error.what()).find("environment") != std::string::npos;
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(clear ? kRefused : kUnclear);
  }
}

bool exact_or_refused(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == kExact || WEXITSTATUS(status) == kRefused);
}

class GemmEnvironmentDeathTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, without our context
  }
};

TEST_F(GemmEnvironmentDeathTest, AsItIs) {
  EXPECT_EXIT(probe_with({}), ::testing::ExitedWithCode(kExact), "");
}
TEST_F(GemmEnvironmentDeathTest, Tf32Override) {
  EXPECT_EXIT(probe_with({{"NVIDIA_TF32_OVERRIDE", "1"}}), exact_or_refused, "");
}
TEST_F(GemmEnvironmentDeathTest, EmulatedSinglePrecision) {
  EXPECT_EXIT(probe_with({{"CUBLAS_EMULATE_SINGLE_PRECISION", "1"},
                          {"CUBLAS_EMULATION_STRATEGY", "eager"}}),
              exact_or_refused, "");
}

}  // namespace
}  // namespace trine::test
