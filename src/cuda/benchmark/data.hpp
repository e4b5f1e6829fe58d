// Operands of the benchmark, and what is exact, computed on the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "trine/gemm_benchmark.hpp"

namespace trine::benchmark {

enum class Distribution { normal, same_sign };

/// Element i is a function of i, `seed` and `distribution` alone.
void fill(float* x, std::int64_t size, Distribution distribution, std::uint64_t seed,
          cudaStream_t stream);

/// All elements NaN.
void poison(float* x, std::int64_t size, cudaStream_t stream);

/// Adds the number of NaN among `size` elements to *count (device).
void count_nan(const float* x, std::int64_t size, unsigned long long* count, cudaStream_t stream);

/// Compares some rows of a product with float64. x is (m, inner), the product (m, outputs); w is
/// the weight as it lies in memory. Element (r, j) of the sample is row `rows[r]`, output j.
struct SampleArgs {
  GemmBenchmarkCase product;
  const std::int64_t* rows = nullptr;  ///< [count] device
  int count = 0;
  const float* x = nullptr;
  const float* w = nullptr;
  double* exact = nullptr;  ///< (count, outputs)
  double* scale = nullptr;  ///< (count, outputs): 2^-24 sum of |x||w|
};

void compute_exact(const SampleArgs& args, cudaStream_t stream);

/// error (count, outputs) = (y - exact) / scale
void compute_errors(const SampleArgs& args, const float* y, double* error, cudaStream_t stream);

/// Up to `count` rows from the first to the last of `m`, evenly spread.
std::vector<std::int64_t> sample_rows(std::int64_t m, int count);

/// Root mean square, largest magnitude and mean. NaN if any is NaN.
GemmErrors summarize(const std::vector<double>& errors);

}  // namespace trine::benchmark
