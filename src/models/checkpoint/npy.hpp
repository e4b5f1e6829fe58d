// NumPy's .npy format, as far as metatensor uses it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/checkpoint/bytes.hpp"

namespace trine::checkpoint {

/// An array in C order, its values converted: reals to double, integers to int64.
struct NpyArray {
  std::vector<std::int64_t> shape;
  /// Of a structured array; empty for a plain one. A structured array of rows and f fields is read
  /// as if it had the shape (rows, f).
  std::vector<std::string> fields;
  std::vector<double> reals;           ///< filled if the elements are reals
  std::vector<std::int64_t> integers;  ///< filled if they are integers
};

/// Throws `Error(bad_input)`. `name` is for messages.
NpyArray read_npy(Bytes bytes, std::string_view name);

}  // namespace trine::checkpoint
