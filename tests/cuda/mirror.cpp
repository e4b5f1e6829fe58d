#include "cuda/mirror.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "tensor/transfer.hpp"

namespace trine::test {
namespace {

// A NaN in every precision, an index outside of everything: reading what nobody wrote shows.
constexpr std::byte kPoison{0xff};
constexpr std::size_t kMargin = 256;  // around every range

}  // namespace

std::byte* Mirror::on_device(const std::byte* address) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](const std::byte* a, const Range& range) { return a < range.begin; });
  const Range& range = *(after - 1);
  return memory_.data() + range.offset + (address - range.begin);
}

/// Merges ranges that overlap and gives each its place. Addresses stay as far from multiples of
/// kAlignment as they are on the host: what is aligned stays aligned, and nothing else becomes it.
void Mirror::place() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::vector<Range> merged;
  for (const Range& range : ranges_) {
    if (!merged.empty() &&
        (range.begin < merged.back().end || range.begin == merged.back().begin)) {
      merged.back().end = std::max(merged.back().end, range.end);
      merged.back().writable |= range.writable;
    } else {
      merged.push_back(range);
    }
  }
  ranges_ = std::move(merged);
  std::size_t used = 0;
  for (Range& range : ranges_) {
    const std::size_t odd = reinterpret_cast<std::uintptr_t>(range.begin) % kAlignment;
    range.offset = (used + kMargin + kAlignment - 1) / kAlignment * kAlignment + odd;
    used = range.offset + range.size();
  }
  image_.assign(used + kMargin, kPoison);
}

void Mirror::send() {
  place();
  for (const Range& range : ranges_) {
    std::copy(range.begin, range.end, image_.begin() + static_cast<std::ptrdiff_t>(range.offset));
  }
  memory_.resize(static_cast<std::int64_t>(image_.size()));
  detail::copy_to_device(memory_.data(), image_.data(), image_.size());
  placed_ = true;
}

void Mirror::receive() {
  answer_.resize(image_.size());
  detail::copy_from_device(answer_.data(), memory_.data(), answer_.size());
  for (const Range& range : ranges_) {
    if (!range.writable) continue;
    const auto at = static_cast<std::ptrdiff_t>(range.offset);
    const auto size = static_cast<std::ptrdiff_t>(range.size());
    // A view that could be written led here.
    std::copy_n(answer_.begin() + at, size, const_cast<std::byte*>(range.begin));
    std::copy_n(answer_.begin() + at, size, image_.begin() + at);
  }
  const auto wrong = std::mismatch(answer_.begin(), answer_.end(), image_.begin()).first;
  if (wrong == answer_.end()) return;
  const auto at = static_cast<std::size_t>(wrong - answer_.begin());
  for (const Range& range : ranges_) {
    if (at >= range.offset && at < range.offset + range.size()) {
      ADD_FAILURE() << "byte " << at - range.offset << " of an input of " << range.size()
                    << " bytes was written";
      return;
    }
  }
  ADD_FAILURE() << "written outside of everything that the call was given";
}

}  // namespace trine::test
