// A weight whose products are computed as Tensor Cores compute them, bit for bit (docs/gemm.md).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cpu/emulation/kernels.hpp"
#include "ops/gemm_method.hpp"

namespace trine::cpu {

/// Row-major, `stride` elements from one row to the next.
struct ConstRows {
  const float* data;
  std::int64_t stride;
};
struct Rows {
  float* data;
  std::int64_t stride;
  std::int64_t first_column = 0;  ///< the one that `data` points at
};

class EmulatedProduct {
 public:
  enum class Direction { forward, backward };

  /// w (n, k). Throws Error(bad_input) for Inf and NaN.
  EmulatedProduct(GemmMethod method, GemmArch arch, ConstRows w, std::int64_t n, std::int64_t k,
                  GemmActivation activation = GemmActivation::none);

  /// Columns of x.
  std::int64_t inner(Direction direction) const;
  /// Columns of the product, in the order of the packed weight and padded to whole tiles.
  std::int64_t packed_columns(Direction direction) const;

  /// At most kTile rows of y = x w^T (forward) or y = x w (backward), and of these at most
  /// kMaxColumns columns in packed order, from `first`, a multiple of kTile.
  void multiply(Direction direction, std::int64_t first, std::int64_t count, int rows, ConstRows x,
                Rows y, const emulation::Kernels& kernels = emulation::kernels()) const;

  static constexpr std::int64_t kMaxColumns = 256;

 private:
  struct Scratch;

  void pack(ConstRows w);
  void scale_block(std::int64_t row, std::int64_t column);
  bool block_is_short(std::int64_t row, std::int64_t column) const;
  /// Row or column of w that is at `packed`; -1 for padding.
  std::int64_t natural(bool rows_of_w, std::int64_t packed) const;
  void gather_x(bool forward, std::int64_t chunk, int rows, ConstRows x, Scratch& s) const;
  void gather_w(bool forward, std::int64_t chunk, std::int64_t column, float* tile) const;
  void multiply_chunk(bool forward, std::int64_t chunk, std::int64_t first, std::int64_t count,
                      int rows, Scratch& s, const emulation::Kernels& kernels) const;
  void multiply_plain(bool forward, std::int64_t chunk, std::int64_t first, std::int64_t count,
                      int rows, Scratch& s, const emulation::Kernels& kernels) const;

  GemmMethod method_;
  GemmArch arch_;
  TensorCoreSum sum_;
  GemmWord word_;
  int chunk_;  ///< elements of the inner dimension per promotion
  int terms_;  ///< per hardware step
  std::array<int, 16> step_order_;
  std::int64_t n_, k_;
  std::vector<std::int64_t> row_order_;  ///< row of w at each packed row, -1 for padding
  std::int64_t padded_k_;
  std::vector<float> weight_;  ///< (packed rows, padded_k_), each block times its power of two
  std::vector<int> exponent_;  ///< e_b of each 64 x 64 block
  std::vector<float> gain_;    ///< of each block, against truncation
  int largest_exponent_ = 15;  ///< e_G
};

}  // namespace trine::cpu
