// What must hold for any model: derivatives, invariances, independence of batch, threads and
// repetition.
#include <functional>
#include <random>

#include "models/test_options.hpp"
#include "reference.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

// Different norms, featurizers, cutoffs, conditioning, repulsion, direct heads; one trained model.
const std::vector<std::string> kModels = {"trine-mini",
                                          "solver",
                                          "grid",
                                          "fixed_cosine",
                                          "postln_residual",
                                          "postln_wide",
                                          "preln_narrow_node",
                                          "preln_silu",
                                          "conditioned",
                                          "zbl",
                                          "odd_sizes"};

Model load(const std::string& model, Precision precision = Precision::fp64, int threads = 2,
           Recompute recompute = Recompute::automatic, std::int64_t tape_bytes = 0) {
  EngineOptions options = test_options();
  options.recompute = recompute;
  options.precision = precision;
  options.threads = threads;
  options.tape_bytes = tape_bytes;
  return Model::load(model_path(model), options);
}

/// Structures made of elements that every model here knows.
Structure boxed_ethanol() {
  return reference_structure("ethanol_boxed");
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Fourth-order central difference of `energy` at 0.
double derivative(const std::function<double(double)>& energy, double h = 4e-4) {
  return (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h);
}

Structure strained(const Structure& s, std::size_t a, std::size_t b, double amount) {
  Structure t = s;
  for (auto& r : t.positions)
    r[b] += amount * s.positions[static_cast<std::size_t>(&r - t.positions.data())][a];
  for (std::size_t k = 0; k < 3; ++k) t.cell[k][b] += amount * s.cell[k][a];
  return t;
}

std::vector<double> all_numbers(const Result& r) {
  std::vector<double> all = r.energies;
  for (const auto& part : {flat(r.forces), flat(r.strain_gradient), r.adaptive_cutoff,
                           std::vector<double>{r.energy}}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// The same bits, not just close.
void expect_same(const Result& a, const Result& b, const std::string& what) {
  EXPECT_EQ(all_numbers(a), all_numbers(b)) << what;
}

class Properties : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, Properties, testing::ValuesIn(kModels), name_of);

TEST_P(Properties, ForcesAreTheDerivativeOfTheEnergy) {
  auto model = load(GetParam());
  const Structure s = boxed_ethanol();
  const Result r = model.evaluate(s);
  const double scale = largest(flat(r.forces));
  for (std::size_t i = 0; i < s.size(); i += 2) {
    for (std::size_t a = 0; a < 3; ++a) {
      const double slope = derivative([&](double d) {
        Structure moved = s;
        moved.positions[i][a] += d;
        return model.evaluate(moved, {.gradients = false}).energy;
      });
      EXPECT_TRUE(std::abs(-slope - r.forces[i][a]) <= 1e-7 * scale)
          << "atom " << i << " axis " << a << ": " << r.forces[i][a] << " against " << -slope;
    }
  }
}

TEST_P(Properties, StrainGradientIsTheDerivativeOfTheEnergy) {
  auto model = load(GetParam());
  const Structure s = boxed_ethanol();
  const Result r = model.evaluate(s);
  const double scale = largest(flat(r.strain_gradient));
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      const double slope = derivative(
          [&](double d) {
            return model.evaluate(strained(s, a, b, d), {.gradients = false}).energy;
          },
          1e-4);
      EXPECT_TRUE(std::abs(slope - r.strain_gradient[a][b]) <= 1e-7 * scale)
          << a << b << ": " << r.strain_gradient[a][b] << " against " << slope;
    }
  }
}

