#include "base/sha256.hpp"

#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "base/check.hpp"
#include "trine/model.hpp"

namespace trine {
namespace {

EVP_MD_CTX* evp(void* context) {
  return static_cast<EVP_MD_CTX*>(context);
}

void require(int status) {
  check(status == 1, ErrorCode::not_supported,
        "SHA-256 is not available (the OpenSSL library refuses it), check OpenSSL's configuration");
}

}  // namespace

void Sha256::Free::operator()(void* context) const {
  EVP_MD_CTX_free(evp(context));
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  if (!context_) throw std::bad_alloc();
  require(EVP_DigestInit_ex(evp(context_.get()), EVP_sha256(), nullptr));
}

void Sha256::update(std::string_view bytes) {
  require(EVP_DigestUpdate(evp(context_.get()), bytes.data(), bytes.size()));
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  require(EVP_DigestFinal_ex(evp(context_.get()), digest.data(), &size));
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string file_sha256(const std::string& path) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  check(file != nullptr, ErrorCode::bad_input, "{}: cannot be opened ({}), check the path", path,
        std::strerror(errno));
  constexpr std::size_t kBlock = std::size_t{1} << 18;
  std::vector<char> block(kBlock);
  Sha256 hash;
  while (const std::size_t bytes = std::fread(block.data(), 1, block.size(), file.get())) {
    hash.update({block.data(), bytes});
  }
  check(std::ferror(file.get()) == 0, ErrorCode::bad_input,
        "{}: cannot be read ({}), check that it is a file and the disk is sound", path,
        std::strerror(errno));
  return hash.hex();
}

}  // namespace trine
