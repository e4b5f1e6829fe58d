// What results change by under what must not change them.
#include <gtest/gtest.h>

#include <cmath>

#include "models/support/expect_error.hpp"
#include "validate/compare.hpp"
#include "validate/mini_bench.hpp"
#include "validate/transformed.hpp"

namespace trine {
namespace {

void expect_below(const Deviation& d, double energy, double forces, const char* what) {
  if (!(d.energy <= energy)) ADD_FAILURE() << what << ": energy is off by " << d.energy;
  if (!(d.force_rms <= forces)) ADD_FAILURE() << what << ": forces are off by " << d.force_rms;
}

/// All but the rotation, within rounding errors of numbers of some eV.
void expect_invariant(const InvarianceRow& row, double bound, bool periodic) {
  SCOPED_TRACE(row.arithmetic);
  EXPECT_EQ(row.failure, "");
  EXPECT_TRUE(row.repeats_equal);
  EXPECT_TRUE(row.batch_equal);
  expect_below(row.translation, bound, bound, "translation");
  expect_below(row.permutation, bound, bound, "permutation");
  if (periodic) {
    expect_below(row.supercell, bound, bound, "supercell");
  } else {
    EXPECT_TRUE(std::isnan(row.supercell.energy));
    EXPECT_TRUE(std::isnan(row.supercell.force_rms));
  }
}

TEST(Invariance, OfACrystal) {
  Structure s = test::stored("ni_skewed4");
  ASSERT_FALSE(s.extra_columns.empty());  // which fit no other order or number of atoms
  s.charge = 1;
  const auto rows =
      measure_invariance(test::mini_bench(), s, test::arithmetics({"fp32", "fp64"})).rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].arithmetic, "fp64");
  EXPECT_EQ(rows[1].arithmetic, "fp32");
  expect_invariant(rows[0], 1e-10, true);
  expect_invariant(rows[1], 1e-4, true);
  EXPECT_GT(rows[1].permutation.force_rms, rows[0].permutation.force_rms);
  // The model's own spread is no rounding error, and what fp32 adds to it is one.
  EngineOptions options = test::mini_bench().engine;
  options.precision = Precision::fp64;
  Model model = test::mini_bench().checkpoint->load(options);
  const Mat3 rotation = validation::some_rotation();
  const Result before = model.evaluate(s);
  const Result after = model.evaluate(validation::turned(rotation, s));
  EXPECT_GT(rows[0].rotation.force_rms, 1e-5);
  EXPECT_EQ(rows[0].rotation.energy, std::abs(after.energy - before.energy) / 4);
  EXPECT_EQ(
      rows[0].rotation.force_rms,
      validation::rms_difference(validation::turned_back(rotation, after.forces), before.forces));
  EXPECT_GT(rows[1].rotation.force_rms, 0);
  expect_below(rows[1].rotation, 1e-4, 1e-4, "rotation");
}

TEST(Invariance, OfAMolecule) {
  const auto rows = measure_invariance(test::mini_bench(), test::water_drop(2),
                                       test::arithmetics({"fp32", "bf16"}))
                        .rows;
  ASSERT_EQ(rows.size(), 3U);
  expect_invariant(rows[0], 1e-10, false);
  expect_invariant(rows[1], 1e-4, false);
  expect_invariant(rows[2], 1, false);
  EXPECT_GT(rows[2].rotation.force_rms, 10 * rows[1].rotation.force_rms);
}

TEST(Invariance, OneAtomAndWhatCannotBeDone) {
  const auto rows =
      measure_invariance(test::mini_bench(), test::stored("pt_primitive"), {test::impossible()})
          .rows;
  ASSERT_EQ(rows.size(), 2U);
  expect_invariant(rows[0], 1e-10, true);
  EXPECT_EQ(rows[0].permutation.force_rms, 0);
  EXPECT_NE(rows[1].failure.find("no.such.layer"), std::string::npos) << rows[1].failure;
  EXPECT_FALSE(rows[1].repeats_equal);
  EXPECT_TRUE(std::isnan(rows[1].translation.energy));
}

TEST(Invariance, NeedsAtoms) {
  testing::expect_error(ErrorCode::bad_input, "has no atoms",
                        [] { measure_invariance(test::mini_bench(), {}, {}); });
}

}  // namespace
}  // namespace trine