TEST_P(Properties, TranslationAndPermutationChangeNothing) {
  auto model = load(GetParam());
  const Structure s = boxed_ethanol();
  const Result r = model.evaluate(s);
  Structure moved = s, turned = s;
  for (auto& x : moved.positions) x = {x[0] + 3.7, x[1] - 11.2, x[2] + 0.9};
  std::reverse(turned.positions.begin(), turned.positions.end());
  std::reverse(turned.species.begin(), turned.species.end());
  Result back = model.evaluate(turned);
  std::reverse(back.forces.begin(), back.forces.end());
  std::reverse(back.energies.begin(), back.energies.end());
  for (const Result& other : {model.evaluate(moved), back}) {
    expect_close(flat(other.forces), flat(r.forces), 1e-11, "forces");
    expect_close(other.energies, r.energies, 1e-12, "energies");
  }
}

TEST_P(Properties, ReplicatedCellsHaveTheSameEnergyPerAtom) {
  auto model = load(GetParam());
  Structure s = reference_structure(GetParam() == "trine-mini" ? "ni_skewed4" : "ethanol_boxed");
  s.extra_columns.clear();
  Structure twice = s;
  for (std::size_t k : {0U, 2U}) {
    const Structure once = twice;
    for (std::size_t i = 0; i < once.size(); ++i) {
      twice.species.push_back(once.species[i]);
      Vec3 x = once.positions[i];
      for (std::size_t a = 0; a < 3; ++a) x[a] += once.cell[k][a];
      twice.positions.push_back(x);
    }
    for (double& a : twice.cell[k]) a *= 2;
  }
  const double one = model.evaluate(s).energy / static_cast<double>(s.size());
  const double four = model.evaluate(twice).energy / static_cast<double>(twice.size());
  EXPECT_TRUE(std::abs(one - four) <= 1e-12 * std::max(1.0, std::abs(one))) << one << " " << four;
}

TEST_P(Properties, BatchThreadsTapeAndRepetitionLeaveEveryBit) {
  for (Precision precision : {Precision::fp32, Precision::fp64}) {
    auto model = load(GetParam(), precision);
    const std::vector<Structure> batch = {reference_structure("h2o"), boxed_ethanol(),
                                          reference_structure("isolated_atom"), boxed_ethanol(),
                                          reference_structure("two_far_atoms")};
    const auto together = model.evaluate(std::span<const Structure>(batch));
    auto alone = load(GetParam(), precision, 1);
    auto kept = load(GetParam(), precision, 2, Recompute::none);
    auto light = load(GetParam(), precision, 2, Recompute::light);
    auto frugal = load(GetParam(), precision, 2, Recompute::automatic, 1);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      expect_same(together[b], model.evaluate(batch[b]), "alone against in a batch");
      expect_same(together[b], alone.evaluate(batch[b]), "one thread against two");
      expect_same(together[b], kept.evaluate(batch[b]), "kept by name");
      expect_same(together[b], light.evaluate(batch[b]), "wide arrays formed again");
      expect_same(together[b], frugal.evaluate(batch[b]), "layers computed again");
    }
    for (int repeat = 0; repeat < 20; ++repeat) {
      expect_same(together[1], model.evaluate(batch[1]), "repeat");
    }
  }
}

TEST_P(Properties, NothingIsReadThatWasNotWritten) {
  const std::vector<Structure> batch = {boxed_ethanol(), reference_structure("isolated_atom"),
                                        reference_structure("h2o")};
  for (Precision precision : {Precision::fp32, Precision::fp64}) {
    const auto wanted = load(GetParam(), precision).evaluate(std::span<const Structure>(batch));
    for (Recompute recompute : {Recompute::none, Recompute::light, Recompute::layer}) {
      auto model = load(GetParam(), precision, 2, recompute);
      const Poisoned poisoned;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto found = model.evaluate(std::span<const Structure>(batch));
        for (std::size_t b = 0; b < batch.size(); ++b) {
          expect_same(found[b], wanted[b], "poisoned, structure " + std::to_string(b));
        }
      }
    }
  }
}

