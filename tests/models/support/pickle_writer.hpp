// Pickles put together from pieces: every function returns the instructions that push one value.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trine::testing::pickle {

using Piece = std::string;

Piece none();
Piece boolean(bool value);
Piece integer(std::int64_t value);
Piece real(double value);
Piece text(const std::string& value);
Piece list(const std::vector<Piece>& items);
Piece tuple(const std::vector<Piece>& items);
Piece dict(const std::vector<std::pair<std::string, Piece>>& entries);
Piece integers(const std::vector<std::int64_t>& values);  ///< a tuple
Piece global(const std::string& module, const std::string& name);
Piece call(const Piece& callee, const std::vector<Piece>& arguments);
/// An instance restored from `state`.
Piece object(const Piece& class_name, const Piece& state);

struct TensorPiece {
  std::string storage_class = "FloatStorage";
  std::string key = "0";
  std::int64_t storage_size = 1;
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape = {1};
  std::vector<std::int64_t> stride = {1};
};
Piece tensor(const TensorPiece& tensor);

/// The whole file, protocol 2.
std::string file(const Piece& value);

}  // namespace trine::testing::pickle
