// Evaluations that ask nothing of the host: they have the bits of ordinary ones, and say when they
// do not.
#include <limits>

#include "cuda/ahead_caller.hpp"
#include "models/test_options.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLimit = 0.5;  // Angstrom that an atom may move, half of the skin
constexpr std::int64_t kGranule = 256;

/// What decides about halting, as far as it can be seen from outside.
struct Expectation {
  std::vector<double> listed;  ///< positions for which the list was made
  std::int64_t edges = 0;  ///< of the last ordinary call, whose arrays have as many rows or more
  std::int64_t pairs = 0;  ///< of that call

  bool must_halt(const std::vector<double>& positions, const Numbers& n) const {
    const std::int64_t most = (edges + kGranule - 1) / kGranule * kGranule + 3 * kGranule / 2;
    return furthest(positions, listed) > kLimit || n.edges > most;
  }
  bool must_go_on(const std::vector<double>& positions, const Numbers& n) const {
    const std::int64_t least = (edges + kGranule - 1) / kGranule * kGranule;
    return furthest(positions, listed) < kLimit - 1e-6 && n.edges <= least && n.pairs <= pairs;
  }
};

struct Outcome {
  int halts = 0, steps = 0;
};

/// Walks, each step ahead, and by an ordinary call where that halts.
Outcome walk(Caller& caller, Model& reference, double step, int steps) {
  Walk random(step);
  Outcome outcome;
  Expectation expected;
  caller.settle();
  const auto note = [&](std::int64_t searches_before, const Numbers& n) {
    if (caller.model().list_statistics().searches != searches_before) {
      expected.listed = positions_of(caller.now);
    }
    expected.edges = n.edges;
    expected.pairs = n.pairs;
  };
  note(0, evaluate(reference, caller.now));
  for (int k = 0; k < steps; ++k) {
    random.move(caller.now);
    const std::string when = "in step " + std::to_string(k);
    const Numbers wanted = evaluate(reference, caller.now);
    const auto positions = positions_of(caller.now);
    const bool went_on = caller.ahead();
    EXPECT_FALSE(went_on && expected.must_halt(positions, wanted))
        << when << " did not halt, edges " << wanted.edges << " after " << expected.edges
        << ", furthest " << furthest(positions, expected.listed);
    EXPECT_FALSE(!went_on && expected.must_go_on(positions, wanted))
        << when << " halted, edges " << wanted.edges << " after " << expected.edges << ", pairs "
        << wanted.pairs << " after " << expected.pairs << ", furthest "
        << furthest(positions, expected.listed);
    if (!went_on) {
      ++outcome.halts;
      caller.set_halted(0);
      const std::int64_t before = caller.model().list_statistics().searches;
      caller.ordinary();
      note(before, wanted);
      EXPECT_TRUE(caller.model().can_evaluate_ahead()) << when;
    }
    expect_same(caller.numbers(), wanted, when + (went_on ? "" : ", after a halt"));
    if (testing::Test::HasFailure()) break;
    ++outcome.steps;
  }
  return outcome;
}

struct Case {
  std::string model;
  Precision precision;
  Structures (*structures)();
  double step;  ///< Angstrom
  int steps;
};

class EvaluateAheadOf : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, EvaluateAheadOf,
                         testing::Values(Case{"trine-mini", Precision::fp32, one, 0.03, 60},
                                         Case{"trine-mini", Precision::fp32, two, 0.03, 60},
                                         Case{"trine-mini", Precision::fp32, many, 0.04, 12},
                                         Case{"solver", Precision::fp64, two, 0.03, 30},
                                         Case{"grid", Precision::fp32, two, 0.03, 30},
                                         Case{"fixed_cosine", Precision::fp32, one, 0.03, 30}));

TEST_P(EvaluateAheadOf, AWalkHasTheBitsAndHaltsWhereItMust) {
  const Case& c = GetParam();
  Model reference = load(c.model, c.precision);
  Caller caller(load(c.model, c.precision), c.structures());
  const Outcome outcome = walk(caller, reference, c.step, c.steps);
  EXPECT_EQ(outcome.steps, c.steps);
  EXPECT_GE(outcome.halts, 1) << "the list never got too old: nothing was tested";
  EXPECT_LE(outcome.halts, outcome.steps / 3);
  Model fresh = load(c.model, c.precision);
  expect_same(caller.numbers(), evaluate(fresh, caller.now), "of a fresh model");
}

TEST(EvaluateAhead, ReadsNothingThatWasNotWritten) {
  Model reference = load("trine-mini");
  const Poisoned poisoned;
  Caller caller(load("trine-mini"), two());
  EXPECT_EQ(walk(caller, reference, 0.03, 15).steps, 15);
}

