#include "ops/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trine {
namespace {

/// Rows of two calls that count as one shape differ by less than this factor.
constexpr double kAlike = 1.5;

bool alike(std::int64_t rows, double mean) {
  const auto r = static_cast<double>(rows);
  return r <= kAlike * mean && mean <= kAlike * r;
}

}  // namespace

void Profile::add(const OperationCall& call, double seconds) {
  const auto same = [&](const Entry& e) {
    return e.first.name == call.name && e.first.shape == call.shape &&
           alike(call.rows, static_cast<double>(e.rows) / static_cast<double>(e.calls));
  };
  auto entry = std::find_if(entries_.begin(), entries_.end(), same);
  if (entry == entries_.end()) entry = entries_.insert(entry, Entry{.first = call});
  ++entry->calls;
  entry->rows += call.rows;
  entry->seconds += seconds;
  entry->arithmetic += call.arithmetic;
  if (call.site.empty()) return;
  OperationTime& site = sites_[call.site];
  ++site.calls;
  site.seconds += seconds;
  site.arithmetic += call.arithmetic;
}

OperationTime Profile::linear(const std::string& site) const {
  const auto found = sites_.find(site);
  OperationTime time = found == sites_.end() ? OperationTime{} : found->second;
  time.name = site;
  return time;
}

std::vector<OperationTime> Profile::operations() const {
  std::vector<OperationTime> all;
  for (const Entry& e : entries_) {
    const bool equal = e.rows == e.first.rows * e.calls;
    all.push_back({.name = fmt::format("{} {}{}{}", e.first.name, equal ? "" : "~",
                                       (e.rows + e.calls / 2) / e.calls, e.first.shape),
                   .calls = e.calls,
                   .seconds = e.seconds,
                   .arithmetic = e.arithmetic});
  }
  std::stable_sort(all.begin(), all.end(), [](const OperationTime& a, const OperationTime& b) {
    return a.seconds > b.seconds;
  });
  return all;
}

}  // namespace trine
