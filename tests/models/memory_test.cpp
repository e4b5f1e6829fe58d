// What a pass over a batch takes: which policy and chunks, that plans are kept to, and what happens
// where there is no room.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "backend.hpp"
#include "models/pet/network.hpp"
#include "models/pet/synthetic.hpp"
#include "reference.hpp"
#include "trine/error.hpp"

namespace trine::pet {
namespace {

constexpr MemSpace kHost = MemSpace::host;
constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max() / 2;

/// Offsets of `atoms` atoms with `each` edges.
std::vector<std::int64_t> even(std::int64_t atoms, std::int64_t each) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= atoms; ++i) offsets.push_back(i * each);
  return offsets;
}

/// Of 17,280 atoms of water and the model S32, on a device that likes all edges at once.
Plan plan_within(std::size_t limit, Recompute recompute = Recompute::automatic,
                 bool gradient = true) {
  static const PetConfig config = make_synthetic("synthetic:s32").config;
  constexpr std::int64_t kAtoms = 17'280, kEach = 38;
  return make_plan<float, kHost>(config,
                                 {.atoms = kAtoms,
                                  .edges = kAtoms * kEach,
                                  .gradient = gradient,
                                  .recompute = recompute,
                                  .preferred_edges = kAll},
                                 [] { return even(kAtoms, kEach); }, [&] { return limit; });
}

TEST(Plan, FormsAsLittleAgainAsFits) {
  std::size_t before = std::numeric_limits<std::size_t>::max();
  std::vector<std::pair<TapePolicy, std::size_t>> met;
  while (true) {
    const Plan plan = plan_within(before - 1);
    met.emplace_back(plan.policy, plan.chunks.size());
    if (plan.bytes >= before) break;  // there is nothing smaller
    before = plan.bytes;
  }
  met.pop_back();
  const auto names = [](TapePolicy p) { return static_cast<int>(p); };
  EXPECT_EQ(met.front(), (std::pair{TapePolicy::keep, std::size_t{1}}));
  EXPECT_EQ(met.back().first, TapePolicy::layer);
  EXPECT_GT(met.back().second, 4U);
  EXPECT_TRUE(std::is_sorted(met.begin(), met.end(), [&](const auto& a, const auto& b) {
    return std::pair(names(a.first), a.second) < std::pair(names(b.first), b.second);
  }));
  EXPECT_EQ(std::count_if(met.begin(), met.end(),
                          [](const auto& m) { return m.first == TapePolicy::light; }),
            4);
}

TEST(Plan, SizesInUnitsOfAnEdgeArray) {
  // Of C features of each edge; what belongs to nodes comes on top, less than a tenth.
  const double unit = 17'280 * 38 * 256 * sizeof(float);
  const auto units = [&](Recompute recompute, std::size_t limit = std::size_t{1} << 50) {
    return static_cast<double>(plan_within(limit, recompute).bytes) / unit;
  };
  EXPECT_NEAR(units(Recompute::none), 36 + 6 + 4, 4);
  EXPECT_NEAR(units(Recompute::light), 15 + 6 + 7, 3);
  EXPECT_NEAR(units(Recompute::light, 1), 15 + 6 + 7.0 / 8, 3);
  EXPECT_NEAR(units(Recompute::layer, 1), 8 + 16.0 / 8, 2);
  EXPECT_LT(static_cast<double>(plan_within(1, Recompute::automatic, false).bytes) / unit, 7);
}

TEST(Plan, TellsHowManyAtomsFit) {
  const Plan plan = plan_within(1);
  const std::int64_t half = atoms_that_fit(plan, 17'280, plan.bytes / 2);
  EXPECT_GT(half, 17'280 / 4);
  EXPECT_LT(half, 17'280 / 2);
  EXPECT_EQ(atoms_that_fit(plan, 17'280, 0), 0);
  EXPECT_EQ(atoms_that_fit(plan, 17'280, plan.bytes), 17'280);
}

}  // namespace
}  // namespace trine::pet
