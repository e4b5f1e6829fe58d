// PyTorch tensors of a checkpoint: views of storages that lie in the archive as raw bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/checkpoint/pickle_value.hpp"
#include "models/checkpoint/zip_archive.hpp"
#include "models/host_tensor.hpp"

namespace trine::checkpoint {

/// A tensor that has not been read yet. Offsets and strides count elements.
struct TensorRef {
  DType type = DType::float32;
  std::string_view storage;       ///< its number in the archive
  std::int64_t storage_size = 0;  ///< elements
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> stride;

  bool contiguous() const;
  std::int64_t size() const;  ///< elements
};

/// Whether the pickle says that this is a tensor (or a parameter, which wraps one).
bool is_tensor(const Field& field);

/// Checks that the view stays inside its storage: every later access relies on it.
TensorRef parse_tensor(const Field& field);

/// Reads storages when a tensor needs them, each of them once.
class TensorReader {
 public:
  /// `root` is the archive's top folder, with its slash.
  TensorReader(const ZipArchive& archive, std::string root);

  /// Row-major copy; a contiguous view shares the storage's bytes instead. Real elements must be
  /// finite.
  HostTensor read(const TensorRef& ref, std::string_view name);

  ByteBudget& budget() { return budget_; }

 private:
  SharedBytes storage(const TensorRef& ref, std::string_view name);

  const ZipArchive& archive_;
  std::string root_;
  ByteBudget budget_;
  std::map<std::string, SharedBytes, std::less<>> storages_;
};

}  // namespace trine::checkpoint
