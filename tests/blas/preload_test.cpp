// The library as users have it: put before others in a program that knows nothing of it. Needs no
// GPU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "trine/gemm.hpp"

namespace trine::blas::test {
namespace {

class BlasPreload : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(log_); }
  void TearDown() override { std::filesystem::remove(log_); }

  /// What the program prints; `variables` before it, as in a shell.
  std::string run(const std::string& variables, const std::string& arguments) const {
    const std::string command = "TRINE_GEMM_LOG=" + log_ + " " + variables +
                                " " TRINE_BLAS_PROGRAM " " + arguments + " 2>&1";
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    std::string all;
    std::array<char, 4096> part{};
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), pipe)) {
      all.append(part.data(), count);
    }
    EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << all;
    return all;
  }
  std::string log() const {
    std::ifstream file(log_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool log_has(const std::string& text) const { return log().find(text) != std::string::npos; }

  const std::string log_ = (std::filesystem::temp_directory_path() /
                            ("trine_blas_" + std::to_string(::getpid()) + ".log"))
                               .string();
};

constexpr const char* kPreload = "LD_PRELOAD=" TRINE_BLAS " ";

std::vector<float> numbers(const std::string& text) {
  std::istringstream lines(text);
  std::vector<float> all;
  for (std::string line; std::getline(lines, line);)
    all.push_back(std::strtof(line.c_str(), nullptr));
  return all;
}

/// The program's product by the emulation.
std::vector<float> emulated(GemmMethod method, bool transposed) {
  constexpr int kM = 20, kN = 30, kK = 70;
  std::vector<float> a(kM * kK), b(kK * kN), c(kM * kN);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(0.1F * static_cast<float>(i));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(0.2F * static_cast<float>(i));
  if (transposed) {
    EmulatedGemm(method, GemmArch::sm_90, a.data(), kK, kM, kK)
        .forward(kN, b.data(), kK, c.data(), kM, 1);
  } else {
    EmulatedGemm(method, GemmArch::sm_90, a.data(), kM, kK, kM)
        .backward(kN, b.data(), kK, c.data(), kM, 1);
  }
  return c;
}

TEST_F(BlasPreload, ProductsAreThoseOfTheMethod) {
  for (const std::string op : {"T", "N"}) {
    const std::vector<float> plain = numbers(run("", op));
    ASSERT_EQ(plain.size(), 600U);
    for (const auto& [name, method] :
         {std::pair{"fp16x3", GemmMethod::fp16x3}, {"bf16x9", GemmMethod::bf16x9}}) {
      const std::string variables =
          std::string(kPreload) + "TRINE_GEMM_CPU=1 TRINE_GEMM_MIN_FLOP=0 TRINE_GEMM=" + name;
      const std::vector<float> split = numbers(run(variables, op));
      EXPECT_EQ(split, emulated(method, op == "T"));
      EXPECT_NE(split, plain);
      EXPECT_TRUE(log_has("sgemm_ " + op + "N 20 x 30 x 70 -> " + name)) << log();
      EXPECT_TRUE(log_has(std::string(name) + ": 1 calls of 1 shapes, 8.4e+04 flop")) << log();
    }
  }
}

TEST_F(BlasPreload, WhatIsNotEligibleIsTheOriginals) {
  const std::string plain = run("", "T"), wanted = std::string(kPreload) + "TRINE_GEMM_CPU=1 ";
  EXPECT_EQ(run(wanted + "TRINE_GEMM=fp16x3", "T"), plain);
  EXPECT_TRUE(log_has("original (the product is small)")) << log();
  EXPECT_EQ(run(wanted + "TRINE_GEMM=off", "T"), plain);
  EXPECT_TRUE(log_has("original (TRINE_GEMM=off)")) << log();
  EXPECT_EQ(run(std::string(kPreload) + "TRINE_GEMM=fp16x3 TRINE_GEMM_MIN_FLOP=0", "T"), plain);
  EXPECT_TRUE(log_has("without TRINE_GEMM_CPU=1")) << log();
  const std::string told = run(wanted + "TRINE_GEMM=fp31", "T");
  EXPECT_EQ(told.find("trine_blas: TRINE_GEMM=fp31 is not known"), 0U) << told;
  EXPECT_EQ(told.substr(told.find('\n') + 1), plain);
}

TEST_F(BlasPreload, CublasGetsTheCallAsItCame) {
  const std::string plain = run("", "gpu");
  EXPECT_EQ(plain, "cublasSgemm_v2 1 1 0 20 30 70 1 0 70 70 20 1\nstatus 7\n");
  EXPECT_EQ(run(std::string(kPreload) + "TRINE_GEMM=fp16x3 TRINE_GEMM_MIN_FLOP=0", "gpu"), plain);
  EXPECT_TRUE(log_has("cublasSgemm_v2 TN 20 x 30 x 70 -> original (")) << log();
  EXPECT_TRUE(log_has("summary of process")) << log();
}

}  // namespace
}  // namespace trine::blas::test
