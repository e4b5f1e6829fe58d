#include "cpu/search_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace trine {
namespace {

TEST(SearchFrame, FindsTheShortestVectorsOfTheLattice) {
  // boxes of 2 x 3 x 4 in disguise
  const Mat3 cells[] = {{{{2, 0, 0}, {0, 3, 0}, {0, 0, 4}}},
                        {{{2, 3, 0}, {14, 18, 4}, {-4, 3, -16}}},
                        {{{0, -3, 4}, {2002, 3, 0}, {2, 0, 0}}},
                        {{{2, 0, 4000}, {2, 3, 4000}, {2, 0, 4004}}}};
  for (const Mat3& cell : cells) {
    auto frame = cpu::make_search_frame(cell, {true, true, true});
    std::sort(frame.height.begin(), frame.height.end());
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(frame.height[k], 2.0 + double(k), 1e-9);
  }
  const double h = std::sqrt(0.75);
  const Mat3 flat{{{9, 0, 0.5}, {-4.5, 9 * h, 0.5}, {-4.5, -9 * h, 0.5}}};
  auto frame = cpu::make_search_frame(flat, {true, true, true});
  std::sort(frame.height.begin(), frame.height.end());
  EXPECT_GT(frame.height[1], 7);  // a + b + c is short, although all angles are 120 degrees
}

}  // namespace
}  // namespace trine
