// A packed weight on the device.
#pragma once

#include "cuda/gemm/device.hpp"
#include "cuda/gemm/operand.hpp"
#include "trine/gemm.hpp"

namespace trine {
namespace cuda {

struct PackedWeight {
  GemmMethod method;
  GemmActivation activation;
  std::int64_t n, k;
  PackedOperand forward, backward;  ///< empty with fp32
  DeviceArray<std::uint8_t> words;
  DeviceArray<float> ratios;
  DeviceArray<float> plain;  ///< (n, k), fp32 only
  DeviceArray<float> bias;   ///< empty, or (n) and zeros up to the end of the widest tile

  bool swiglu() const { return activation == GemmActivation::swiglu; }
};

}  // namespace cuda

struct GemmWeight::Impl : cuda::PackedWeight {};

}  // namespace trine