/// Halts after `change` of the structures, and is right again before and after.
void expect_halt(Caller& caller, const std::string& what,
                 const std::function<void(Structures&)>& change) {
  SCOPED_TRACE(what);
  const Structures before = caller.now;
  caller.set_halted(0);
  ASSERT_TRUE(caller.ahead()) << "halted before anything had happened";
  const Numbers wanted = caller.numbers();
  change(caller.now);
  EXPECT_FALSE(caller.ahead()) << "did not halt";
  caller.now = before;
  EXPECT_FALSE(caller.ahead()) << "went on though it had halted";
  caller.set_halted(0);
  EXPECT_TRUE(caller.ahead()) << "halts although nothing is wrong any more";
  expect_same(caller.numbers(), wanted, "after a halt was undone");
}

TEST(EvaluateAhead, HaltsAboutPositions) {
  Caller caller(load("trine-mini"), two());
  caller.settle();
  const auto at = [](Structures& s, std::size_t b, std::size_t atom) -> Vec3& {
    return s[b].positions[atom];
  };
  expect_halt(caller, "one atom has moved too far",
              [&](Structures& s) { at(s, 0, 100)[1] += 0.501; });
  expect_halt(caller, "the last atom has",
              [&](Structures& s) { s[1].positions.back()[2] -= 0.501; });
  expect_halt(caller, "an atom is wrapped",
              [&](Structures& s) { at(s, 0, 7)[0] += s[0].cell[0][0]; });
  expect_halt(caller, "NaN", [&](Structures& s) { at(s, 0, 191)[0] = kNaN; });
  expect_halt(caller, "infinite",
              [&](Structures& s) { at(s, 1, 0)[2] = std::numeric_limits<double>::infinity(); });
  expect_halt(caller, "all NaN", [&](Structures& s) {
    for (Vec3& r : s[0].positions) r = {kNaN, kNaN, kNaN};
  });
  // A hydrogen and its oxygen meet half-way, neither of them further than the list allows.
  expect_halt(caller, "atoms at the same place", [&](Structures& s) {
    Vec3 *a = nullptr, *b = nullptr;
    for (Vec3& r : s[0].positions) {
      for (Vec3& t : s[0].positions) {
        const double d = std::hypot(r[0] - t[0], r[1] - t[1], r[2] - t[2]);
        if (d > 0.1 && d < 0.99) a = &r, b = &t;
      }
    }
    ASSERT_TRUE(a && b) << "no bond is short enough";
    for (std::size_t k = 0; k < 3; ++k) (*a)[k] = (*b)[k] = ((*a)[k] + (*b)[k]) / 2;
  });
  auto moved = caller.now;
  for (Vec3& r : moved[0].positions) r[0] += 0.499;
  caller.now = moved;
  EXPECT_TRUE(caller.ahead()) << "an atom may move by half of the skin";
}

TEST(EvaluateAhead, HaltsAboutCells) {
  Caller caller(load("trine-mini"), two());
  caller.with_cells = true;
  caller.settle();
  expect_halt(caller, "a cell is another in its last bit", [](Structures& s) {
    double& x = s[1].cell[2][2];
    x = std::nextafter(x, 1e9);
  });
}

/// Water without periodicity, all of it closer to the middle of the cell.
Structures squeezed(double by) {
  Structures s = one();
  s[0].pbc = {false, false, false};
  for (Vec3& r : s[0].positions) {
    for (double& x : r) x = 6.2 + by * (x - 6.2);
  }
  return s;
}

struct Squeeze {
  std::string model;
  double by;
  bool edges_fit, pairs_fit;
};

TEST(EvaluateAhead, HaltsWhereArraysAreTooSmall) {
  for (const Squeeze& c :
       {Squeeze{"grid", 0.985, false, true}, Squeeze{"trine-mini", 0.966, true, false},
        Squeeze{"fixed_cosine", 0.96, false, false}}) {
    SCOPED_TRACE(c.model);
    Model reference = load(c.model);
    const Structures start = squeezed(1), tight = squeezed(c.by);
    ASSERT_LT(furthest(positions_of(tight), positions_of(start)), kLimit);
    const Numbers loose = evaluate(reference, start), wanted = evaluate(reference, tight);
    const std::int64_t rows = (loose.edges + kGranule - 1) / kGranule * kGranule;
    ASSERT_EQ(wanted.edges <= rows, c.edges_fit) << wanted.edges << " edges in " << rows;
    const std::int64_t room = loose.pairs + loose.pairs / 16;
    ASSERT_EQ(wanted.pairs <= room, c.pairs_fit) << wanted.pairs << " pairs in " << room;
    Caller caller(load(c.model), start);
    caller.settle();
    expect_halt(caller, "squeezed", [&](Structures& s) { s = tight; });
    caller.now = tight;
    const std::int64_t version = caller.model().ahead_version();
    caller.ordinary();
    EXPECT_NE(caller.model().ahead_version(), version) << "arrays are others now";
    expect_same(caller.numbers(), wanted, "of the ordinary call for them");
    caller.set_halted(0);
    ASSERT_TRUE(caller.ahead()) << "the ordinary call has not made room";
    expect_same(caller.numbers(), wanted, "ahead, in arrays that are larger");
  }
}

