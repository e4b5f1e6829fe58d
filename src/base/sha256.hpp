// SHA-256, to say which bytes a result came from.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace trine {

/// Hash of a stream of bytes (FIPS 180-4).
class Sha256 {
 public:
  Sha256();

  void update(std::string_view bytes);

  /// The hash as 64 lower-case hexadecimal digits. Call once, at the end.
  std::string hex();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;  // EVP_MD_CTX, whose header stays out of this one
};

}  // namespace trine
