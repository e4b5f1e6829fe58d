#include <algorithm>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "base/check.hpp"
#include "trine/experiments.hpp"

namespace trine {

Arithmetic arithmetic_named(const std::string& name) {
  if (name == "fp64") return {name, Precision::fp64, {}};
  std::vector<std::string> names = {"fp64"};
  for (const auto& info : gemm_methods()) {
    if (info.name == name) return {name, Precision::fp32, info.method};
    names.emplace_back(info.name);
  }
  fail(ErrorCode::usage, "unknown method '{}', use one of {}", name, fmt::join(names, ", "));
}

}  // namespace trine
