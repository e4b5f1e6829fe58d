// Operands of one product on the device, and how far a method's result is from float64.
#pragma once

#include <functional>

#include "cuda/benchmark/data.hpp"
#include "cuda/benchmark/runtime.hpp"

namespace trine::benchmark {

class Checker {
 public:
  Checker(const GemmBenchmarkCase& product, int rows, cudaStream_t stream);

  const GemmBenchmarkCase& product() const { return product_; }
  const float* x() const { return x_.data(); }
  const float* w() const { return w_.data(); }
  float* y() const { return y_.data(); }

  /// New operands, and the exact sample of their product.
  void set_operands(Distribution distribution, std::uint64_t seed);

  /// Poisons y, launches, and compares. Throws Error(validation_failed) if an element of y is NaN
  /// afterwards: not written, or wrongly computed.
  GemmErrors check(const std::function<void()>& launch);

 private:
  SampleArgs sample() const;

  GemmBenchmarkCase product_;
  cudaStream_t stream_;
  std::vector<std::int64_t> rows_;
  DeviceArray<float> x_, w_, y_;
  DeviceArray<std::int64_t> device_rows_;
  DeviceArray<double> exact_, scale_, error_;
  DeviceArray<unsigned long long> nan_;
};

}  // namespace trine::benchmark
