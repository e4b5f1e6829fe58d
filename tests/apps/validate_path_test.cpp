// Distances, nearest images, and frames as a path.
#include "apps/trine/validate_path.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "trine/error.hpp"

namespace trine::app {
namespace {

TEST(Distances, AscendEvenly) {
  const auto distances = parse_distances("1.2:6.0:60");
  ASSERT_EQ(distances.size(), 60U);
  EXPECT_EQ(distances.front(), 1.2);
  EXPECT_EQ(distances.back(), 6.0);
  for (std::size_t k = 1; k < 60; ++k) {
    EXPECT_NEAR(distances[k] - distances[k - 1], 4.8 / 59, 1e-14);
  }
  for (const char* text : {"", "1:2", "1:2:2", "1:2:3 ", "0:2:9", "2:2:9", "1:inf:9", "nan:2:9"}) {
    EXPECT_THROW(parse_distances(text), Error) << text;
  }
}

/// The slanted cell's shortest way is not the one of the nearest fractional coordinates.
TEST(NearestImage, IsThatOfAllImages) {
  Structure s;
  s.species = {1, 1};
  s.cell = {{{4, 0, 0}, {1.9, 4, 0}, {0, 0, 0}}};
  s.pbc = {true, true, false};
  for (int step = 0; step < 100; ++step) {
    const double x = 0.37 * step - 15, y = 11 - 0.53 * step;
    s.positions = {{1, 2, 3}, {1 + x, 2 + y, 10}};
    double least = 1e300;
    for (int i = -12; i <= 12; ++i) {
      for (int k = -12; k <= 12; ++k)
        least = std::min(least, std::hypot(x + 4 * i + 1.9 * k, y + 4 * k));
    }
    const Vec3 way = to_nearest_image(s, 0, 1);
    EXPECT_NEAR(std::hypot(way[0], way[1]), least, 1e-12) << step;
    EXPECT_EQ(way[2], 7) << "not periodic there";
  }
}

TEST(PathOfFrames, GoesAsFarAsItsAtomsDo) {
  const auto frame = [](double a, double b) {
    Structure s;
    s.species = {1, 1, 8};
    s.positions = {{a, 0, 0}, {0, b, 0}, {0, 0, 9}};
    return s;
  };
  const Path path = path_of_frames({frame(1, 2), frame(4, 6), frame(4, 5)}, "a.xyz");
  EXPECT_EQ(path.coordinate, (std::vector<double>{0, 5, 6}));
  EXPECT_EQ(path.points.size(), 3U);
  EXPECT_EQ(path.description, "3 frames of a.xyz");
}

}  // namespace
}  // namespace trine::app
