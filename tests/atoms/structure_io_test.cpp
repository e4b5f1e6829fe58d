// Files: formats, compression, what cannot be opened.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "atoms/structure_format.hpp"
#include "atoms/text_structures.hpp"
#include "trine/error.hpp"

namespace trine {
namespace {

using testing::read_text;

std::string compressed(const std::string& text) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

const std::string kXyz = "1\nx=1\nO 0 0 0\n";
const std::string kPoscar = "c\n1.0\n4 0 0\n0 4 0\n0 0 4\nO\n1\nDirect\n0 0 0.5\n";
const std::string kLammps =
    "head\n\n1 atoms\n1 atom types\n0 4 xlo xhi\n0 4 ylo yhi\n0 4 zlo zhi\n\nMasses\n\n1 15.999\n\n"
    "Atoms # atomic\n\n1 1 0 0 2\n";

TEST(Format, ByName) {
  using enum StructureFormat;
  const std::pair<const char*, StructureFormat> rows[] = {
      {"a.xyz", extxyz},      {"dir.data/a.XYZ.gz", extxyz}, {"x.extxyz", extxyz},
      {"POSCAR", poscar},     {"run/CONTCAR_3", poscar},     {"a.vasp.gz", poscar},
      {"POSCAR.xyz", extxyz}, {"a.data", lammps_data},       {"data.water", lammps_data},
      {"a.lmp", lammps_data}, {"water", automatic},          {"poscar/water.txt", automatic},
      {"-", automatic}};
  for (const auto& [name, format] : rows) EXPECT_EQ(atoms::format_of_name(name), format) << name;
}

TEST(Format, ByContent) {
  EXPECT_EQ(atoms::format_of_text(kXyz), StructureFormat::extxyz);
  EXPECT_EQ(atoms::format_of_text(kPoscar), StructureFormat::poscar);
  EXPECT_EQ(atoms::format_of_text(kLammps), StructureFormat::lammps_data);
  EXPECT_EQ(atoms::format_of_text("data_NaCl\n_cell_length_a 5\n"), StructureFormat::automatic);
  for (const std::string& text : {kXyz, kPoscar, kLammps}) {
    EXPECT_EQ(read_text(text, "unnamed").at(0).species, std::vector<int>{8});
  }
}

TEST(Gzip, IsRecognisedByContent) {
  EXPECT_EQ(read_text(compressed(kXyz), "a.xyz").size(), 1U);
  EXPECT_EQ(read_text(compressed(kPoscar), "unnamed")[0].positions[0], (Vec3{0, 0, 2}));
}

TEST(Gzip, MembersInARowAndPadding) {
  const std::string member = compressed(kXyz);
  EXPECT_EQ(read_text(member + member + member).size(), 3U);
  EXPECT_EQ(read_text(member + std::string(70'000, '\0')).size(), 1U);
  EXPECT_EQ(read_text(member + std::string(3, '\0') + member).size(), 2U);
}

TEST(Gzip, LargeFiles) {
  std::string text = "200000\n\n";
  for (int i = 0; i < 200'000; ++i) text += "H " + std::to_string(i * 0.37) + " 0.5 1.25\n";
  const auto frames = read_text(compressed(text));
  EXPECT_EQ(frames[0].size(), 200'000U);
  EXPECT_EQ(frames[0].positions[100'000][0], 37000.0);
}

struct BadGzip {
  std::string bytes;
  const char* says;
};

TEST(Gzip, DamageIsAnError) {
  std::string long_text = "20000\n\n";
  for (int i = 0; i < 20'000; ++i) long_text += "H " + std::to_string(i * 0.37) + " 0 0\n";
  const std::string whole = compressed(long_text);
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 0x55);
  std::string wrong_sum = whole;
  wrong_sum[whole.size() - 6] = static_cast<char>(wrong_sum[whole.size() - 6] ^ 1);
  const BadGzip rows[] = {
      {whole.substr(0, whole.size() / 2), "cut short"},
      {whole.substr(0, whole.size() - 3), "cut short"},
      {"\x1f\x8b", "cut short"},
      {flipped, ""},  // what comes first: bad numbers or the checksum
      {wrong_sum, "damaged"},
      {std::string("\x1f\x8b\x07\x00garbage garbage", 20), "damaged"},
      {whole + "text", "not gzip follow"},
      {whole + "\x1f", "not gzip follow"},
      {compressed(std::string(std::size_t{1} << 25, '\n')), "made to exhaust memory"}};
  for (const BadGzip& row : rows) {
    try {
      read_text(row.bytes);
      ADD_FAILURE() << "no error: " << row.says;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      const std::string message = error.what();
      EXPECT_NE(message.find(row.says), std::string::npos) << message;
      EXPECT_EQ(message.rfind("test.xyz", 0), 0U) << message;
    }
  }
}

TEST(Gzip, WhatShrinksALotButStaysSmallIsRead) {
  const std::string text = "1\na=" + std::string(std::size_t{1} << 23, 'x') + "\nH 0 0 0\n";
  EXPECT_EQ(read_text(compressed(text)).size(), 1U);
}

TEST(ReadStructures, StandardInput) {
  const auto path = std::filesystem::temp_directory_path() / "trine_structure_io_test.xyz";
  std::ofstream(path) << kXyz << kXyz;
  ASSERT_NE(std::freopen(path.c_str(), "r", stdin), nullptr);
  const auto frames = read_structures("-");
  EXPECT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames.at(1).source, "standard input, frame 2");
  std::filesystem::remove(path);
}

TEST(ReadStructures, TheFormatCanBeGiven) {
  const auto path = std::filesystem::temp_directory_path() / "trine_structure_io_test.xyz";
  std::ofstream(path) << kPoscar;
  EXPECT_THROW(read_structures(path.string()), Error);
  EXPECT_EQ(read_structures(path.string(), StructureFormat::poscar).size(), 1U);
  std::filesystem::remove(path);
}

TEST(ReadStructures, WhatCannotBeOpened) {
  const std::pair<const char*, const char*> rows[] = {
      {"/no/such/file.xyz", "No such file or directory"}, {"/", "is a directory"}};
  for (const auto& [path, says] : rows) {
    try {
      read_structures(path);
      ADD_FAILURE() << "no error for " << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace trine
