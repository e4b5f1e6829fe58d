#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "trine/error.hpp"
#include "trine/model.hpp"

namespace trine {
namespace {

struct Vector {
  std::string message;
  std::string hash;
};

// FIPS 180-4 examples; the last is a million times "a".
const Vector kVectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {std::string(1'000'000, 'a'),
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};

TEST(Sha256, KnownVectorsWholeAndInPieces) {
  for (const auto& [message, hash] : kVectors) {
    Sha256 whole;
    whole.update(message);
    EXPECT_EQ(whole.hex(), hash);
    Sha256 pieces;
    for (std::size_t i = 0; i < message.size(); i += 4099) pieces.update(message.substr(i, 4099));
    EXPECT_EQ(pieces.hex(), hash);
  }
}

TEST(Sha256, OfAFile) {
  const auto path = std::filesystem::temp_directory_path() / "trine_sha256_test.bin";
  std::ofstream(path, std::ios::binary) << kVectors[3].message;
  EXPECT_EQ(file_sha256(path.string()), kVectors[3].hash);
  std::filesystem::remove(path);
}

TEST(Sha256, OfWhatIsNoFile) {
  for (const std::string path : {"/no/such/file", "/"}) {
    try {
      file_sha256(path);
      FAIL() << "no error for " << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace trine
