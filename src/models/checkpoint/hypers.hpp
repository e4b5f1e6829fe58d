// Hyperparameters as the checkpoint lists them, and the configuration that they make.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/checkpoint/pickle_value.hpp"
#include "models/pet/config.hpp"

namespace trine::checkpoint {

/// A value that is neither a number nor text, e.g. a list: kept for display only.
struct OtherValue {
  std::string text;
};

using HyperValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, OtherValue>;

/// In the file's order. Entries of nested dicts are named "long_range.enable".
class Hypers {
 public:
  Hypers() = default;
  explicit Hypers(const Field& dict) { add_all(dict, "", 0); }

  const HyperValue* find(std::string_view name) const;
  void set(std::string_view name, HyperValue value);
  void set_if_absent(std::string_view name, HyperValue value);

  // Each throws `Error(bad_input)` if the entry is missing or of another type.
  std::int64_t integer(std::string_view name) const;  ///< a real without fraction will do
  double number(std::string_view name) const;         ///< finite
  bool flag(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  bool is_null(std::string_view name) const;

  std::vector<std::pair<std::string, std::string>> as_text() const;

 private:
  void add_all(const Field& dict, const std::string& prefix, int depth);
  const HyperValue& need(std::string_view name) const;

  std::vector<std::pair<std::string, HyperValue>> entries_;
  std::size_t visited_ =
      0;  ///< values looked at: dicts may be shared, so nesting could multiply them
};

/// From hyperparameters of format 16. Throws `Error(not_supported)` for what PET has but trine has
/// not, `Error(bad_input)` for values that make no network.
pet::PetConfig parse_config(const Hypers& hypers);

}  // namespace trine::checkpoint
