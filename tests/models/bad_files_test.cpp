// Files that are damaged or no checkpoint at all, each with the message that its owner needs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "models/checkpoint/read_checkpoint.hpp"
#include "models/support/checkpoint_writer.hpp"
#include "models/support/expect_error.hpp"
#include "models/support/read_bytes.hpp"

namespace trine {
namespace {

using namespace std::string_literals;
namespace pickle = testing::pickle;
using testing::CheckpointWriter;
using testing::expect_error;

constexpr auto kBad = ErrorCode::bad_input;

void read_bytes(const std::string& bytes) {
  testing::read_bytes(bytes, "bad.ckpt");
}

TEST(BadFile, EndsEarlyAnywhere) {
  const std::string bytes = CheckpointWriter().bytes();
  for (std::size_t length = 0; length < bytes.size(); length += 211) {
    expect_error(kBad, length == 0 ? "the file is empty" : "bad.ckpt: ", [&] {
      read_bytes(bytes.substr(0, length));
    });
  }
}

/// Whatever bit of a needed member flips, the checksum tells.
TEST(BadFile, FlippedBits) {
  const std::string bytes = CheckpointWriter().bytes();
  const std::size_t pickle_start = bytes.find("\x80\x02");
  for (std::size_t at = pickle_start; at < pickle_start + 9000; at += 97) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    expect_error(kBad, "'model/data.pkl' is damaged", [&] { read_bytes(flipped); });
  }
}

const std::vector<std::pair<const char*, std::string>> kOtherFiles = {
    {"the file is empty", ""},
    {"a web page", "<!DOCTYPE html>\n<html><head>"},
    {"a web page", "\n  <HTML lang=\"en\">"},
    {"git lfs pull", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"},
    {"a plain pickle", "\x80\x04\x95N."},
    {"before PyTorch 1.6",
     "\x80\x02\x8a\x0al\xfc\x9c"
     "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."},
    {"a safetensors file", "\x40\x00\x00\x00\x00\x00\x00\x00{\"a\":{}}"s},
    {"a GGUF file", "GGUF\x03\x00\x00\x00"s},
    {"gunzip", "\x1f\x8b\x08"},
    {"unxz",
     "\xfd"
     "7zXZ"},
    {"a tar archive", std::string(257, 'a') + "ustar" + std::string(250, '\0')},
    {"an HDF5 file", "\x89HDF\r\n\x1a\n"},
    {"an empty zip archive", "PK\x05\x06" + std::string(18, '\0')},
    {"a text that begins 'Entry not found'", "Entry not found"},
    {"a text that begins '{\"error\":1}'", "{\"error\":1}"},
    {"begins with the bytes '\\x00\\x01'", "\x00\x01"s},
    {"probably incomplete", "PK\x03\x04"},
    {"it has no member 'data.pkl', it has 'a.txt'",
     testing::make_zip({{.name = "a.txt", .data = "1"}})},
    {"it holds the number 1 without 'architecture_name'",
     testing::make_zip(testing::archive_members(pickle::integer(1), {}))},
    {"it holds an object made by mace.modules.models.ScaleShiftMACE",
     testing::make_zip(testing::archive_members(
         pickle::object(pickle::global("mace.modules.models", "ScaleShiftMACE"), pickle::none()),
         {}))},
};

TEST(BadFile, OtherFilesAreRecognised) {
  for (const auto& [text, bytes] : kOtherFiles) {
    SCOPED_TRACE(text);
    expect_error(kBad, text, [&, b = bytes] { read_bytes(b); });
  }
}

TEST(BadFile, PathsThatLeadNowhere) {
  const std::string folder = ::testing::TempDir();
  expect_error(kBad, "/no/such.ckpt: there is no such file",
               [] { read_checkpoint("/no/such.ckpt"); });
  expect_error(kBad, "this is a folder", [&] { read_checkpoint(folder); });
  const std::string path = folder + "trine_bad_checkpoint.ckpt";
  std::ofstream(path) << "<html>";
  expect_error(kBad, path + ": not a checkpoint (a web page", [&] { read_checkpoint(path); });
  std::ofstream(path, std::ios::binary) << CheckpointWriter().bytes().substr(0, 20000);
  expect_error(kBad, "probably incomplete", [&] { read_checkpoint(path); });
  std::ofstream(path, std::ios::binary) << CheckpointWriter().bytes();
  EXPECT_EQ(read_checkpoint(path).tensors.size(), 89U);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace trine
