// NumPy arrays and metatensor TensorMaps as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trine::testing {

/// `header` is the Python dict literal; it is padded as NumPy does.
std::string make_npy(const std::string& header, const std::string& data);
std::string npy_reals(const std::vector<std::int64_t>& shape, const std::vector<double>& values);
std::string npy_labels(const std::vector<std::string>& names,
                       const std::vector<std::int32_t>& values);

/// One block of a TensorMap whose key is ("_", 0).
struct BlockText {
  std::vector<std::string> sample_names = {};
  std::vector<std::int32_t> samples = {};
  std::vector<std::int32_t> components = {};  ///< sizes
  std::vector<double> values = {};
  std::vector<std::string> key_names = {"_"};
  std::int32_t properties = 1;
};
std::string make_tensor_map(const BlockText& block);

/// The bytes of numbers, as a tensor's storage holds them.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace trine::testing
