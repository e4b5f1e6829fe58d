// Bad structure files: each row is a file and what the message must say.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "atoms/text_structures.hpp"
#include "trine/error.hpp"

namespace trine {
namespace {

using testing::read_text;

struct BadFile {
  const char* what;  // the row's name
  const char* file;  // its name tells the format
  std::string text;
  std::string where;              // how the message starts, after the file name
  std::vector<std::string> says;  // what else it holds
};

const std::string kCell = "Lattice=\"5 0 0 0 5 0 0 0 5\" ";

std::string xyz(const std::string& comment, const std::string& atoms = "O 0 0 0\n") {
  return "1\n" + comment + "\n" + atoms;
}

const BadFile kExtxyz[] = {
    {"empty", "a.xyz", "", ": ", {"no structure", "empty"}},
    {"blank", "a.xyz", "\n \n\t\n", ": ", {"no structure"}},
    {"count is a word", "a.xyz", "many\n\nO 0 0 0\n", ":1:1: ", {"\"many\"", "number of atoms"}},
    {"count is real", "a.xyz", "2.0\n\n", ":1:1: ", {"\"2.0\""}},
    {"count is negative", "a.xyz", "-1\n\n", ":1:1: ", {"\"-1\""}},
    {"count does not fit", "a.xyz", "99999999999999999999\n\n", ":1:1: ", {"number of atoms"}},
    {"count is huge", "a.xyz", "999999999999\n\nO 0 0 0\n", ":4:1: ", {"after 1 of 999999999999"}},
    {"count too large", "a.xyz", "3\n\nO 0 0 0\nH 0 0 1\n", ":5:1: ", {"after 2 of 3", "line 1"}},
    {"count too small",
     "a.xyz",
     "1\n\nO 0 0 0\nH 0 0 1\n",
     ":4:1: ",
     {"\"H 0 0 1\"", "frame 2 starts here", "atoms of frame 1"}},
    {"no comment line", "a.xyz", "1\n", ":2:1: ", {"before the comment line"}},
    {"blank atom", "a.xyz", "2\n\nO 0 0 0\n\nH 0 0 1\n", ":4:1: ", {"species of atom 2"}},
    {"web page", "a.xyz", "<!DOCTYPE html>\n<html>\n", ":1:1: ", {"check that this is an XYZ"}},
    {"zip", "a.xyz", std::string("PK\x03\x04\0\0", 6), ": ", {"zip archive", "checkpoints"}},
    {"binary", "a.xyz", std::string("1\n\0\0O", 5), ": ", {"binary data"}},
    {"xz",
     "a.xyz.xz",
     std::string("\xfd"
                 "7zXZ\0\0",
                 7),
     ": ",
     {"compressed with xz"}},
    {"coordinate missing", "a.xyz", xyz("", "O 0 0\n"), ":3:6: ", {"z of atom 1 is missing"}},
    {"coordinate is a word",
     "a.xyz",
     xyz("", "O 0 zero 0\n"),
     ":3:5: ",
     {"\"zero\"", "y of atom 1"}},
    {"coordinate with a comma",
     "a.xyz",
     xyz("", "O 0,5 0 0\n"),
     ":3:3: ",
     {"\"0,5\"", "x of atom 1"}},
    {"coordinate is nan", "a.xyz", xyz("", "O 0 0 nan\n"), ":3:7: ", {"not finite", "z of atom 1"}},
    {"coordinate is inf", "a.xyz", xyz("", "O -inf 0 0\n"), ":3:3: ", {"not finite"}},
    {"coordinate overflows", "a.xyz", xyz("", "O 0 1e999 0\n"), ":3:5: ", {"not finite"}},
    {"stars", "a.xyz", xyz("", "O 0 ******** 0\n"), ":3:5: ", {"\"********\""}},
    {"unknown element", "a.xyz", xyz("", "Xx 0 0 0\n"), ":3:1: ", {"\"Xx\"", "atom 1"}},
    {"label for element", "a.xyz", xyz("", "\tOW1 0 0 0\n"), ":3:2: ", {"\"OW1\"", "symbol"}},
    {"element 0", "a.xyz", xyz("", "0 0 0 0\n"), ":3:1: ", {"\"0\"", "1 to 118"}},
    {"element 119", "a.xyz", xyz("", "119 0 0 0\n"), ":3:1: ", {"\"119\""}},
    {"elements disagree",
     "a.xyz",
     xyz("Properties=species:S:1:pos:R:3:Z:I:1", "O 0 0 0 7\n"),
     ":3:9: ",
     {"atom 1", "O and N"}},
    {"eight lattice numbers",
     "a.xyz",
     xyz("Lattice=\"5 0 0 0 5 0 0 0\""),
     ":2:10: ",
     {"8 numbers", "nine"}},
    {"lattice word", "a.xyz", xyz("Lattice=\"5 0 0 0 five 0 0 0 5\""), ":2:18: ", {"\"five\""}},
    {"lattice nan", "a.xyz", xyz("Lattice=\"5 0 0 0 nan 0 0 0 5\""), ":2:18: ", {"not finite"}},
    {"lattice twice",
     "a.xyz",
     xyz(kCell + "lattice=\"5 0 0 0 5 0 0 0 5\""),
     ":2:38: ",
     {"lattice is given twice"}},
    {"lattice row zero",
     "a.xyz",
     xyz("Lattice=\"5 0 0 0 5 0 0 0 0\""),
     ":2:10: ",
     {"row 3 is zero but periodic", "pbc"}},
    {"lattice rows parallel",
     "a.xyz",
     xyz("Lattice=\"5 0 0 10 0 0 0 0 5\""),
     ":2:10: ",
     {"rows 1 and 2 are parallel"}},
    {"lattice flat", "a.xyz", xyz("Lattice=\"5 0 0 0 5 0 3 4 0\""), ":2:10: ", {"one plane"}},
    {"pbc without lattice", "a.xyz", xyz("pbc=\"T F F\""), ":2:6: ", {"Lattice is missing"}},
    {"pbc of two", "a.xyz", xyz(kCell + "pbc=\"T T\""), ":2:34: ", {"2 entries"}},
    {"pbc word", "a.xyz", xyz(kCell + "pbc=\"T T maybe\""), ":2:38: ", {"\"maybe\""}},
    {"pbc number", "a.xyz", xyz(kCell + "pbc=2"), ":2:33: ", {"\"2\""}},
    {"quote open", "a.xyz", xyz("name=\"water energy=5"), ":2:6: ", {"closing \"", "missing"}},
    {"bracket open", "a.xyz", xyz("k=[[1, 2], [3, 4]"), ":2:3: ", {"closing ]"}},
    {"text after quote", "a.xyz", xyz("name=\"water\"box"), ":2:13: ", {"put a space"}},
    {"no key", "a.xyz", xyz("a=1 =5"), ":2:5: ", {"key is missing"}},
    {"no value", "a.xyz", xyz("a=1 b="), ":2:7: ", {"key b has no value"}},
    {"value forgotten", "a.xyz", xyz("a= b=5"), ":2:4: ", {"key a has no value", "\"b=5\""}},
    {"column after UTF-8", "a.xyz", xyz("a=\xc3\xa9 b="), ":2:7: ", {"key b"}},
    {"charge is a word", "a.xyz", xyz("charge=minus"), ":2:8: ", {"\"minus\"", "key charge"}},
    {"charge is a list", "a.xyz", xyz("charge=\"1 2\""), ":2:9: ", {"\"1 2\""}},
    {"spin is a word", "a.xyz", xyz("spin=up"), ":2:6: ", {"\"up\"", "key spin"}},
    {"multiplicity nan", "a.xyz", xyz("spin_multiplicity=nan"), ":2:19: ", {"not finite"}},
    {"properties cut", "a.xyz", xyz("Properties=species:S:1:pos:R"), ":2:24: ", {"\"pos:R:\""}},
    {"properties type", "a.xyz", xyz("Properties=species:S:1:pos:X:3"), ":2:24: ", {"\"pos:X:3\""}},
    {"properties width",
     "a.xyz",
     xyz("Properties=species:S:1:pos:R:0"),
     ":2:24: ",
     {"\"pos:R:0\""}},
    {"properties huge",
     "a.xyz",
     xyz("Properties=species:S:1:pos:R:3:a:R:999999999"),
     ":2:32: ",
     {"999999999"}},
    {"positions of two",
     "a.xyz",
     xyz("Properties=species:S:1:pos:R:2", "O 0 0\n"),
     ":2:30: ",
     {"pos is 2 wide", "must be 3"}},
    {"no positions", "a.xyz", xyz("Properties=species:S:1:xyz:R:3"), ":2:12: ", {"no positions"}},
    {"no elements", "a.xyz", xyz("Properties=name:S:1:pos:R:3"), ":2:12: ", {"no elements"}},
    {"column twice",
     "a.xyz",
     xyz("Properties=species:S:1:pos:R:3:a:R:1:a:I:1"),
     ":2:38: ",
     {"gives a a second time"}},
    {"positions twice",
     "a.xyz",
     xyz("Properties=species:S:1:pos:R:3:positions:R:3"),
     ":2:32: ",
     {"gives pos a second time (as positions)"}},
    {"column missing",
     "a.xyz",
     xyz("Properties=species:S:1:pos:R:3:tag:I:1"),
     ":3:8: ",
     {"column tag of atom 1"}},
    {"column too many",
     "a.xyz",
     xyz("Properties=species:S:1:pos:R:3", "O 0 0 0 1.5\n"),
     ":3:9: ",
     {"more columns", "\"1.5\""}},
    {"second frame", "a.xyz", xyz("") + xyz("", "O 0 0 x\n"), ":6:7: ", {"z of atom 1"}},
};

std::string poscar(const std::string& scale, const std::string& rest,
                   const std::string& row3 = "0 0 4") {
  return "c\n" + scale + "\n4 0 0\n0 4 0\n" + row3 + "\n" + rest;
}

const BadFile kPoscar[] = {
    {"one line", "POSCAR", "c\n", ":2:1: ", {"before the scale factor"}},
    {"scale is a word", "POSCAR", poscar("one", ""), ":2:1: ", {"0 numbers", "one scale factor"}},
    {"scale of two", "POSCAR", poscar("1 2", ""), ":2:1: ", {"2 numbers"}},
    {"scale zero", "POSCAR", poscar("0.0", ""), ":2:1: ", {"must not be zero"}},
    {"scale negative of three", "POSCAR", poscar("1 -1 1", ""), ":2:3: ", {"positive"}},
    {"lattice short", "POSCAR", poscar("1", "", "0 0"), ":5:4: ", {"lattice vector is missing"}},
    {"lattice flat",
     "POSCAR",
     poscar("1", "O\n1\nDirect\n0 0 0\n", "4 4 0"),
     ":5:1: ",
     {"one plane"}},
    {"no symbols",
     "POSCAR",
     poscar("1", "1 1\nDirect\n0 0 0\n0 0 .5\n"),
     ":6:1: ",
     {"VASP 4", "2 symbols"}},
    {"unknown symbol", "POSCAR", poscar("1", "O Qq\n1 1\nDirect\n"), ":6:3: ", {"\"Qq\""}},
    {"count missing",
     "POSCAR",
     poscar("1", "O H\n1\nDirect\n0 0 0\n"),
     ":7:1: ",
     {"1 counts for 2 elements"}},
    {"count is a word", "POSCAR", poscar("1", "O H\n1 x\nDirect\n"), ":7:3: ", {"\"x\""}},
    {"count negative", "POSCAR", poscar("1", "O\n-1\nDirect\n"), ":7:1: ", {"out of range"}},
    {"count huge", "POSCAR", poscar("1", "O\n9999999999999\nDirect\n"), ":7:1: ", {"out of range"}},
    {"mode missing", "POSCAR", poscar("1", "O\n1\n0 0 0\n"), ":8:1: ", {"\"0 0 0\"", "Direct"}},
    {"ends early", "POSCAR", poscar("1", "O\n2\nDirect\n0 0 0\n"), ":10:1: ", {"after 1 atoms"}},
    {"atom too many",
     "POSCAR",
     poscar("1", "O\n1\nDirect\n0 0 0\n0 0 .5\n"),
     ":10:1: ",
     {"more atoms than the counts"}},
    {"coordinate missing", "POSCAR", poscar("1", "O\n1\nDirect\n0 0\n"), ":9:4: ", {"z of atom 1"}},
    {"flags missing",
     "POSCAR",
     poscar("1", "O\n1\nSelective\nDirect\n0 0 0 T T\n"),
     ":10:10: ",
     {"atom 1 lacks a T or F"}},
    {"overflow",
     "POSCAR",
     poscar("1", "O\n1\nDirect\n1e308 0 0\n"),
     ": ",
     {"coordinate x of atom 1"}},
};

std::string lammps(const std::string& sections, const std::string& z = "0 4 zlo zhi") {
  return "head\n2 atoms\n1 atom types\n0 4 xlo xhi\n0 4 ylo yhi\n" + z + "\n\n" + sections;
}

const std::string kMasses = "Masses\n\n1 15.999\n\n";  // lines 8 to 11
const std::string kAtoms = "Atoms # atomic\n\n1 1 0 0 0\n2 1 0 0 1\n";

const BadFile kLammps[] = {
    {"blank", "a.data", "\n", ": ", {"no structure"}},
    {"one line", "a.data", "head\n", ":2:1: ", {"before the section Atoms"}},
    {"not lammps", "a.data", "begin\nlattice 1 2 3\n", ":2:1: ", {"lacks \"atoms\""}},
    {"units lj",
     "a.data",
     "LAMMPS data file, units = lj\n" + lammps(kMasses + kAtoms),
     ":1:27: ",
     {"\"lj\"", "Angstrom"}},
    {"box missing", "a.data", lammps(kMasses + kAtoms, ""), ":8:1: ", {"box is incomplete"}},
    {"box short", "a.data", lammps("", "0 zlo zhi"), ":6:1: ", {"\"zlo zhi\" has 1 numbers"}},
    {"box empty", "a.data", lammps("", "4 0 zlo zhi"), ":6:3: ", {"no extent", "zlo zhi"}},
    {"head without keyword", "a.data", "h\n1 2 3\n", ":2:1: ", {"without a keyword"}},
    {"atoms negative", "a.data", "h\n-2 atoms\n", ":2:1: ", {"negative"}},
    {"atoms real", "a.data", "h\n2.5 atoms\n", ":2:1: ", {"\"2.5\"", "integer"}},
    {"no atoms section", "a.data", lammps(kMasses), ":12:1: ", {"no section Atoms"}},
    {"unknown mass",
     "a.data",
     lammps("Masses\n\n1 17.5\n\n" + kAtoms),
     ":10:1: ",
     {"mass 17.5", "comment", "1 17.5 # Si"}},
    {"mass and comment",
     "a.data",
     lammps("Masses\n\n1 12.011 # Ca\n\n" + kAtoms),
     ":10:3: ",
     {"12.011", "C but the comment says Ca"}},
    {"mass missing", "a.data", lammps("Masses\n\n1\n\n" + kAtoms), ":10:2: ", {"mass is missing"}},
    {"no masses", "a.data", lammps(kAtoms), ":10:1: ", {"neither a mass nor a label"}},
    {"style unknown",
     "a.data",
     lammps(kMasses + "Atoms # hybrid\n\n"),
     ":12:9: ",
     {"\"hybrid\"", "atomic, charge"}},
    {"style ambiguous",
     "a.data",
     lammps(kMasses + "Atoms\n\n1 1 0 0 0 0\n"),
     ":14:1: ",
     {"not clear from 6 columns", "Atoms # charge"}},
    {"style misfits",
     "a.data",
     lammps(kMasses + "Atoms # full\n\n1 1 0 0 0\n"),
     ":14:1: ",
     {"5 columns do not fit atom style full (7, or 10"}},
    {"type out of range",
     "a.data",
     lammps(kMasses + "Atoms # atomic\n\n1 2 0 0 0\n"),
     ":14:3: ",
     {"\"2\" is no atom type", "1 to 1"}},
    {"id is real",
     "a.data",
     lammps(kMasses + "Atoms # atomic\n\n1.5 1 0 0 0\n"),
     ":14:1: ",
     {"id of an atom"}},
    {"id twice",
     "a.data",
     lammps(kMasses + "Atoms # atomic\n\n1 1 0 0 0\n1 1 0 0 1\n"),
     ":15:1: ",
     {"id 1", "line 14"}},
    {"coordinate nan",
     "a.data",
     lammps(kMasses + "Atoms # atomic\n\n1 1 0 nan 0\n"),
     ":14:7: ",
     {"not finite"}},
    {"image is real",
     "a.data",
     lammps(kMasses + "Atoms # atomic\n\n1 1 0 0 0 0 0 0.5\n"),
     ":14:15: ",
     {"image flag"}},
    {"atom too many",
     "a.data",
     lammps(kMasses + kAtoms + "3 1 0 0 2\n"),
     ":16:1: ",
     {"more atoms than the head counts (2)"}},
    {"atoms end early",
     "a.data",
     lammps(kMasses + "Atoms # atomic\n\n1 1 0 0 0\n"),
     ":15:1: ",
     {"before atom 2 of 2"}},
    {"next section early",
     "a.data",
     lammps(kMasses + "Atoms # atomic\n\n1 1 0 0 0\n\nBonds\n\n"),
     ":16:1: ",
     {"ends after 1 of 2"}},
    {"atoms twice",
     "a.data",
     lammps(kMasses + kAtoms + "\n" + kAtoms),
     ":17:1: ",
     {"second section"}},
    {"label missing",
     "a.data",
     lammps("Atom Type Labels\n\n1\n\n" + kAtoms),
     ":10:2: ",
     {"label of atom type 1"}},
};

const BadFile kOther[] = {
    {"cif", "a.cif", "data_NaCl\n_cell_length_a 5.6\n", ": ", {"CIF", "convert"}},
    {"web page", "page", "<html><body>404</body></html>\n", ": ", {"web page"}},
    {"prose", "notes.txt", "some words\nand more\n", ": ", {"not recognised", "NAME.xyz"}},
};

void expect_error(const BadFile& row) {
  try {
    read_text(row.text, row.file);
    ADD_FAILURE() << row.what << ": no error";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), ErrorCode::bad_input) << row.what;
    EXPECT_EQ(message.rfind(row.file + row.where, 0), 0U) << row.what << ": " << message;
    for (const std::string& part : row.says) {
      EXPECT_NE(message.find(part), std::string::npos) << row.what << ": " << message;
    }
  }
}

TEST(BadStructures, Extxyz) {
  for (const BadFile& row : kExtxyz) expect_error(row);
}

TEST(BadStructures, Poscar) {
  for (const BadFile& row : kPoscar) expect_error(row);
}

TEST(BadStructures, LammpsData) {
  for (const BadFile& row : kLammps) expect_error(row);
}

TEST(BadStructures, OtherFormats) {
  for (const BadFile& row : kOther) expect_error(row);
}

// What all these files have in common with good ones.
TEST(BadStructures, TheGoodFilesBesideThem) {
  EXPECT_NO_THROW(read_text(xyz(kCell)));
  EXPECT_NO_THROW(read_text(poscar("1", "O\n1\nDirect\n0 0 0\n"), "POSCAR"));
  EXPECT_NO_THROW(read_text(lammps(kMasses + kAtoms), "a.data"));
}

}  // namespace
}  // namespace trine
