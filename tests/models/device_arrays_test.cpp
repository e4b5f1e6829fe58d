// Evaluations from arrays of the caller to arrays of the caller: the bits of ordinary ones, in
// whatever order both come.
#include <cstring>
#include <limits>

#include "models/test_options.hpp"
#include "reference.hpp"
#include "tensor/transfer.hpp"
#include "trine/error.hpp"

namespace trine::test {
namespace {

constexpr MemSpace kSpace = kOnGpu ? MemSpace::device : MemSpace::host;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A caller's array, on the device of the models here.
class Array {
 public:
  explicit Array(const std::vector<double>& values) { upload(values, buffer_); }
  explicit Array(std::size_t size) : Array(std::vector<double>(size, kNaN)) {}

  double* data() const { return buffer_.data(); }
  std::vector<double> values() const { return download(buffer_.const_view()); }

 private:
  Buffer<double, kSpace> buffer_;
};

struct Outputs {
  Array energy, energies, forces, strain_gradient;

  Outputs(std::size_t atoms, std::size_t structures)
      : energy(structures), energies(atoms), forces(3 * atoms), strain_gradient(9 * structures) {}

  DeviceArrays arrays() const {
    return {.energy = energy.data(),
            .energies = energies.data(),
            .forces = forces.data(),
            .strain_gradient = strain_gradient.data()};
  }
};

std::vector<double> all(const std::vector<Result>& results, auto&& part) {
  std::vector<double> values;
  for (const Result& r : results) {
    const std::vector<double> more = part(r);
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

std::size_t count_atoms(const std::vector<Structure>& structures) {
  std::size_t count = 0;
  for (const Structure& s : structures) count += s.size();
  return count;
}

std::vector<double> positions_of(const std::vector<Structure>& structures) {
  std::vector<double> values;
  for (const Structure& s : structures) {
    const auto more = flat(s.positions);
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

void expect_same(const Outputs& out, const std::vector<Result>& results) {
  EXPECT_EQ(out.energy.values(),
            all(results, [](const Result& r) { return std::vector{r.energy}; }));
  EXPECT_EQ(out.energies.values(), all(results, [](const Result& r) { return r.energies; }));
  EXPECT_EQ(out.forces.values(), all(results, [](const Result& r) { return flat(r.forces); }));
  EXPECT_EQ(out.strain_gradient.values(),
            all(results, [](const Result& r) { return flat(r.strain_gradient); }));
}

/// Three structures, one of them without atoms.
std::vector<Structure> batch() {
  return {reference_structure("ethanol_boxed"), Structure{}, reference_structure("h2o")};
}

/// The same atoms elsewhere.
std::vector<Structure> moved(std::vector<Structure> structures, double by) {
  for (Structure& s : structures) {
    for (std::size_t i = 0; i < s.size(); ++i) s.positions[i][i % 3] += i % 2 == 0 ? by : -by;
  }
  return structures;
}

Model load(const std::string& model, Precision precision = Precision::fp32) {
  EngineOptions options = test_options();
  options.precision = precision;
  options.threads = 2;
  return Model::load(model_path(model), options);
}

class DeviceArraysOf : public testing::TestWithParam<std::string> {};
// Adaptive and fixed cutoffs, conditioning, repulsion that the host adds, a trained model.
INSTANTIATE_TEST_SUITE_P(Models, DeviceArraysOf,
                         testing::Values("solver", "fixed_cosine", "conditioned", "zbl", "mini"));

TEST_P(DeviceArraysOf, HoldTheBitsOfResults) {
  for (Precision precision : {Precision::fp32, Precision::fp64}) {
    auto model = load(GetParam() == "mini" ? "trine-mini" : GetParam(), precision);
    const auto start = batch();
    for (double by : {0.0, 0.01, 0.02, 0.4}) {
      const auto now = moved(start, by);
      const Array positions(positions_of(now));
      const Outputs out(count_atoms(now), now.size());
      DeviceArrays arrays = out.arrays();
      arrays.positions = positions.data();
      model.evaluate_on_device(start, arrays);
      expect_same(out, model.evaluate(std::span<const Structure>(now)));
      EXPECT_EQ(positions.values(), positions_of(now)) << "inputs stay as they are";
    }
  }
}

TEST(DeviceArrays, CellsComeFromTheDevice) {
  for (const char* name : {"solver", "zbl"}) {
    auto model = load(name);
    const std::vector<Structure> start = {reference_structure("ethanol_boxed"),
                                          reference_structure("h2o")};
    auto now = start;
    for (auto& row : now[0].cell) {
      for (double& x : row) x *= 0.9;
    }
    std::vector<double> rows = flat(now[0].cell);
    for (int k = 0; k < 9; ++k) rows.push_back(1 + k % 4);  // of no use to a molecule in vacuum
    const Array cells(rows);
    const Outputs out(count_atoms(now), now.size());
    DeviceArrays arrays = out.arrays();
    arrays.cells = cells.data();
    model.evaluate_on_device(start, arrays);
    expect_same(out, model.evaluate(std::span<const Structure>(now)));
  }
}

TEST(DeviceArrays, WhatIsNotWantedIsNotWritten) {
  for (const char* name : {"solver", "zbl"}) {
    auto model = load(name);
    const auto structures = batch();
    const auto expected = model.evaluate(std::span<const Structure>(structures));
    const Outputs full(count_atoms(structures), structures.size());
    model.evaluate_on_device(structures, full.arrays());
    for (int wanted = 0; wanted < 16; ++wanted) {
      const Outputs out(count_atoms(structures), structures.size());
      DeviceArrays arrays = out.arrays();
      if (!(wanted & 1)) arrays.energy = nullptr;
      if (!(wanted & 2)) arrays.energies = nullptr;
      if (!(wanted & 4)) arrays.forces = nullptr;
      if (!(wanted & 8)) arrays.strain_gradient = nullptr;
      model.evaluate_on_device(structures, arrays);
      const auto check = [&](bool is_wanted, const Array& array, const Array& reference) {
        for (const double x : array.values()) EXPECT_EQ(std::isnan(x), !is_wanted) << wanted;
        if (!is_wanted) return;
        EXPECT_EQ(array.values(), reference.values()) << wanted;
      };
      check(wanted & 1, out.energy, full.energy);
      check(wanted & 2, out.energies, full.energies);
      check(wanted & 4, out.forces, full.forces);
      check(wanted & 8, out.strain_gradient, full.strain_gradient);
    }
    expect_same(full, expected);
  }
}

/// Whatever else is wanted, and nothing else.
TEST(DeviceArrays, DirectForcesAreThoseOfResults) {
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    auto model = load("direct_heads", precision);
    const auto structures = batch();
    const auto expected = model.evaluate(std::span<const Structure>(structures), {.direct = true});
    const auto direct = all(expected, [](const Result& r) { return flat(r.direct_forces); });
    ASSERT_GT(largest(direct), 0);
    for (int turn = 0; turn < 3; ++turn) {
      for (const bool alone : {true, false}) {
        const Outputs out(count_atoms(structures), structures.size());
        const Array forces(3 * count_atoms(structures));
        DeviceArrays arrays;
        if (!alone) arrays = out.arrays();
        arrays.direct_forces = forces.data();
        model.evaluate_on_device(structures, arrays);
        EXPECT_EQ(forces.values(), direct);
        if (!alone) expect_same(out, expected);
      }
    }
  }
}

TEST(DeviceArrays, NothingAtAll) {
  auto model = load("solver");
  const Outputs out(0, 0);
  model.evaluate_on_device({}, out.arrays());
  const std::vector<Structure> empty(2);
  const Outputs two(0, 2);
  model.evaluate_on_device(empty, two.arrays());
  EXPECT_EQ(two.energy.values(), (std::vector<double>{0, 0}));
  EXPECT_EQ(two.strain_gradient.values(), std::vector<double>(18));
}

void expect_refused(Model& model, const std::vector<Structure>& structures,
                    const DeviceArrays& arrays, ErrorCode code, const std::string& text) {
  try {
    model.evaluate_on_device(structures, arrays);
    FAIL() << "accepted, instead of: " << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

TEST(DeviceArrays, BadPositionsAreRefusedAndTheNextCallIsRight) {
  for (const char* name : {"solver", "zbl"}) {
    auto model = load(name);
    const auto structures = batch();
    const Outputs out(count_atoms(structures), structures.size());
    auto together = structures;
    together[0].positions[4] = together[0].positions[2];
    const Array same(positions_of(together));
    DeviceArrays arrays = out.arrays();
    arrays.positions = same.data();
    expect_refused(model, structures, arrays, ErrorCode::bad_input,
                   "atoms 3 and 5 are at the same place");
    together[0].positions[4][1] = kNaN;
    const Array none(positions_of(together));
    arrays.positions = none.data();
    expect_refused(model, structures, arrays, ErrorCode::bad_input, "finite");
    arrays.positions = nullptr;
    model.evaluate_on_device(structures, arrays);
    expect_same(out, model.evaluate(std::span<const Structure>(structures)));
  }
}

TEST(DeviceArrays, DirectForcesNeedAHead) {
  for (const char* name : {"solver", "zbl"}) {
    auto model = load(name);
    const std::vector<Structure> structures = {reference_structure("h2o")};
    const Array forces(9);
    expect_refused(model, structures, {.direct_forces = forces.data()}, ErrorCode::not_supported,
                   "no head");
  }
}

TEST(DeviceArrays, StreamsAndMemoryOfOtherDevicesAreRefused) {
  auto model = load("solver");
  const std::vector<Structure> structures = {reference_structure("h2o")};
  std::vector<double> forces(9);
  if (kOnGpu) {
    expect_refused(model, structures, {.forces = forces.data()}, ErrorCode::usage,
                   "forces are not in memory that a GPU can reach");
  } else {
    expect_refused(model, structures, {.forces = forces.data(), .stream = &model}, ErrorCode::usage,
                   "stream");
  }
}

TEST(DeviceArrays, AheadIsTheOrdinaryCallOnACpu) {
  if (kOnGpu) GTEST_SKIP() << "tests/cuda/evaluate_ahead_test.cpp";
  for (const char* name : {"solver", "zbl"}) {
    auto model = load(name);
    EXPECT_TRUE(model.can_evaluate_ahead());
    const auto structures = moved(batch(), 0.1);
    const Array positions(positions_of(structures));
    const Outputs out(count_atoms(structures), structures.size());
    DeviceArrays arrays = out.arrays();
    arrays.positions = positions.data();
    int halted = 0;
    model.evaluate_ahead(batch(), arrays, &halted);
    EXPECT_EQ(halted, 0);
    expect_same(out, model.evaluate(std::span<const Structure>(structures)));
  }
}

TEST(ListStatistics, CountSearches) {
  auto model = load("solver");
  const Structure s = reference_structure("ethanol_boxed");
  const int calls = 5;
  for (int k = 0; k < calls; ++k) {
    model.evaluate(s);
    EXPECT_GT(model.list_statistics().seconds, 0);
  }
  // A GPU searches twice, the second time further, and keeps that list.
  EXPECT_EQ(model.list_statistics().searches, kOnGpu ? 2 : calls);
}

}  // namespace
}  // namespace trine::test
