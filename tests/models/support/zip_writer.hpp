// Writes small zip archives, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trine::testing {

struct ZipMember {
  std::string name = {};
  std::string data = {};
  bool deflate = false;
  bool zip64 = false;                        ///< sizes and offset in a zip64 extra field
  std::uint16_t flags = 0;                   ///< 1: encrypted
  std::optional<std::uint16_t> method = {};  ///< what the headers claim instead of the truth
  std::optional<std::uint32_t> size = {};    ///< likewise, uncompressed
  std::uint32_t crc_error = 0;               ///< flips these bits of the checksum
};

std::string make_zip(const std::vector<ZipMember>& members);

}  // namespace trine::testing
