// How fast and how accurate each method of trine/gemm.hpp is on this machine's GPU, beside cuBLAS
// SGEMM in the same run. Plain numbers in and out; nothing here needs CUDA's headers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trine/gemm.hpp"

namespace trine {

enum class GemmDirection {
  forward,   ///< y (m, n) = x (m, k) w^T
  backward,  ///< dx (m, k) = dy (m, n) w
  size_
};

/// One product: `shape.m` rows and a weight of (shape.n, shape.k).
struct GemmBenchmarkCase {
  GemmDirection direction = GemmDirection::forward;
  GemmShape shape;

  std::int64_t outputs() const { return direction == GemmDirection::forward ? shape.n : shape.k; }
  std::int64_t inner() const { return direction == GemmDirection::forward ? shape.k : shape.n; }
  double flops() const {
    return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
           static_cast<double>(shape.k);
  }
};

struct GemmBenchmarkOptions {
  int device = 0;
  std::vector<GemmMethod> methods;  ///< fp32, the baseline, always runs and comes first
  double seconds = 0.3;             ///< of timed launches per figure
  int windows = 3;                  ///< the time of a figure is the median of so many intervals
  int check_rows = 64;              ///< rows compared with float64, spread over all
  bool graph = true;                ///< launch through CUDA graphs, as an engine would
  std::uint64_t seed = 1;
};

/// Of the elements compared: (computed - exact) / (2^-24 sum of |x||w|).
struct GemmErrors {
  double rms = 0, max = 0, mean = 0;  ///< `mean` keeps the sign
};

struct GemmBenchmarkFigure {
  GemmMethod method = GemmMethod::fp32;
  std::string reason;      ///< why the other members are empty; "" if they are not
  double seconds = 0;      ///< per product, splitting of x included, packing of w not
  double min_seconds = 0;  ///< of the fastest interval
  std::int64_t launches = 0;
  std::optional<int> sm_clock_mhz;  ///< read while it ran
  GemmErrors normal;                ///< x and w from N(0, 1)
  GemmErrors same_sign;             ///< x and w from U(0, 1): truncation shows as a mean error
  double bound = 0;                 ///< gemm_error_bound
};

/// A GPU, ready to measure. Throws Error(not_supported) where there is none.
class GemmBenchmark {
 public:
  explicit GemmBenchmark(const GemmBenchmarkOptions& options);
  GemmBenchmark(GemmBenchmark&&) noexcept;
  ~GemmBenchmark();

  std::string device_name() const;
  int capability() const;                   ///< e.g. 90
  std::string driver() const;               ///< e.g. "580.159.03"
  std::string toolkit() const;              ///< CUDA runtime and cuBLAS
  std::optional<int> sm_clock_mhz() const;  ///< now; none without NVML

  /// GemmContext::choose on this device.
  GemmMethod choose(const GemmShape& shape) const;

  /// The methods take turns, so that each meets the same clocks. A method that cannot run says why
  /// in its figure; so does one that leaves elements unwritten or makes them NaN.
  std::vector<GemmBenchmarkFigure> run(const GemmBenchmarkCase& product);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trine
