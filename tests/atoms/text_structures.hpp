// Structures from text in memory, and comparison of structures.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "atoms/structure_reader.hpp"
#include "trine/structure_io.hpp"

namespace trine::testing {

inline std::vector<Structure> read_text(const std::string& text,
                                        const std::string& name = "test.xyz") {
  std::istringstream in(text);
  return atoms::read_structures_from(in, name, StructureFormat::automatic);
}

inline std::string written(const Structure& structure, const FrameResults& results = {}) {
  std::ostringstream out;
  write_extxyz(out, structure, results);
  return out.str();
}

/// Equal in everything but the source.
inline void expect_same(const Structure& a, const Structure& b) {
  EXPECT_EQ(a.species, b.species);
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.cell, b.cell);
  EXPECT_EQ(a.pbc, b.pbc);
  EXPECT_EQ(a.charge, b.charge);
  EXPECT_EQ(a.spin_multiplicity, b.spin_multiplicity);
  EXPECT_EQ(a.extra_info, b.extra_info);
  ASSERT_EQ(a.extra_columns.size(), b.extra_columns.size());
  for (std::size_t i = 0; i < a.extra_columns.size(); ++i) {
    EXPECT_EQ(a.extra_columns[i].name, b.extra_columns[i].name);
    EXPECT_EQ(a.extra_columns[i].type, b.extra_columns[i].type);
    EXPECT_EQ(a.extra_columns[i].width, b.extra_columns[i].width);
    EXPECT_EQ(a.extra_columns[i].tokens, b.extra_columns[i].tokens);
  }
}

}  // namespace trine::testing
