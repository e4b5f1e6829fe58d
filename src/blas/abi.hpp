// What the interposed functions need of cuBLAS's binary interface (versions 12 and 13), so that
// they build, and can be tested, where there is no CUDA. abi_check.cpp compares it with the
// headers.
#pragma once

#include <cstddef>
#include <cstdint>

/// Marks what programs find in the library; nothing else is visible.
#define TRINE_INTERPOSED extern "C" __attribute__((visibility("default")))

namespace trine::blas::abi {

enum Operation : int { kN = 0, kT = 1, kC = 2 };
enum PointerMode : int { kHost = 0 };
enum DataType : int { kFloat = 0 };
enum ComputeType : int { kCompute32F = 68 };
enum Order : int { kColumns = 0 };
enum FillMode : int { kFull = 2 };
enum Epilogue : std::uint32_t { kNothing = 1, kBias = 4 };

/// Math modes: what remains without the bits that say nothing about FP32 products.
enum MathMode : int { kDefaultMath = 0, kPedantic = 2, kTf32 = 3, kDisallowReduction = 16 };

/// cublasLtMatmulDescAttributes_t
enum MatmulAttribute : int {
  kMatmulCompute = 0,
  kMatmulScale = 1,
  kMatmulPointerMode = 2,
  kMatmulTransA = 3,
  kMatmulTransB = 4,
  kMatmulTransC = 5,
  kMatmulFill = 6,
  kMatmulEpilogue = 7,
  kMatmulBias = 8,
  kMatmulScaleOfA = 17,
  kMatmulLargestOfD = 21,
  kMatmulBiasType = 26,
};

/// cublasLtMatrixLayoutAttribute_t
enum LayoutAttribute : int {
  kLayoutType = 0,
  kLayoutOrder = 1,
  kLayoutRows = 2,
  kLayoutColumns = 3,
  kLayoutStride = 4,
  kLayoutBatch = 5,
};

}  // namespace trine::blas::abi