/// A number of edges about a multiple of the granule halts once, not again and again.
TEST(EvaluateAhead, RowsStayWhereTheyAreNearlyFull) {
  Caller caller(load("trine-mini"), one());
  caller.settle();
  Walk random(0.004);
  const Structures start = caller.now;
  int changes = 0;
  std::int64_t version = caller.model().ahead_version();
  for (int k = 0; k < 60; ++k) {
    caller.now = start;
    random.move(caller.now);
    caller.ordinary();
    changes += caller.model().ahead_version() != version;
    version = caller.model().ahead_version();
  }
  EXPECT_LE(changes, 2);
}

TEST(EvaluateAhead, NeedsACallBefore) {
  Caller caller(load("trine-mini"), one());
  EXPECT_FALSE(caller.model().can_evaluate_ahead());
  EXPECT_THROW(caller.start_ahead(), Error);
  caller.settle();
  EXPECT_TRUE(caller.ahead());
  const std::int64_t version = caller.model().ahead_version();
  caller.ordinary();
  EXPECT_EQ(caller.model().ahead_version(), version);
  DeviceArrays arrays = caller.arrays();
  arrays.positions = nullptr;
  EXPECT_THROW(caller.model().evaluate_ahead(caller.now, arrays, caller.halted_on_device()), Error);
  EXPECT_THROW(caller.model().evaluate_ahead(caller.now, caller.arrays(), nullptr), Error);
  Structures others = caller.now;
  std::swap(others[0].species[0], others[0].species[1]);
  EXPECT_THROW(caller.model().evaluate_ahead(others, caller.arrays(), caller.halted_on_device()),
               Error);
  others = caller.now;
  others[0].cell[0][0] += 1;
  EXPECT_THROW(caller.model().evaluate_ahead(others, caller.arrays(), caller.halted_on_device()),
               Error);
  others = two();
  EXPECT_THROW(caller.model().evaluate_ahead(others, caller.arrays(), caller.halted_on_device()),
               Error);
  EXPECT_TRUE(caller.ahead()) << "refused calls leave no trace";
  caller.model().evaluate(others[1]);
  EXPECT_FALSE(caller.model().can_evaluate_ahead()) << "of other atoms";
  caller.settle();
  EXPECT_TRUE(caller.ahead());
  std::swap(caller.now[0].species[0], caller.now[0].species[1]);
  const std::int64_t before = caller.model().ahead_version();
  caller.settle();
  EXPECT_NE(caller.model().ahead_version(), before) << "for other atoms at the same places";
}

TEST(EvaluateAhead, WantsNoGradientThatTheCallBeforeHadNot) {
  Caller caller(load("trine-mini"), one());
  DeviceArrays energy = caller.arrays();
  energy.forces = energy.strain_gradient = nullptr;
  caller.ordinary();
  for (int k = 0; k < 3; ++k) caller.model().evaluate_on_device(caller.now, energy);
  EXPECT_TRUE(caller.model().can_evaluate_ahead());
  EXPECT_THROW(caller.start_ahead(), Error);
  caller.spoil_results();
  caller.model().evaluate_ahead(caller.now, energy, caller.halted_on_device());
  EXPECT_EQ(caller.halted(), 0);
  const Numbers alone = caller.numbers();
  caller.ordinary();
  expect_same(alone.energies, caller.numbers().energies, "energies without gradients");
  caller.spoil_results();
  caller.model().evaluate_ahead(caller.now, energy, caller.halted_on_device());
  EXPECT_EQ(caller.halted(), 0);
  expect_same(caller.numbers().energies, alone.energies, "energies where gradients are not wanted");
}

TEST(EvaluateAhead, NotWithRepulsionOrAClock) {
  Caller zbl(load("zbl"), one());
  for (int k = 0; k < 3; ++k) zbl.ordinary();
  EXPECT_FALSE(zbl.model().can_evaluate_ahead());
  EngineOptions options;
  options.device = "cuda";
  options.profile = true;
  Caller timed(Model::load(model_path("trine-mini"), options), one());
  for (int k = 0; k < 3; ++k) timed.ordinary();
  EXPECT_FALSE(timed.model().can_evaluate_ahead());
}

}  // namespace
}  // namespace trine::test
