#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "atoms/text_structures.hpp"
#include "trine/error.hpp"

namespace trine {
namespace {

using testing::expect_same;
using testing::read_text;
using testing::written;

Structure carbon_monoxide() {
  Structure s;
  s.species = {6, 8};
  s.positions = {Vec3{0, -0.5, 1e-7}, Vec3{0.1, 1.0 / 3.0, 1.128}};
  return s;
}

TEST(ExtxyzWrite, Plain) {
  EXPECT_EQ(written(carbon_monoxide()),
            "2\nProperties=species:S:1:pos:R:3 pbc=\"F F F\"\n"
            "C 0.0 -0.5 1e-07\nO 0.1 0.3333333333333333 1.128\n");
}

TEST(ExtxyzWrite, WithEverything) {
  Structure s = carbon_monoxide();
  s.cell = {Vec3{4, 0, 0}, Vec3{0.5, 4, 0}, Vec3{0, 0, 20}};
  s.pbc = {true, true, false};
  s.charge = -1;
  s.spin_multiplicity = 2;
  s.extra_info = {{"name", "two words"}, {"energy", "5"}, {"Virial", "1 2 3"}, {"mark", "old"}};
  s.extra_columns = {{"tags", 'I', 1, {"1", "2"}},
                     {"forces", 'R', 3, {"1", "1", "1", "1", "1", "1"}}};
  FrameResults r;
  r.energy = -14.5;
  r.forces = {Vec3{0.25, 0, 0}, Vec3{-0.25, 0, 0}};
  r.stress = Mat3{Vec3{1, 0.5, 0}, Vec3{0.5, 2, 0}, Vec3{0, 0, 3}};
  r.info = {{"mark", "new one"}, {"energy_uncertainty", "0.125"}};
  EXPECT_EQ(written(s, r),
            "2\nLattice=\"4.0 0.0 0.0 0.5 4.0 0.0 0.0 0.0 20.0\" "
            "Properties=species:S:1:pos:R:3:tags:I:1:forces:R:3 name=\"two words\" charge=-1 "
            "spin_multiplicity=2 energy=-14.5 free_energy=-14.5 "
            "stress=\"1.0 0.5 0.0 0.5 2.0 0.0 0.0 0.0 3.0\" mark=\"new one\" "
            "energy_uncertainty=0.125 pbc=\"T T F\"\n"
            "C 0.0 -0.5 1e-07 1 0.25 0.0 0.0\n"
            "O 0.1 0.3333333333333333 1.128 2 -0.25 0.0 0.0\n");
}

TEST(ExtxyzWrite, NewResultsReplaceAllOldOnes) {
  const auto frame = read_text(
      "1\nProperties=species:S:1:pos:R:3:force:R:3:momenta:R:3:energies:R:1 energy=1 free_energy=1 "
      "stress=\"1 2 3 4 5 6 7 8 9\" virial=\"1 2 3 4 5 6 7 8 9\" dft_energy=2\n"
      "H 0 0 0 1 1 1 2 2 2 5\n")[0];
  FrameResults energy_only;
  energy_only.energy = -1.5;
  EXPECT_EQ(written(frame, energy_only),
            "1\nProperties=species:S:1:pos:R:3:momenta:R:3 dft_energy=2 energy=-1.5 "
            "free_energy=-1.5 pbc=\"F F F\"\nH 0.0 0.0 0.0 2 2 2\n");
  expect_same(read_text(written(frame))[0], frame);  // without results nothing is dropped
}

TEST(ExtxyzWrite, FramesFollowEachOther) {
  std::ostringstream out;
  write_extxyz(out, carbon_monoxide());
  write_extxyz(out, Structure{});
  write_extxyz(out, carbon_monoxide());
  const auto frames = read_text(out.str());
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[1].size(), 0U);
  expect_same(frames[2], carbon_monoxide());
}

/// Text of letters that mean something to the parser.
std::string random_text(std::mt19937& random, int longest) {
  const std::vector<std::string> pieces = {"a",        "T", "7", "-1.5", "\"", "'",  "{",
                                           "}",        "[", "]", "=",    "\\", "\n", ",",
                                           "\xc3\xa9", "n", "_", "#",    ":",  "\t"};
  std::string text;
  const auto length = random() % static_cast<unsigned>(longest);
  for (unsigned i = 0; i < length; ++i) text += pieces[random() % pieces.size()];
  return text;
}

TEST(ExtxyzWrite, AnyKeyAndValueSurvives) {
  std::mt19937 random(3);
  for (int i = 0; i < 5'000; ++i) {
    Structure s = carbon_monoxide();
    s.extra_info = {{random_text(random, 5).append("k"), random_text(random, 12)},
                    {"last", random_text(random, 3)}};
    // A value of white space alone reads back as empty.
    for (auto& [key, value] : s.extra_info) {
      if (value.find_first_not_of(" \t\n") == std::string::npos) value.clear();
    }
    const std::string text = written(s);
    expect_same(read_text(text)[0], s);
    if (HasFailure()) FAIL() << text;
  }
}

struct BadCall {
  const char* says;
  std::function<void(Structure&, FrameResults&)> spoil;
};

const BadCall kBad[] = {
    {"2 species but 1 positions", [](auto& s, auto&) { s.positions.pop_back(); }},
    {"coordinate y of atom 1", [](auto& s, auto&) { s.positions[0][1] = 1.0 / 0.0; }},
    {"1 forces for 2 atoms", [](auto&, auto& r) { r.forces = {Vec3{}}; }},
    {"not finite", [](auto&, auto& r) { r.energy = std::numeric_limits<double>::quiet_NaN(); }},
    {"not finite",
     [](auto&, auto& r) {
       r.forces = {Vec3{}, Vec3{0, 1.0 / 0.0, 0}};
     }},
    {"not finite",
     [](auto&, auto& r) {
       r.stress = Mat3{Vec3{0, 0, -1.0 / 0.0}};
     }},
    {"key \"Lattice\" cannot be kept",
     [](auto& s, auto&) {
       s.extra_info = {{"Lattice", "1"}};
     }},
    {"key \"\" cannot be kept",
     [](auto& s, auto&) {
       s.extra_info = {{"", "1"}};
     }},
    {"column name \"a b\" cannot be written",
     [](auto& s, auto&) {
       s.extra_columns = {{"a b", 'S', 1, {"x", "y"}}};
     }},
    {"column name \"a:b\" cannot be written",
     [](auto& s, auto&) {
       s.extra_columns = {{"a:b", 'S', 1, {"x", "y"}}};
     }},
    {"column pos would be written twice",
     [](auto& s, auto&) {
       s.extra_columns = {{"pos", 'S', 1, {"x", "y"}}};
     }},
    {"column a has type 'Q'",
     [](auto& s, auto&) {
       s.extra_columns = {{"a", 'Q', 1, {"x", "y"}}};
     }},
    {"column a cannot be written",
     [](auto& s, auto&) {
       s.extra_columns = {{"a", 'S', 1, {"x", ""}}};
     }},
    {"column a cannot be written",
     [](auto& s, auto&) {
       s.extra_columns = {{"a", 'S', 1, {"x", "y z"}}};
     }},
    {"column a holds 1 entries",
     [](auto& s, auto&) {
       s.extra_columns = {{"a", 'S', 1, {"x"}}};
     }},
};

TEST(ExtxyzWrite, RefusesWhatCannotBeReadBack) {
  for (const BadCall& row : kBad) {
    Structure structure = carbon_monoxide();
    FrameResults results;
    row.spoil(structure, results);
    try {
      written(structure, results);
      ADD_FAILURE() << "no error: " << row.says;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(error.what()).find(row.says), std::string::npos) << error.what();
    }
  }
}

TEST(ExtxyzWrite, AFullDiskIsAnError) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THROW(write_extxyz(out, carbon_monoxide()), Error);
}

}  // namespace
}  // namespace trine
