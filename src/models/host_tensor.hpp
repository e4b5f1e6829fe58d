// A weight as the checkpoint holds it: element type, shape, contiguous bytes in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trine {

enum class DType {
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  size_
};

/// Bytes per element.
std::size_t element_size(DType type);

/// Contiguous, row-major, little-endian. Copies share the bytes.
struct HostTensor {
  DType type = DType::float32;
  std::vector<std::int64_t> shape;  ///< empty: a scalar
  std::shared_ptr<const std::byte[]> bytes;

  std::int64_t size() const;       ///< number of elements
  std::string shape_text() const;  ///< "(3, 128)"

  /// Converts every element; throws `Error(bad_input)` never, since every DType has a value in T.
  template <class T>
  std::vector<T> to_vector() const;  ///< T: float, double or std::int64_t
};

/// A float32 or float64 tensor from values; for synthetic models and tests.
template <class T>
HostTensor make_tensor(std::vector<std::int64_t> shape, const std::vector<T>& values);

}  // namespace trine
