#include "validate/report/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "validate/report/markup.hpp"

namespace trine::validation::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Numbers, HaveThreeDigits) {
  const std::vector<std::pair<double, const char*>> cases = {{0, "0"},
                                                             {1, "1.00"},
                                                             {-1.2345, "-1.23"},
                                                             {9.996, "10.0"},
                                                             {99.96, "100"},
                                                             {12345, "12345"},
                                                             {0.00012345, "0.000123"},
                                                             {0.00009, "9.00e-05"},
                                                             {1234567, "1.23e+06"},
                                                             {kNan, ""},
                                                             {kInfinity, ""},
                                                             {-kInfinity, ""}};
  for (const auto& [value, text] : cases) EXPECT_EQ(significant(value), text) << value;
  EXPECT_EQ(significant(0.012345, 2), "0.012");
}

TEST(Numbers, RatiosAndGivenNumbersAreShort) {
  EXPECT_EQ(ratio(0.8567), "0.86");
  EXPECT_EQ(ratio(9.997), "10.0");
  EXPECT_EQ(ratio(-12.34), "-12.3");
  EXPECT_EQ(ratio(1234.5), "1234");
  EXPECT_EQ(ratio(kNan), "");
  EXPECT_EQ(given(0.05), "0.05");
  EXPECT_EQ(given(30), "30");
  EXPECT_EQ(given(kNan), "");
  EXPECT_EQ(duration(12.34), "12.3 s");
  EXPECT_EQ(duration(271.4), "5 min");
  EXPECT_EQ(duration(10000), "2.78 h");
}

TEST(Numbers, UnitsFollowTheMedianSize) {
  const auto text = [](std::vector<double> values) {
    return unit_for(Quantity::force, values).text;
  };
  EXPECT_EQ(text({1, -2, 3}), "eV/A");
  EXPECT_EQ(text({0.01, -0.02, 1e-9}), "meV/A");
  EXPECT_EQ(text({1e-6, 1e-6, 0.02}), "ueV/A");
  EXPECT_EQ(text({1e-14}), "neV/A");
  EXPECT_EQ(text({0, kNan, 3}), "eV/A");
  EXPECT_EQ(text({}), "meV/A");
  EXPECT_DOUBLE_EQ(unit_for(Quantity::force, {1e-6}).factor, 1e6);
  EXPECT_EQ(unit_for(Quantity::stress, {1e-6}).html, "&micro;eV/&Aring;&sup3;");
  EXPECT_EQ(unit_for(Quantity::drift, {1e-3}).text, "meV/atom/ps");
}

TEST(Markup, NumbersAreTypeset) {
  EXPECT_EQ(number(""), "&ndash;");
  EXPECT_EQ(number("-1.23"), "&minus;1.23");
  EXPECT_EQ(number("1e-09"), "10<sup>&minus;9</sup>");
  EXPECT_EQ(number("-1.23e+06"), "&minus;1.23&thinsp;&times;&thinsp;10<sup>6</sup>");
}

TEST(Markup, TextIsNoMarkup) {
  EXPECT_EQ(escaped("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(escaped(std::string("a\0\x1b\n", 4)), "a??\n");
}

TEST(Markup, DecimalPointsAreBelowEachOther) {
  HtmlTable table("T", {{"M", Cells::words}, {"N"}});
  for (const char* value : {"0.123", "1.2", "45", "", "1.00e-09"}) table.add({"x", value});
  const std::string html = table.html();
  const std::string digit = "&#8199;", point = "&#8200;";
  for (const std::string& cell : std::vector<std::string>{
           "0.123<", "1.2" + digit + digit + "<", "45" + point + digit + digit + digit + "<",
           "&ndash;" + point + digit + digit + digit + "<", "&minus;9</sup><"}) {
    EXPECT_NE(html.find(cell), std::string::npos) << cell << "\n" << html;
  }
}

TEST(Markup, AFailureTakesTheWholeRow) {
  HtmlTable table("T", {{"M", Cells::words}, {"N"}, {"O"}});
  table.add_failure("x", "broke <here>");
  EXPECT_NE(table.html().find("colspan=\"2\"><span>broke &lt;here&gt;</span>"), std::string::npos);
}

}  // namespace
}  // namespace trine::validation::report
