#include "models/checkpoint/file_kind.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace trine::checkpoint {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  std::size_t offset;
  std::string_view what;
  std::string_view advice;
};

constexpr std::string_view kWantCheckpoint = "give the .ckpt file that metatrain wrote";

constexpr std::array kSignatures = {
    Signature{"PK\5\6"sv, 0, "an empty zip archive", kWantCheckpoint},
    Signature{"version https://git-lfs"sv, 0, "a git-lfs pointer, not the file that it stands for",
              "run `git lfs pull` or download the file itself"},
    Signature{"\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv, 0,
              "a PyTorch file in the format before PyTorch 1.6",
              "load and save it again with a current metatrain"},
    Signature{"GGUF"sv, 0, "a GGUF file (a conversion for another program)",
              "give the .ckpt file that it was made from"},
    Signature{"\x1f\x8b"sv, 0, "compressed with gzip", "decompress it with gunzip first"},
    Signature{"BZh"sv, 0, "compressed with bzip2", "decompress it with bunzip2 first"},
    Signature{"\xfd"
              "7zXZ"sv,
              0, "compressed with xz", "decompress it with unxz first"},
    Signature{"\x28\xb5\x2f\xfd"sv, 0, "compressed with zstd", "decompress it with unzstd first"},
    Signature{"7z\xbc\xaf"sv, 0, "a 7z archive", "unpack it first"},
    Signature{"\x89HDF"sv, 0, "an HDF5 file", kWantCheckpoint},
    Signature{"\x7f"
              "ELF"sv,
              0, "a program or a compiled model (ELF)", kWantCheckpoint},
    Signature{"\x93NUMPY"sv, 0, "a NumPy array", kWantCheckpoint},
    Signature{"ustar"sv, 257, "a tar archive", "unpack it and give the .ckpt file inside"},
};

bool starts_with_any_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.begin(), lower.end(), text.begin(), [](char want, char have) {
    return want == static_cast<char>(std::tolower(static_cast<unsigned char>(have)));
  });
}

std::string_view without_leading_blanks(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  return text;
}

/// An 8-byte little-endian header length followed by the JSON header.
bool is_safetensors(std::string_view text) {
  return text.size() > 9 && text[8] == '{' && text.substr(4, 4) == "\0\0\0\0"sv;
}

bool is_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || byte == '\n' || byte == '\r' || byte == '\t';
  });
}

[[noreturn]] void fail_as(std::string_view what, std::string_view advice) {
  fail(ErrorCode::bad_input, "not a checkpoint ({}), {}", what, advice);
}

}  // namespace

std::string read_beginning(const std::string& path, std::size_t length) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  check(std::filesystem::exists(status), ErrorCode::bad_input,
        "there is no such file ({}), check the path",
        error ? error.message() : "nothing has this name");
  check(!std::filesystem::is_directory(status), ErrorCode::bad_input,
        "this is a folder (a checkpoint is one file), give the .ckpt file inside");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  check(file.good(), ErrorCode::bad_input, "cannot be opened ({}), check its permissions",
        std::strerror(errno));
  std::string beginning(length, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(length));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  return beginning;
}

void require_zip(std::string_view beginning, std::uint64_t file_size) {
  if (beginning.starts_with("PK\3\4")) return;
  if (file_size == 0) {
    fail_as("the file is empty: a download or copy that failed", "copy or download it again");
  }
  for (const Signature& signature : kSignatures) {
    const bool long_enough = beginning.size() >= signature.offset + signature.bytes.size();
    if (long_enough && beginning.substr(signature.offset).starts_with(signature.bytes)) {
      fail_as(signature.what, signature.advice);
    }
  }
  if (is_safetensors(beginning)) {
    fail_as("a safetensors file: weights without hyperparameters", kWantCheckpoint);
  }
  const std::string_view text = without_leading_blanks(beginning);
  for (const std::string_view tag : {"<!doctype"sv, "<html"sv, "<head"sv, "<?xml"sv}) {
    if (starts_with_any_case(text, tag)) {
      fail_as("a web page: the download gave a page about the file, not the file",
              "use the direct download link");
    }
  }
  if (beginning.size() > 2 && beginning[0] == '\x80' && beginning[1] >= 2 && beginning[1] <= 5) {
    fail_as("a plain pickle", kWantCheckpoint);
  }
  if (is_text(beginning)) {
    fail_as(fmt::format("a text that begins '{}'", printable(text.substr(0, 40))), kWantCheckpoint);
  }
  fail_as(fmt::format("it begins with the bytes '{}', a zip archive with 'PK'",
                      printable(beginning.substr(0, 8))),
          kWantCheckpoint);
}

}  // namespace trine::checkpoint
