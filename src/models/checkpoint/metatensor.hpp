// Serialised metatensor TensorMaps: labelled blocks of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/checkpoint/bytes.hpp"

namespace trine::checkpoint {

/// Rows of named integers.
struct Labels {
  std::vector<std::string> names;
  std::vector<std::int64_t> values;  ///< (rows, names)

  std::int64_t rows() const;
};

/// Values of shape (samples, components..., properties), row-major. Gradients are not kept.
struct TensorBlock {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
  Labels samples;
  std::vector<Labels> components;
  Labels properties;
};

struct TensorMap {
  Labels keys;  ///< one row per block
  std::vector<TensorBlock> blocks;
};

/// Throws `Error(bad_input)`. `name` is for messages; what is unpacked is charged to `budget`.
TensorMap read_tensor_map(Bytes bytes, std::string_view name, ByteBudget& budget);

}  // namespace trine::checkpoint
