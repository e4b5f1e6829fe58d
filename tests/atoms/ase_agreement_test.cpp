// What ASE read from the same files, and from a file that trine wrote; see data/README.md.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "atoms/number_text.hpp"
#include "atoms/text_structures.hpp"
#include "paths.hpp"

namespace trine {
namespace {

using nlohmann::json;
using testing::written;

const std::string kFolder = test::data_folder() + "/structures/";

json expected() {
  std::ifstream file(kFolder + "expected.json");
  return json::parse(file);
}

std::string file_text(const std::string& name) {
  std::ifstream file(kFolder + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Rows of three numbers, equal to a few roundings (ASE goes through fractional coordinates).
void expect_rows(const json& rows, const std::vector<Vec3>& found) {
  ASSERT_EQ(rows.size(), found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double want = rows[i][k].get<double>();
      if (!(std::abs(found[i][k] - want) <= 1e-14 * std::max(1.0, std::abs(want)))) {
        ADD_FAILURE() << "row " << i << ", column " << k << ": " << found[i][k] << ", not " << want;
      }
    }
  }
}

/// A kept key against ASE's reading of it: as text, where that has one form only.
void expect_info(const json& want, const std::string& found) {
  if (want.is_string()) {
    EXPECT_EQ(found, want.get<std::string>());
  } else if (want.is_boolean()) {
    EXPECT_EQ(found, want.get<bool>() ? "T" : "F");
  } else if (want.is_number()) {
    EXPECT_EQ(atoms::parse_real(found), want.get<double>());
  }
}

class AseAgreement : public ::testing::TestWithParam<std::string> {};

TEST_P(AseAgreement, SameStructures) {
  const json frames = expected().at(GetParam());
  const auto found = read_structures(kFolder + GetParam());
  ASSERT_EQ(found.size(), frames.size());
  for (std::size_t f = 0; f < found.size(); ++f) {
    SCOPED_TRACE(found[f].source);
    EXPECT_EQ(found[f].species, frames[f].at("numbers").get<std::vector<int>>());
    expect_rows(frames[f].at("positions"), found[f].positions);
    expect_rows(frames[f].at("cell"), {found[f].cell.begin(), found[f].cell.end()});
    EXPECT_EQ(found[f].pbc, (frames[f].at("pbc").get<std::array<bool, 3>>()));
    for (const auto& [key, value] : found[f].extra_info) {
      const json& info = frames[f].at("info");
      if (info.contains(key)) expect_info(info[key], value);
    }
    for (const ExtraColumn& column : found[f].extra_columns) {
      const json& arrays = frames[f].at("arrays");
      if (!arrays.contains(column.name)) continue;
      const json flat = arrays[column.name].flatten();
      ASSERT_EQ(flat.size(), column.tokens.size()) << column.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, AseAgreement,
                         ::testing::Values("frames.xyz", "full.data", "labels.data",
                                           "selective.poscar", "three_factors.vasp",
                                           "volume.poscar", "written.xyz"),
                         [](const auto& row) {
                           std::string name = row.param;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

TEST(AseCrossCheck, FixedAtomsOfAPoscar) {
  const auto frame = read_structures(kFolder + "selective.poscar").at(0);
  ASSERT_EQ(frame.extra_columns.size(), 1U);
  EXPECT_EQ(frame.extra_columns[0].name, "move_mask");
  EXPECT_EQ(frame.extra_columns[0].width, 1);
  EXPECT_EQ(frame.extra_columns[0].tokens, (std::vector<std::string>{"F", "F", "T", "T"}));
}

FrameResults results_for(const Structure& s, double seed) {
  FrameResults r;
  r.energy = -seed / 3.0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto x = static_cast<double>(i) + seed;
    r.forces.push_back({std::sqrt(x), -1e-6 * x, x});
  }
  r.stress = Mat3{Vec3{seed, 0.25, 0.5}, Vec3{0.25, -0.125, 1e-5}, Vec3{0.5, 1e-5, 3}};
  r.info = {{"energy_uncertainty", "0.015625"}, {"remark", "made by trine"}};
  return r;
}

// written.xyz is what trine writes for frames.xyz; ASE's reading of it must be what was written.
TEST(AseCrossCheck, AseReadsWhatTrineWrites) {
  const json frames = expected().at("written.xyz");
  const auto read = read_structures(kFolder + "frames.xyz");
  std::string text;
  for (std::size_t f = 0; f < read.size(); ++f) {
    SCOPED_TRACE(read[f].source);
    const FrameResults r = results_for(read[f], static_cast<double>(f) + 1);
    text += written(read[f], r);
    const json& results = frames.at(f).at("results");
    EXPECT_EQ(results.at("energy").get<double>(), *r.energy);
    EXPECT_EQ(results.at("free_energy").get<double>(), *r.energy);
    if (read[f].size() > 0) {
      EXPECT_EQ(results.at("forces").get<std::vector<Vec3>>(), r.forces);
    }
    const Mat3& s = *r.stress;
    EXPECT_EQ(results.at("stress").get<std::vector<double>>(),
              (std::vector<double>{s[0][0], s[1][1], s[2][2], s[1][2], s[0][2], s[0][1]}));
    EXPECT_EQ(frames[f].at("info").at("remark"), "made by trine");
    EXPECT_EQ(frames[f].at("positions").get<std::vector<Vec3>>(), read[f].positions);
  }
  EXPECT_EQ(text, file_text("written.xyz"));
}

// What ASE makes of keys, columns and constraints is the same before and after.
TEST(AseCrossCheck, NothingIsLostOnTheWay) {
  const json before = expected().at("frames.xyz");
  const json after = expected().at("written.xyz");
  for (std::size_t f = 0; f < before.size(); ++f) {
    for (const auto& [key, value] : before[f].at("info").items()) {
      EXPECT_EQ(after[f].at("info").at(key), value) << key;
    }
    EXPECT_EQ(before[f].at("arrays"), after[f].at("arrays"));
    EXPECT_EQ(before[f].at("fixed"), after[f].at("fixed"));
    EXPECT_EQ(before[f].at("cell"), after[f].at("cell"));
    EXPECT_EQ(before[f].at("pbc"), after[f].at("pbc"));
  }
}

}  // namespace
}  // namespace trine
