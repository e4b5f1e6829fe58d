// Relaxations end in the minima, and after the number of steps, that ASE found with the same
// energies: the numbers that ase_relaxation.py has stored.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "models/test_options.hpp"
#include "paths.hpp"
#include "reference.hpp"
#include "trine/relaxation.hpp"
#include "trine/structure_io.hpp"

namespace trine::test {
namespace {

using nlohmann::json;

constexpr double kEnergy = 1e-4;  ///< eV
constexpr double kPlace = 1e-3;   ///< Angstrom

const std::string kFolder = data_folder() + "/relaxation/";

std::string key(const Structure& s, const std::string& name) {
  for (const auto& [its_name, value] : s.extra_info) {
    if (its_name == name) return value;
  }
  return "";
}

RelaxationOptions options_of(const Structure& s, const json& about) {
  const std::string optimizer = key(s, "optimizer"), cell = key(s, "cell");
  RelaxationOptions options;
  options.optimizer = optimizer == "fire2"  ? Optimizer::fire2
                      : optimizer == "fire" ? Optimizer::fire
                                            : Optimizer::lbfgs;
  options.cell = cell == "fixed"       ? CellMotion::fixed
                 : cell == "isotropic" ? CellMotion::isotropic
                                       : CellMotion::full;
  options.fmax = about["fmax"];
  options.max_steps = 2000;
  if (options.cell != CellMotion::fixed) options.pressure = about["pressure"];
  return options;
}

double distance(const Vec3& a, const Vec3& b, const Vec3& shift = {}) {
  return std::hypot(a[0] - b[0] - shift[0], a[1] - b[1] - shift[1], a[2] - b[2] - shift[2]);
}

bool holds_atoms(const Structure& s) {
  return std::any_of(s.extra_columns.begin(), s.extra_columns.end(),
                     [](const ExtraColumn& column) { return column.name == "move_mask"; });
}

/// A crystal of which no atom is held may drift by roundings of its forces: its mean displacement.
Vec3 drift(const Structure& s, const std::vector<Vec3>& minimum) {
  Vec3 mean{};
  if (holds_atoms(s)) return mean;
  for (std::size_t i = 0; i < s.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      mean[c] += (s.positions[i][c] - minimum[i][c]) / static_cast<double>(s.size());
    }
  }
  return mean;
}

void expect_minimum(const RelaxationResult& r, const json& minimum) {
  ASSERT_EQ(r.status, RelaxationStatus::converged) << r.error;
  EXPECT_NEAR(r.energy, minimum["energy"].get<double>(), kEnergy);
  const auto positions = minimum["positions"].get<std::vector<Vec3>>();
  ASSERT_EQ(positions.size(), r.structure.size());
  const Vec3 shift = drift(r.structure, positions);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    EXPECT_LE(distance(r.structure.positions[i], positions[i], shift), kPlace) << "atom " << i + 1;
  }
  const Mat3 cell = minimum["cell"];
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_LE(distance(r.structure.cell[k], cell[k]), kPlace) << "lattice vector " << k + 1;
  }
}

Model load() {
  EngineOptions engine = test_options();
  engine.precision = Precision::fp64;
  engine.threads = 1;
  return Model::load(model_path("trine-mini"), engine);
}

/// Results of all frames; those with the same options are relaxed together.
std::vector<RelaxationResult> relaxed(const std::vector<Structure>& frames, const json& about) {
  Model model = load();
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    groups[key(frames[k], "optimizer") + key(frames[k], "cell")].push_back(k);
  }
  std::vector<RelaxationResult> results(frames.size());
  for (const auto& [name, members] : groups) {
    std::vector<Structure> group;
    for (const std::size_t k : members) group.push_back(frames[k]);
    std::vector<RelaxationResult> found = relax(model, group, options_of(group[0], about));
    for (std::size_t i = 0; i < members.size(); ++i) results[members[i]] = std::move(found[i]);
  }
  return results;
}

TEST(RelaxationMinima, AreThoseThatAseFinds) {
  std::ifstream file(kFolder + "ase_minima.json");
  const json stored = json::parse(file);
  const std::vector<Structure> frames = read_structures(kFolder + "frames.xyz");
  ASSERT_EQ(frames.size(), 20U);
  ASSERT_EQ(stored["minima"].size(), frames.size());
  const std::vector<RelaxationResult> results = relaxed(frames, stored["about"]);
  for (std::size_t k = 0; k < frames.size(); ++k) {
    SCOPED_TRACE("frame " + std::to_string(k + 1));
    const json& minimum = stored["minima"][k];
    expect_minimum(results[k], minimum);
    // FIRE and L-BFGS are the same algorithms there, step by step, where the energy is convex.
    if (key(frames[k], "optimizer") == "fire2" || !minimum["is_convex"].get<bool>()) continue;
    EXPECT_NEAR(static_cast<double>(results[k].steps), minimum["steps"].get<double>(), 1);
  }
}

}  // namespace
}  // namespace trine::test
