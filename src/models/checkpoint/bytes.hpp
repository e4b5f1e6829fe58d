// What every stage of reading shares: blocks of bytes, a bound on their sum, the error for damaged
// files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.hpp"

namespace trine::checkpoint {

using Bytes = std::span<const std::byte>;

/// A block of memory that tensors may share.
struct SharedBytes {
  std::shared_ptr<const std::byte[]> data;
  std::size_t size = 0;

  Bytes span() const { return {data.get(), size}; }
};

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// For names that come out of a file and go into a message: short, and free of control characters.
inline std::string escaped(std::string_view text) {
  static constexpr std::size_t kLongest = 120;
  std::string out;
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return text.size() > kLongest ? out + "..." : out;
}

/// The same as an argument of a check, where nothing is to be spent unless the check fails.
struct Printable {
  std::string_view text;
};

inline Printable printable(std::string_view text) {
  return {text};
}

}  // namespace trine::checkpoint

template <>
struct fmt::formatter<trine::checkpoint::Printable> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const trine::checkpoint::Printable& printable, Context& context) const {
    return fmt::formatter<std::string_view>::format(trine::checkpoint::escaped(printable.text),
                                                    context);
  }
};

namespace trine::checkpoint {

/// Throws `Error(bad_input)` with what the reader may do about it.
template <class... Args>
[[noreturn]] void fail_damaged(fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorCode::bad_input, "{} (the file is damaged or no checkpoint), copy or export it again",
       fmt::format(format, std::forward<Args>(args)...));
}

/// The same unless `condition` holds.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail_damaged(format, std::forward<Args>(args)...);
}

/// a * b, or an absurdly large number.
inline std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > kLargest / b ? kLargest : a * b;
}

/// Bounds what reading one file may allocate by a multiple of the file's size, so that a small file
/// cannot fill the memory (compression bombs, one number broadcast to a billion).
class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t file_size)
      : left_(kAlways + std::min(saturating_product(kPerFileByte, file_size), kMost)) {}

  void charge(std::uint64_t bytes, std::string_view what) {
    require(bytes <= left_, "{} asks for {} bytes, which is far more than the file can hold",
            printable(what), bytes);
    left_ -= bytes;
  }

 private:
  static constexpr std::uint64_t kAlways = std::uint64_t{64} << 20;
  static constexpr std::uint64_t kPerFileByte = 16;
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 48;

  std::uint64_t left_;
};

}  // namespace trine::checkpoint
