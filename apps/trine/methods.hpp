// The arithmetic that `--precision` can name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trine/model.hpp"

namespace trine::app {

/// One name for `--precision`.
struct Method {
  std::string_view name;
  int products;  ///< hardware products per product of the network
  std::string_view meaning;
  Precision precision = Precision::fp32;
  GemmMethod gemm = GemmMethod::fp32;

  /// On a CPU; slow.
  bool emulated() const { return gemm != GemmMethod::fp32; }
};

/// All names of the command-line contract: fp64, the methods of products, auto.
std::vector<Method> methods();

/// The one called `name`.
std::optional<Method> find_method(std::string_view name);

}  // namespace trine::app
