// What the host tells an epilogue.
#pragma once

#include <cstdint>

#include "cuda/gemm/operand.hpp"

namespace trine::cuda {

/// A row-major matrix on the device, or null. `wide`: rows start at multiples of 16 bytes.
template <class T>
struct DeviceMatrix {
  T* data = nullptr;
  std::int64_t stride = 0;
  bool wide = false;
};

/// Everything that any epilogue uses; absent parts are null.
struct EpilogueArgs {
  std::int64_t m = 0;
  std::int64_t first_row = 0;  ///< of the caller's matrix, for reports
  int n = 0;                   ///< columns of z; half of them values, half gates with swiglu
  /// Columns from which on a tile is not whole: 0 if any array has rows off multiples of 16 bytes.
  int whole_columns = 0;
  float gain = 0;
  bool silu = false;
  bool staged = false;                 ///< y leaves through the copy engine
  const float* bias = nullptr;         ///< (n), as in PackedWeight
  DeviceMatrix<const float> addend;    ///< (m, n) added to z
  DeviceMatrix<float> pre;             ///< (m, n) z
  DeviceMatrix<const float> residual;  ///< added to y
  DeviceMatrix<float> y;
  DeviceMatrix<const float> before;  ///< backward: the pre-activation that made this product's x
  float* statistics = nullptr;       ///< (m, ceil(out / 64), 2)
  unsigned long long* bad_row = nullptr;
  SplitOperand planes;      ///< y in planes, besides or instead of y
  bool pre_staged = false;  ///< pre leaves through the copy engine, too
  int staged_columns = 0;   ///< of y, if not n
};

}  // namespace trine::cuda
