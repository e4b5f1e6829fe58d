#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "atoms/text_structures.hpp"
#include "paths.hpp"

namespace trine {
namespace {

using testing::expect_same;
using testing::read_text;
using testing::written;
using Info = std::vector<std::pair<std::string, std::string>>;

/// One atom under a comment line.
Structure frame_with(const std::string& comment) {
  return read_text("1\n" + comment + "\nO 0 0 0\n").at(0);
}

TEST(ExtxyzRead, ColumnsInAnyOrder) {
  const auto frames = read_text(
      "2\nProperties=tags:I:1:pos:R:3:label:S:1:species:S:1:f:R:2 x=1\n"
      "7 1 2 3 a fe 0.1 0.2\n8 4d0 +5 6. b 8 0.3 0.4\n");
  ASSERT_EQ(frames.size(), 1U);
  const Structure& s = frames[0];
  EXPECT_EQ(s.species, (std::vector<int>{26, 8}));
  EXPECT_EQ(s.positions, (std::vector<Vec3>{{1, 2, 3}, {4, 5, 6}}));
  ASSERT_EQ(s.extra_columns.size(), 3U);
  EXPECT_EQ(s.extra_columns[0].name, "tags");
  EXPECT_EQ(s.extra_columns[1].tokens, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s.extra_columns[2].width, 2);
  EXPECT_EQ(s.extra_columns[2].tokens, (std::vector<std::string>{"0.1", "0.2", "0.3", "0.4"}));
  EXPECT_EQ(s.source, "test.xyz, frame 1");
}

TEST(ExtxyzRead, ElementsBySymbolOrNumber) {
  for (const char* columns : {"Z:I:1:pos:R:3", "numbers:I:1:pos:R:3", "species:S:1:pos:R:3",
                              "species:I:1:positions:R:3", "symbols:S:1:pos:R:3"}) {
    const auto frames = read_text(std::string("1\nProperties=") + columns + "\n17 0 0 0\n");
    EXPECT_EQ(frames[0].species, std::vector<int>{17}) << columns;
    EXPECT_TRUE(frames[0].extra_columns.empty()) << columns;
  }
  const auto both = read_text("1\nProperties=species:S:1:pos:R:3:Z:I:1\nCL 0 0 0 17\n");
  EXPECT_EQ(both[0].species, std::vector<int>{17});
  const auto real = read_text("1\nProperties=species:S:1:pos:R:3:Z:R:1\nCl 0 0 0 0.5\n");
  EXPECT_EQ(real[0].extra_columns.size(), 1U) << "a real column Z is no atomic number";
}

TEST(ExtxyzRead, PlainXyz) {
  const auto frames = read_text("2\nmade by hand, it's water\n8 0 0 0\nh 0 0 1 0.417 extra\n");
  EXPECT_EQ(frames[0].species, (std::vector<int>{8, 1}));
  EXPECT_EQ(frames[0].extra_info, (Info{{"comment", "made by hand, it's water"}}));
  EXPECT_EQ(frames[0].pbc, (std::array<bool, 3>{}));
  EXPECT_EQ(frames[0].cell, Mat3{});
}

TEST(ExtxyzRead, KeysAndQuotes) {
  const std::string comment =
      R"(a=1 b="two words" c={3 4} d='five "six"' e=[7, 8] flag f = spaced "a key"=v )"
      R"(g="quo\"te" h=[[1, 2], [3, 4]] i="" j=C:\dir k="back\\slash" l=x=y m="Zo)"
      "\xc3\xab\"";
  const Info expected = {{"a", "1"},
                         {"b", "two words"},
                         {"c", "3 4"},
                         {"d", "five \"six\""},
                         {"e", "7, 8"},
                         {"flag", "T"},
                         {"f", "spaced"},
                         {"a key", "v"},
                         {"g", "quo\"te"},
                         {"h", "[[1, 2], [3, 4]]"},
                         {"i", ""},
                         {"j", "C:\\dir"},
                         {"k", "back\\slash"},
                         {"l", "x=y"},
                         {"m", "Zo\xc3\xab"}};
  const Structure s = frame_with(comment);
  EXPECT_EQ(s.extra_info, expected);
  expect_same(read_text(written(s))[0], s);
}

TEST(ExtxyzRead, LatticeForms) {
  const Mat3 cell = {Vec3{1, 2, 3}, Vec3{0, 5, 6}, Vec3{0, 0, 9}};
  for (const char* form :
       {"Lattice=\"1 2 3 0 5 6 0 0 9\"", "lattice={1 2 3 0 5 6 0 0 9}",
        "LATTICE=[1.0, 2, 3, 0, 5, 6, 0, 0, 9]", "Lattice=[[1, 2, 3], [0, 5, 6], [0, 0, 9]]",
        "Lattice='1.d0,2,3,0,5,6,0,0,9'", "Lattice=\"\t1  2 3\t0 5 6 0 0 9 \""}) {
    const Structure s = frame_with(form);
    EXPECT_EQ(s.cell, cell) << form;
    EXPECT_EQ(s.pbc, (std::array<bool, 3>{true, true, true})) << form;
    EXPECT_TRUE(s.extra_info.empty()) << form;
  }
}

TEST(ExtxyzRead, PbcForms) {
  const std::pair<const char*, std::array<bool, 3>> rows[] = {
      {"pbc=\"T T F\"", {true, true, false}},
      {"pbc=\"1 0 1\"", {true, false, true}},
      {"PBC=[True, False, false]", {true, false, false}},
      {"pbc={t f T}", {true, false, true}},
      {"pbc=true", {true, true, true}},
      {"pbc=F", {false, false, false}},
      {"pbc=T,F,T", {true, false, true}}};
  for (const auto& [form, pbc] : rows) {
    const Structure s = frame_with(std::string(form) + " Lattice=\"9 0 0 0 9 0 0 0 9\"");
    EXPECT_EQ(s.pbc, pbc) << form;
  }
  EXPECT_EQ(frame_with("x=1").pbc, (std::array<bool, 3>{}));
  EXPECT_EQ(frame_with("pbc=\"F F F\"").pbc, (std::array<bool, 3>{}));
  EXPECT_NO_THROW(frame_with("Lattice=\"9 0 0 0 9 0 0 0 0\" pbc=\"T T F\"")) << "open zero row";
}

TEST(ExtxyzRead, ChargeAndSpin) {
  const Structure both = frame_with("Charge=-1 spin=4 spin_multiplicity=2");
  EXPECT_EQ(both.charge, -1.0);
  EXPECT_EQ(both.spin_multiplicity, 2.0);
  EXPECT_EQ(both.extra_info, (Info{{"spin", "4"}}));
  EXPECT_EQ(frame_with("spin=3").spin_multiplicity, 3.0);
  EXPECT_EQ(frame_with("charge=\"+2\"").charge, 2.0);
  EXPECT_FALSE(frame_with("x=1").charge);
  EXPECT_FALSE(frame_with("x=1").spin_multiplicity);
}

TEST(ExtxyzRead, LineEndsBlankLinesCommentsAndEmptyFrames) {
  const std::string text =
      "\xef\xbb\xbf  1 \r\n\r\nO\t0\t 0 0 \r\n\r\n# between frames\n0\nempty=T\n\n2\n\nH 0 0 0\nH "
      "0 0 1";
  const auto frames = read_text(text);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].size(), 1U);
  EXPECT_EQ(frames[1].size(), 0U);
  EXPECT_EQ(frames[1].extra_info, (Info{{"empty", "T"}}));
  EXPECT_EQ(frames[2].size(), 2U);
  EXPECT_EQ(frames[2].source, "test.xyz, frame 3");
}

TEST(ExtxyzRead, LinesLongerThanTheWindow) {
  const std::string value(700'000, 'x');
  const Structure s = frame_with("a=" + value);
  ASSERT_EQ(s.extra_info.size(), 1U);
  EXPECT_EQ(s.extra_info[0].second, value);
}

TEST(ExtxyzRead, ReferenceStructuresSurviveWriting) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::reference_folder() + "/structures")) {
    ++files;
    const auto frames = read_structures(entry.path().string());
    ASSERT_FALSE(frames.empty()) << entry.path();
    for (const Structure& frame : frames) {
      const std::string text = written(frame);
      const auto again = read_text(text);
      ASSERT_EQ(again.size(), 1U) << entry.path();
      expect_same(again[0], frame);
      EXPECT_EQ(written(again[0]), text) << entry.path();
    }
  }
  EXPECT_GE(files, 15);
}

}  // namespace
}  // namespace trine
