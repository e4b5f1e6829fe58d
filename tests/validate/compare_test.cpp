#include "validate/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trine::validation {
namespace {

constexpr double kNan = kNotMeasured;

Result right() {
  Result r;
  r.energy = -10;
  r.energies = {-4, -6};
  r.forces = {{1, -2, 0}, {3, 4, -5}};
  r.stress = Mat3{{{1, 6, 5}, {6, 2, 4}, {5, 4, 3}}};
  return r;
}

TEST(Compare, ByHand) {
  Result tested = right();
  tested.energy = -9.5;
  tested.forces[0] = {1.5, -2.25, 0.125};  // larger by 0.5 and 0.25; 0.125 has no sign to go with
  tested.forces[1] = {3, 3, -5};           // smaller by 1
  (*tested.stress)[2][2] += 0.5;
  (*tested.stress)[0][1] -= 0.25;
  const Difference d = difference(tested, right());
  EXPECT_DOUBLE_EQ(d.energy, 0.25);
  EXPECT_DOUBLE_EQ(d.force_rms, std::sqrt((0.25 + 0.0625 + 0.015625 + 1) / 6));
  EXPECT_DOUBLE_EQ(d.force_max, 1);
  EXPECT_DOUBLE_EQ(d.force_signed_mean, (0.5 + 0.25 - 1) / 6);
  EXPECT_DOUBLE_EQ(d.stress_rms, std::sqrt((0.25 + 0.0625) / 6));
  EXPECT_DOUBLE_EQ(energy_difference(right(), tested), -0.25);
}

TEST(Compare, NothingIsOff) {
  const Difference d = difference(right(), right());
  EXPECT_EQ(d.energy, 0);
  EXPECT_EQ(d.force_rms, 0);
  EXPECT_EQ(d.force_max, 0);
  EXPECT_EQ(d.force_signed_mean, 0);
  EXPECT_EQ(d.stress_rms, 0);
}

TEST(Compare, WithoutAStressThereIsNone) {
  Result tested = right(), wanted = right();
  tested.stress.reset();
  EXPECT_TRUE(std::isnan(difference(tested, wanted).stress_rms));
  EXPECT_TRUE(std::isnan(difference(wanted, tested).stress_rms));
}

TEST(Compare, NanDoesNotGetLost) {
  Result tested = right();
  tested.forces[0][1] = kNan;
  const Difference d = difference(tested, right());
  EXPECT_TRUE(std::isnan(d.force_rms));
  EXPECT_TRUE(std::isnan(d.force_signed_mean));
  EXPECT_TRUE(std::isnan(d.force_max));
}

TEST(Compare, Bits) {
  EXPECT_TRUE(same_bits(right(), right()));
  const auto differs = [](auto change) {
    Result r = right();
    change(r);
    return !same_bits(r, right());
  };
  EXPECT_TRUE(differs([](Result& r) { r.energy = std::nextafter(r.energy, 0); }));
  EXPECT_TRUE(differs([](Result& r) { r.energies[1] = std::nextafter(r.energies[1], 0); }));
  EXPECT_TRUE(differs([](Result& r) { r.forces[1][2] = std::nextafter(r.forces[1][2], 0); }));
  EXPECT_TRUE(differs([](Result& r) { r.forces[0][2] = -0.0; }));
  EXPECT_TRUE(differs([](Result& r) { r.forces.pop_back(); }));
  EXPECT_TRUE(differs([](Result& r) { r.strain_gradient[2][1] = 1e-300; }));
}

TEST(Compare, RootMeanSquare) {
  EXPECT_DOUBLE_EQ(rms(std::vector<double>{3, 4}), std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(rms(std::vector<Vec3>{{1, 2, 2}}), std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(rms_difference(std::vector<Vec3>{{1, 2, 2}}, std::vector<Vec3>{{1, 2, -1}}),
                   std::sqrt(3.0));
}

}  // namespace
}  // namespace trine::validation
