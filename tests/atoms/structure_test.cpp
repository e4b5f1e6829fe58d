#include "trine/structure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "atoms/elements.hpp"
#include "trine/error.hpp"

namespace trine {
namespace {

TEST(Elements, SymbolsAndNumbersAreInverseInAnyLetterCase) {
  for (int z = 1; z <= 118; ++z) {
    std::string symbol = element_symbol(z);
    EXPECT_EQ(atomic_number(symbol), z);
    for (char& c : symbol) c = static_cast<char>(std::toupper(c));
    EXPECT_EQ(atomic_number(symbol), z) << symbol;
    for (char& c : symbol) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(atomic_number(symbol), z) << symbol;
  }
  EXPECT_EQ(element_symbol(26), "Fe");
  EXPECT_EQ(element_symbol(118), "Og");
  for (const char* text : {"", "X", "Xx", "Fe2", "8", "D", " O", "\xc3\xa9"}) {
    EXPECT_EQ(atomic_number(text), 0) << text;
  }
  EXPECT_THROW(element_symbol(0), Error);
  EXPECT_THROW(element_symbol(119), Error);
  EXPECT_THROW(element_symbol(-1), Error);
}

TEST(Elements, TextMayBeASymbolOrANumber) {
  EXPECT_EQ(atoms::element_from_text("cl"), 17);
  EXPECT_EQ(atoms::element_from_text("17"), 17);
  for (const char* text : {"0", "119", "-8", "8.0", "O1", "CL2"}) {
    EXPECT_EQ(atoms::element_from_text(text), 0) << text;
  }
}

TEST(Elements, MassesFindTheirElement) {
  for (int z = 1; z <= 118; ++z) {
    const double mass = atoms::standard_mass(z);
    EXPECT_EQ(atoms::element_from_mass(mass, 0.05), mass > 0 ? z : 0) << element_symbol(z);
  }
  EXPECT_EQ(atoms::element_from_mass(15.9994, 0.05), 8);
  EXPECT_EQ(atoms::element_from_mass(12.0107, 0.05), 6);
  EXPECT_EQ(atoms::element_from_mass(17.5, 0.05), 0);
  EXPECT_EQ(atoms::element_from_mass(0, 0.05), 0);
  EXPECT_EQ(atoms::element_from_mass(std::nan(""), 0.05), 0);
}

TEST(Cell, VolumeHasNoSign) {
  EXPECT_DOUBLE_EQ(cell_volume({Vec3{2, 0, 0}, Vec3{1, 3, 0}, Vec3{5, 7, 4}}), 24);
  EXPECT_DOUBLE_EQ(cell_volume({Vec3{1, 3, 0}, Vec3{2, 0, 0}, Vec3{5, 7, 4}}), 24);
  EXPECT_EQ(cell_volume({}), 0);
}

Structure water() {
  Structure s;
  s.species = {8, 1, 1};
  s.positions = {Vec3{0, 0, 0}, Vec3{0.9, 0, 0}, Vec3{0, 0.9, 0}};
  s.cell = {Vec3{5, 0, 0}, Vec3{0, 5, 0}, Vec3{0, 0, 5}};
  s.pbc = {true, true, true};
  s.source = "water.xyz, frame 2";
  return s;
}

TEST(Validate, AcceptsLegalOddities) {
  EXPECT_NO_THROW(validate(Structure{}));
  EXPECT_NO_THROW(validate(water()));
  Structure left_handed = water();
  std::swap(left_handed.cell[0], left_handed.cell[1]);
  EXPECT_NO_THROW(validate(left_handed));
  Structure needle = water();
  needle.cell[0] = {1e-3, 0, 0};
  needle.cell[1] = {0.99, 1e-5, 0};
  EXPECT_NO_THROW(validate(needle));
  Structure slab = water();  // open directions may have any row, also zero or parallel ones
  slab.pbc = {true, true, false};
  slab.cell[2] = slab.cell[1];
  EXPECT_NO_THROW(validate(slab));
  slab.cell[2] = {};
  EXPECT_NO_THROW(validate(slab));
}

struct BadStructure {
  const char* name;
  std::function<void(Structure&)> spoil;
  std::vector<std::string> says;
};

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

const BadStructure kBad[] = {
    {"sizes", [](Structure& s) { s.positions.pop_back(); }, {"3 species but 2 positions"}},
    {"nan", [](Structure& s) { s.positions[1][2] = kNan; }, {"coordinate z of atom 2 of 3"}},
    {"inf", [](Structure& s) { s.positions[2][0] = -kInf; }, {"coordinate x of atom 3", "-inf"}},
    {"zero element", [](Structure& s) { s.species[2] = 0; }, {"atom 3 of 3", "atomic number 0"}},
    {"element 119", [](Structure& s) { s.species[0] = 119; }, {"atom 1 of 3", "119"}},
    {"nan cell", [](Structure& s) { s.cell[1][1] = kNan; }, {"row 2 is not finite"}},
    {"inf open cell",
     [](Structure& s) {
       s.pbc = {};
       s.cell[2][1] = kInf;
     },
     {"row 3 is not finite"}},
    {"zero row", [](Structure& s) { s.cell[0] = {}; }, {"row 1 is zero but periodic"}},
    {"no cell", [](Structure& s) { s.cell = {}; }, {"row 1 is zero"}},
    {"parallel",
     [](Structure& s) {
       s.pbc[1] = false;
       s.cell[2] = {-7, 0, 0};
     },
     {"rows 1 and 3 are parallel"}},
    {"flat",
     [](Structure& s) {
       s.cell[2] = {3, 4, 0};
     },
     {"rows 1, 2 and 3 lie in one plane"}},
    {"column",
     [](Structure& s) {
       s.extra_columns = {{"tags", 'I', 2, {"1", "2"}}};
     },
     {"column tags holds 2", "3 atoms times width 2"}},
};

TEST(Validate, NamesWhatIsWrong) {
  for (const BadStructure& row : kBad) {
    Structure structure = water();
    row.spoil(structure);
    try {
      validate(structure);
      ADD_FAILURE() << row.name << ": no error";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(error.code(), ErrorCode::bad_input) << row.name;
      EXPECT_EQ(message.rfind("water.xyz, frame 2: ", 0), 0U) << message;
      for (const std::string& part : row.says) {
        EXPECT_NE(message.find(part), std::string::npos) << row.name << ": " << message;
      }
    }
  }
}

}  // namespace
}  // namespace trine
