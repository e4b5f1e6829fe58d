// POSCAR and LAMMPS data files in the forms that the ASE cross-check does not cover.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "atoms/text_structures.hpp"

namespace trine {
namespace {

using testing::read_text;
using Words = std::vector<std::string>;

std::string with_crlf(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\r\n" : std::string(1, c);
  return out;
}

Structure poscar(const std::string& third_row, const std::string& rest) {
  return read_text("c\n1.0\n4 0 0\n0 4 0\n" + third_row + "\n" + rest, "POSCAR").at(0);
}

struct Flags {
  const char* third_row;
  const char* atoms;
  const char* column;  // none: everything may move
  int width;
  Words tokens;
};

TEST(Poscar, SelectiveDynamics) {
  const Flags rows[] = {
      {"0 0 4", "0 0 0 T T T\n0 0 .5 T T T\n", "", 0, {}},
      {"1 0 4", "0 0 0 F F F\n0 0 .5 .TRUE. t T\n", "move_mask", 1, {"F", "T"}},
      {"0 0 4", "0 0 0 T T F\n0 0 .5 T T T\n", "move_mask", 3, {"T", "T", "F", "T", "T", "T"}},
      {"1 0 4",
       "0 0 0 T T F\n0 0 .5 T T T\n",
       "selective_dynamics",
       3,
       {"T", "T", "F", "T", "T", "T"}}};
  for (const Flags& row : rows) {
    const Structure s =
        poscar(row.third_row, std::string("O\n2\nSelective dynamics\nDirect\n") + row.atoms);
    if (row.width == 0) {
      EXPECT_TRUE(s.extra_columns.empty());
      continue;
    }
    ASSERT_EQ(s.extra_columns.size(), 1U);
    EXPECT_EQ(s.extra_columns[0].name, row.column);
    EXPECT_EQ(s.extra_columns[0].width, row.width);
    EXPECT_EQ(s.extra_columns[0].type, 'L');
    EXPECT_EQ(s.extra_columns[0].tokens, row.tokens);
  }
}

TEST(Poscar, WhatMayFollowThePositions) {
  for (const char* tail : {"", "\n", "\n0 0 0\n", "Cartesian\n0 0 0.1\n",
                           "Lattice velocities and vectors\n1\n0 0 0\n", "  \n junk"}) {
    EXPECT_EQ(poscar("0 0 4", std::string("O\n1\nDirect\n0 0 0\n") + tail).size(), 1U) << tail;
  }
}

TEST(Poscar, RemarksLettersAndLineEnds) {
  const std::string text =
      "c\n 2.0 ! scale\n2 0 0 a\n0 2 0\n0 0 2\nfe_GW cl/abc ! remark\n1 1 ! counts\nkartesian\n"
      "0.25 0 0\n0 0.25 0 Cl\n";
  for (const std::string& form : {text, with_crlf(text)}) {
    const Structure s = read_text(form, "POSCAR")[0];
    EXPECT_EQ(s.species, (std::vector<int>{26, 17}));
    EXPECT_EQ(s.positions, (std::vector<Vec3>{{0.5, 0, 0}, {0, 0.5, 0}}));
    EXPECT_EQ(s.cell[0], (Vec3{4, 0, 0}));
  }
}

const std::string kHead = "head\n 2 atoms # two\n3 bonds\n2 atom types\n0 extra bond per atom\n";
const std::string kBox = "-1 4 xlo xhi\n0 5 ylo yhi\n0 6 zlo zhi\n";
const std::string kMasses = "\nMasses\n\n1 16.0 # O oxygen\n\n2 1.01\n";

TEST(LammpsData, StylesByNameAndByColumns) {
  const Words sections = {"Atoms # atomic\n\n1 1 0 0 0\n2 2 1 2 3\n",
                          "Atoms\n\n1 1 0 0 0\n2 2 1 2 3\n",
                          "Atoms\n\n1 1 0 0 0 0 0 0\n2 2 1 2 3 0 0 0\n",
                          "Atoms  # charge\n\n1 1 -0.5 0 0 0\n2 2 0.5 1 2 3\n",
                          "Atoms # bond\n\n1 9 1 0 0 0\n2 9 2 1 2 3\n",
                          "Atoms # molecular\n\n2 9 2 1 2 3 # remark\n\n1 9 1 0 0 0\n",
                          "Atoms #full\n\n1 9 1 -0.5 0 0 0\n2 9 2 0.5 1 2 3\n",
                          "Atoms\n\n2 9 2 0.5 1 2 3 0 0 0\n1 9 1 -0.5 0 0 0 0 0 0\n"};
  for (const std::string& section : sections) {
    const std::string text = kHead + kBox + kMasses + "\n" + section;
    for (const std::string& form : {text, with_crlf(text)}) {
      const Structure s = read_text(form, "a.data").at(0);
      EXPECT_EQ(s.species, (std::vector<int>{8, 1})) << section;
      EXPECT_EQ(s.positions, (std::vector<Vec3>{{0, 0, 0}, {1, 2, 3}})) << section;
      EXPECT_EQ(s.cell, (Mat3{Vec3{5, 0, 0}, Vec3{0, 5, 0}, Vec3{0, 0, 6}})) << section;
    }
  }
}

TEST(LammpsData, SectionsInAnyOrder) {
  const std::string atoms = "\nAtoms # atomic\n\n1 1 0 0 0\n2 2 1 2 3\n";
  const std::string other = "\nPair Coeffs # lj/cut\n\n1 0.1 3\n2 0.2 3\n";
  for (const std::string& body :
       {atoms + kMasses + other, other + atoms + "\nVelocities\n\n1 0 0 0\n2 0 0 0\n" + kMasses}) {
    EXPECT_EQ(read_text(kHead + kBox + body, "a.data").at(0).species, (std::vector<int>{8, 1}));
  }
}

TEST(LammpsData, BoxForms) {
  const std::string rest = kMasses + "\nAtoms # atomic\n\n1 1 0 0 0\n2 2 1 2 3 1 -1 2\n";
  const Structure tilted = read_text(kHead + "0.5 -1 2 xy xz yz\n" + kBox + rest, "a.data").at(0);
  EXPECT_EQ(tilted.cell, (Mat3{Vec3{5, 0, 0}, Vec3{0.5, 5, 0}, Vec3{-1, 2, 6}}));
  EXPECT_EQ(tilted.positions[1], (Vec3{1 + 5 - 0.5 - 2, 2 - 5 + 4, 3 + 12}));
  const Structure general = read_text(
      kHead + "1 2 3 avec\n0 4 0 bvec\n-1 0 5 cvec\n0 0 1 abc origin\n" + rest, "a.data")[0];
  EXPECT_EQ(general.cell, (Mat3{Vec3{1, 2, 3}, Vec3{0, 4, 0}, Vec3{-1, 0, 5}}));
}

TEST(LammpsData, ElementsFromLabels) {
  const std::string text = kHead + kBox +
                           "\nAtom Type Labels\n\n1 O\n2 Hw\n\nMasses\n\nO 15.9\nHw 1.008\n"
                           "\nAtoms # atomic\n\n1 O 0 0 0\n2 Hw 1 2 3\n";
  EXPECT_EQ(read_text(text, "a.data").at(0).species, (std::vector<int>{8, 1}));
}

}  // namespace
}  // namespace trine
