// Rows, verdicts and errors of an arithmetic, by its name.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "trine/certificate.hpp"

namespace trine::validation {

/// What the policy is called that the search finds.
inline constexpr const char* kPolicyName = "policy";

/// The row of `arithmetic`, or null.
template <class Row>
const Row* row_of(const std::vector<Row>& rows, const std::string& arithmetic) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& r) { return r.arithmetic == arithmetic; });
  return row == rows.end() ? nullptr : &*row;
}

inline const Verdict* verdict_of(const Certificate& certificate, const std::string& arithmetic) {
  return row_of(certificate.verdicts, arithmetic);
}

/// From the single point, else of the policy as its search measured it, or null.
inline const PointErrors* point_errors_of(const Certificate& certificate,
                                          const std::string& arithmetic) {
  const auto& point = certificate.single_point;
  const PointErrors* row = point ? row_of(point->errors, arithmetic) : nullptr;
  if (row || arithmetic != kPolicyName || !certificate.layers) return row;
  return &certificate.layers->policy_errors;
}

}  // namespace trine::validation
