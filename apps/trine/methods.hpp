// The arithmetic that `--precision` can name, and what of it exists here.
#pragma once

#include <span>
#include <string_view>

namespace trine::app {

/// One way to multiply matrices.
struct Method {
  std::string_view name;
  int products;  ///< hardware products per product of the network
  std::string_view meaning;
  std::string_view missing;  ///< why it is not available here; empty if it is
};

/// All names of the command-line contract, in its order.
std::span<const Method> methods();

/// The entry called `name`, or null.
const Method* find_method(std::string_view name);

}  // namespace trine::app
