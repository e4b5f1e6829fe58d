#include "blas/settings.hpp"

#include <gtest/gtest.h>

#include <map>

namespace trine::blas::test {
namespace {

std::map<std::string, std::string> g_environment;

Settings read(std::map<std::string, std::string> environment) {
  g_environment = std::move(environment);
  return read_settings([](const char* name) -> const char* {
    const auto at = g_environment.find(name);
    return at == g_environment.end() ? nullptr : at->second.c_str();
  });
}

TEST(BlasSettings, AreAutoWithoutAnyVariable) {
  for (const Settings& s : {read({}), read({{"TRINE_GEMM", "auto"}})}) {
    EXPECT_EQ(s.off, "");
    EXPECT_FALSE(s.method);
    EXPECT_EQ(s.min_flop, 2e8);
    EXPECT_FALSE(s.on_cpu);
    EXPECT_EQ(s.log, "");
  }
}

TEST(BlasSettings, ReadEveryVariable) {
  const Settings s = read({{"TRINE_GEMM", "bf16x9"},
                           {"TRINE_GEMM_MIN_FLOP", "1e3"},
                           {"TRINE_GEMM_LOG", "file"},
                           {"TRINE_GEMM_CPU", "1"}});
  EXPECT_EQ(s.off, "");
  EXPECT_EQ(s.method, GemmMethod::bf16x9);
  EXPECT_EQ(s.min_flop, 1000);
  EXPECT_EQ(s.log, "file");
  EXPECT_TRUE(s.on_cpu);
}

TEST(BlasSettings, WhatIsNotUnderstoodTurnsEverythingOff) {
  EXPECT_EQ(read({{"TRINE_GEMM", "off"}}).off, "TRINE_GEMM=off");
  EXPECT_NE(
      read({{"TRINE_GEMM", "fp31"}}).off.find("TRINE_GEMM=fp31 is not known (auto, off, fp32"),
      std::string::npos);
  EXPECT_NE(read({{"TRINE_GEMM", "fp32"}}).off, "");
  for (const char* number : {"many", "-1", "1e3x", "nan", "inf"}) {
    EXPECT_NE(read({{"TRINE_GEMM_MIN_FLOP", number}}).off.find("is not a number"),
              std::string::npos)
        << number;
  }
}

}  // namespace
}  // namespace trine::blas::test
