#include "models/checkpoint/zip_archive.hpp"

#include <gtest/gtest.h>

#include "models/support/expect_error.hpp"
#include "models/support/zip_writer.hpp"

namespace trine::checkpoint {
namespace {

using testing::make_zip;
using testing::ZipMember;

Bytes bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string read(const std::string& archive, const std::string& name) {
  const ZipArchive zip = ZipArchive::open_bytes(bytes_of(archive));
  ByteBudget budget(archive.size());
  const SharedBytes bytes = zip.read(name, budget);
  return std::string(as_text(bytes.span()));
}

TEST(ZipArchive, ReadsStoredDeflatedAndZip64Members) {
  const std::string text(5000, 'x');
  const std::string archive =
      make_zip({{.name = "a/stored", .data = text},
                {.name = "a/deflated", .data = text, .deflate = true},
                {.name = "a/wide", .data = text, .zip64 = true},
                {.name = "a/wide_deflated", .data = text + "y", .deflate = true, .zip64 = true},
                {.name = "a/empty"}});
  for (const char* name : {"a/stored", "a/deflated", "a/wide"}) {
    EXPECT_EQ(read(archive, name), text) << name;
  }
  EXPECT_EQ(read(archive, "a/wide_deflated"), text + "y");
  EXPECT_EQ(read(archive, "a/empty"), "");
  const ZipArchive zip = ZipArchive::open_bytes(bytes_of(archive));
  EXPECT_EQ(zip.names().front(), "a/stored");
  EXPECT_EQ(zip.size_of("a/deflated"), text.size());
  EXPECT_TRUE(zip.contains("a/empty"));
  EXPECT_FALSE(zip.contains("b"));
}

TEST(ZipArchive, AnArchiveWithoutMembersIsAnArchive) {
  EXPECT_TRUE(ZipArchive::open_bytes(bytes_of(make_zip({}))).names().empty());
}

TEST(ZipArchive, RefusesWhatItCannotTrust) {
  struct Case {
    const char* text;
    std::vector<ZipMember> members;
  };
  const std::vector<Case> cases = {
      {"is there twice", {{.name = "a", .data = "1"}, {.name = "a", .data = "2"}}},
      {"points outside", {{.name = "../a", .data = "1"}}},
      {"points outside", {{.name = "a/../../b", .data = "1"}}},
      {"points outside", {{.name = "/etc/passwd", .data = "1"}}},
      {"points outside", {{.name = "a\\..\\b", .data = "1"}}},
      {"is encrypted", {{.name = "a", .data = "1", .flags = 1}}},
      {"compressed with method 12", {{.name = "a", .data = "1", .method = 12}}},
      {"cannot hold 7 bytes in 1", {{.name = "a", .data = "1", .size = 7}}},
      {"cannot hold 100000000 bytes",
       {{.name = "a", .data = "1", .deflate = true, .size = 100'000'000}}},
  };
  for (const Case& c : cases) {
    const std::string archive = make_zip(c.members);
    testing::expect_error(ErrorCode::bad_input, c.text,
                          [&] { ZipArchive::open_bytes(bytes_of(archive)); });
  }
}

TEST(ZipArchive, RefusesDamagedMembers) {
  for (const bool deflate : {false, true}) {
    testing::expect_error(ErrorCode::bad_input, "is damaged", [&] {
      read(make_zip({{.name = "a", .data = "1234", .deflate = deflate, .crc_error = 4}}), "a");
    });
  }
  testing::expect_error(ErrorCode::bad_input, "is damaged", [&] {
    read(make_zip({{.name = "a", .data = std::string(999, '1'), .deflate = true, .size = 1000}}),
         "a");
  });
  testing::expect_error(ErrorCode::bad_input, "'b' is missing",
                        [&] { read(make_zip({{.name = "a", .data = "1"}}), "b"); });
}

TEST(ZipArchive, RefusesAnArchiveThatEndsEarly) {
  const std::string archive = make_zip({{.name = "a", .data = std::string(300, '1')}});
  for (std::size_t length = 4; length < archive.size(); length += 7) {
    const std::string part = archive.substr(0, length);
    testing::expect_error(ErrorCode::bad_input, "probably incomplete",
                          [&] { ZipArchive::open_bytes(bytes_of(part)); });
  }
}

TEST(ByteBudget, BoundsTheSumOfWhatIsRead) {
  ByteBudget budget(1000);
  budget.charge(std::uint64_t{60} << 20, "a");
  budget.charge(std::uint64_t{4} << 20, "b");
  budget.charge(16000, "c");
  testing::expect_error(ErrorCode::bad_input, "'d' asks for 1 bytes",
                        [&] { budget.charge(1, "'d'"); });
}

TEST(Escaped, KeepsMessagesReadable) {
  EXPECT_EQ(escaped("a\nb\x1b[1m\xff"), "a\\x0ab\\x1b[1m\\xff");
  EXPECT_EQ(escaped(std::string(500, 'a')).size(), 123U);
}

}  // namespace
}  // namespace trine::checkpoint
