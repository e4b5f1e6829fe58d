#include "models/gemm_sites.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/check.hpp"
#include "base/wildcard.hpp"

namespace trine {
namespace {

/// Characters that two names have in common at their beginnings and ends.
std::size_t likeness(std::string_view a, std::string_view b) {
  const auto front = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto back = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
  return static_cast<std::size_t>(front + back);
}

/// Those of `sites` that are most like `name`.
std::vector<std::string> near_names(const std::vector<GemmSite>& sites, std::string_view name) {
  std::vector<std::string> names;
  names.reserve(sites.size());
  for (const GemmSite& site : sites) names.push_back(site.name);
  std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return likeness(a, name) > likeness(b, name);
  });
  names.resize(std::min<std::size_t>(names.size(), 3));
  return names;
}

}  // namespace

GemmMethod GemmSites::add(const std::string& name, std::int64_t out, std::int64_t in) {
  const auto last = std::find_if(policy_.sites.rbegin(), policy_.sites.rend(),
                                 [&](const auto& site) { return matches(site.first, name); });
  const GemmMethod method = last == policy_.sites.rend() ? policy_.method : last->second;
  sites_.push_back({name, out, in, method});
  return method;
}

void GemmSites::check_names() const {
  for (const auto& exception : policy_.sites) {
    const std::string& pattern = exception.first;
    const bool found = std::any_of(sites_.begin(), sites_.end(), [&](const GemmSite& site) {
      return matches(pattern, site.name);
    });
    if (found) continue;
    fail(ErrorCode::bad_input,
         "{}: the model has no linear layer '{}' (near are {}), see 'trine info MODEL --sites'",
         policy_.source.empty() ? "precision policy" : policy_.source, pattern,
         fmt::join(near_names(sites_, pattern), ", "));
  }
}

}  // namespace trine
