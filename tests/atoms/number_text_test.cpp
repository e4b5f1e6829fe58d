#include "atoms/number_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>

namespace trine::atoms {
namespace {

std::string text_of(double value) {
  std::string text;
  append_real(text, value);
  return text;
}

TEST(ParseReal, AcceptsWhatProgramsWrite) {
  const std::pair<const char*, double> rows[] = {{"0", 0},
                                                 {"-1.5", -1.5},
                                                 {"+2.25", 2.25},
                                                 {".5", 0.5},
                                                 {"5.", 5},
                                                 {"1e3", 1000},
                                                 {"1E+03", 1000},
                                                 {"1.d-3", 1e-3},
                                                 {"-4.5D2", -450},
                                                 {"+1d0", 1},
                                                 {"0012", 12},
                                                 {"1e-400", 0},
                                                 {"-1d-400", 0},
                                                 {"4.9e-324", 5e-324},
                                                 {"9007199254740993", 9007199254740992.0}};
  for (const auto& [text, value] : rows) {
    const auto parsed = parse_real(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, value) << text;
  }
}

TEST(ParseReal, TooLargeIsInfinite) {
  for (const char* text : {"1e400", "1d400", "inf", "-inf", "-1e999"}) {
    const auto parsed = parse_real(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_TRUE(std::isinf(*parsed)) << text;
  }
  EXPECT_TRUE(std::isnan(parse_real("nan").value()));
}

TEST(ParseReal, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "+", "-", ".", "e5", "d5", "1,5", "1.2.3", "1e", "1d", "0x10", "12a",
                           "+-1", "++1", "- 1", " 1", "1 ", "1e5000000000000", "1dd2"}) {
    EXPECT_FALSE(parse_real(text)) << text;
  }
}

TEST(ParseInteger, TakesWholeDecimalsOnly) {
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer("-3"), -3);
  for (const char* text : {"", "+", "1.0", "1e3", "0x1", "9223372036854775808", "1 "}) {
    EXPECT_FALSE(parse_integer(text)) << text;
  }
}

TEST(AppendReal, LooksLikeARealNumber) {
  const std::pair<double, const char*> rows[] = {
      {0.0, "0.0"},        {-0.0, "-0.0"},
      {1.0, "1.0"},        {-76.0, "-76.0"},
      {0.1, "0.1"},        {100000.0, "100000.0"},
      {1e-4, "0.0001"},    {1e-5, "1e-05"},
      {1.5e-7, "1.5e-07"}, {1e15, "1000000000000000.0"},
      {1e16, "1e+16"},     {1.0 / 3.0, "0.3333333333333333"}};
  for (const auto& [value, text] : rows) EXPECT_EQ(text_of(value), text);
}

TEST(AppendReal, EveryBitSurvives) {
  std::mt19937_64 random(1);
  int finite = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    ++finite;
    const auto back = parse_real(text_of(value));
    ASSERT_TRUE(back) << text_of(value);
    ASSERT_EQ(std::memcmp(&*back, &value, sizeof value), 0) << text_of(value);
  }
  EXPECT_GT(finite, 190'000);
}

}  // namespace
}  // namespace trine::atoms
