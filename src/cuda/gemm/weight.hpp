// A packed weight on the device.
#pragma once

#include "cuda/gemm/device.hpp"
#include "cuda/gemm/operand.hpp"
#include "trine/gemm.hpp"

namespace trine {
namespace cuda {

/// Where the parts of a packed weight lie in its memory, in bytes.
struct PackedLayout {
  int row_blocks = 0, column_blocks = 0;  ///< of 64, in the order of packed rows; 0 with fp32
  std::size_t words = 0;                  ///< size of one copy
  std::size_t across = 0;                 ///< words of the backward product; 0: it reads the others
  std::size_t ratios = 0, largest = 0, bias = 0, end = 0;
};

struct PackedWeight {
  GemmMethod method;
  GemmActivation activation;
  std::int64_t n, k;
  PackedOperand forward, backward;  ///< empty with fp32
  PackedLayout layout;
  bool is_placed = false;           ///< by `place`, to be packed again and again
  std::uint8_t* memory = nullptr;   ///< `owned`, or the caller's
  DeviceArray<std::uint8_t> owned;  ///< or empty
  DeviceArray<float> plain;         ///< (n, k), fp32 only
  float* bias = nullptr;            ///< in memory: (n) and zeros up to the end of the widest tile

  bool swiglu() const { return activation == GemmActivation::swiglu; }
};

}  // namespace cuda

struct GemmWeight::Impl : cuda::PackedWeight {};

}  // namespace trine