/// What is kept from step to step of a simulation leaves no trace.
void expect_steps_like_single_evaluations(const std::string& name, Precision precision, Structure s,
                                          int steps) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> small(-0.02, 0.02);
  auto simulation = load(name, precision), single = load(name, precision);
  for (int step = 0; step < steps; ++step) {
    expect_same(simulation.evaluate(s), single.evaluate(s), "step " + std::to_string(step));
    single.evaluate(reference_structure("h2o"));  // nothing is as it was the time before
    for (Vec3& r : s.positions) {
      for (double& x : r) x += small(random);
    }
    if (step == 12) s.positions[3][1] += s.cell[1][1];  // into the next cell
    if (step == 17) s.cell[2][2] *= 1.01;
  }
}

TEST_P(Properties, StepsOfASimulationGiveTheBitsOfSingleEvaluations) {
  for (Precision precision : {Precision::fp32, Precision::fp64}) {
    expect_steps_like_single_evaluations(GetParam(), precision, boxed_ethanol(), 30);
  }
}

TEST(Simulation, OfWaterGivesTheBitsOfSingleEvaluations) {
  const int steps = kOnGpu ? 24 : 3;
  expect_steps_like_single_evaluations("trine-mini", Precision::fp32,
                                       reference_structure("water192"), steps);
}

TEST_P(Properties, AnAtomThatCrossesTheCutoffMakesNoJump) {
  auto model = load(GetParam());
  Structure s = reference_structure("h2o");
  s.species.push_back(s.species[1]);
  s.positions.push_back({});
  const double reach = model.info().cutoff, step = 0.001;
  Result before;
  for (int k = 0; k <= 40; ++k) {
    s.positions[3] = {s.positions[0][0] + reach - 0.02 + step * k, s.positions[0][1],
                      s.positions[0][2]};
    const Result now = model.evaluate(s);
    if (k > 0) {
      const double work = step * (before.forces[3][0] + now.forces[3][0]) / 2;
      EXPECT_TRUE(std::abs(now.energy - before.energy + work) < 2e-5) << "step " << k;
    }
    before = now;
  }
}

TEST_P(Properties, DistantAtomsAreIndependent) {
  auto model = load(GetParam());
  const Structure one = reference_structure("isolated_atom");
  Structure three = one;
  for (double shift : {200.0, -300.0}) {
    three.species.push_back(one.species[0]);
    three.positions.push_back({shift, 0, 0});
  }
  const Result a = model.evaluate(one), b = model.evaluate(three);
  EXPECT_EQ(a.num_neighbors[0], 0);
  EXPECT_EQ(largest(flat(a.forces)), 0);
  for (double e : b.energies) EXPECT_EQ(e, a.energies[0]);
}

TEST_P(Properties, SmallestSystems) {
  auto model = load(GetParam());
  const Result none = model.evaluate(Structure{});
  EXPECT_EQ(none.energy, 0);
  EXPECT_TRUE(none.forces.empty());
  EXPECT_FALSE(none.stress.has_value());

  Structure crystal = reference_structure("isolated_atom");
  crystal.pbc = {true, true, true};
  crystal.cell = {{{0, 1.9, 1.9}, {1.9, 0, 1.9}, {1.9, 1.9, 0}}};
  const Result r = model.evaluate(crystal);
  EXPECT_GT(r.num_neighbors[0], 0);
  EXPECT_TRUE(largest(flat(r.forces)) <= 1e-12 * std::max(1.0, largest(flat(r.strain_gradient))));
  EXPECT_GT(largest(flat(*r.stress)), 0);

  const std::vector<Structure> with_empty = {Structure{}, crystal, Structure{}};
  const auto results = model.evaluate(std::span<const Structure>(with_empty));
  expect_same(results[1], r, "between empty frames");
}

TEST(Refused, AtomsAtTheSamePlace) {
  auto model = load("solver");
  Structure s = boxed_ethanol();
  s.positions[4] = s.positions[2];
  s.positions[4][0] += 2 * s.cell[0][0];  // an image of the other atom
  const std::vector<Structure> batch = {reference_structure("h2o"), s};
  try {
    model.evaluate(std::span<const Structure>(batch));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::bad_input);
    EXPECT_NE(std::string(e.what()).find("atoms 3 and 5 are at the same place"), std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace trine::test
