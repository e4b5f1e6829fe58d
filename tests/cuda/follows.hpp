// What tests of the work that follows a product share, in both directions.
#pragma once

#include <cmath>
#include <limits>

#include "cuda/errors.hpp"
#include "cuda/inputs.hpp"
#include "cuda/products.hpp"

namespace trine::test {

inline constexpr double kU = 0x1p-24;
/// Of the device's expf and the operations around it, in units of the size of what they combine.
inline constexpr double kFunctionError = 16 * kU;
inline constexpr double kTiny = 1e-36;

inline constexpr Layout kLayouts[] = {{0, 0}, {4, 0}, {3, 0}, {0, 1}, {5, 1}};
/// n is even: half of it are gates with swiglu.
inline constexpr GemmShape kSmall[] = {{70, 128, 64}, {33, 40, 96}, {65, 130, 50}, {1, 2, 3}};
/// Rows that many rows repeat; prime, so that they meet every place of a tile.
inline constexpr std::int64_t kDistinct = 101;
/// Rows that are compared with double arithmetic.
inline constexpr std::int64_t kInDouble = 100;

inline std::string describe(const std::string& name, const GemmShape& s, Layout layout = {}) {
  return name + ", m=" + std::to_string(s.m) + " n=" + std::to_string(s.n) +
         " k=" + std::to_string(s.k) + " gap=" + std::to_string(layout.gap) +
         " offset=" + std::to_string(layout.offset);
}

/// The largest error over the error that is allowed; infinite after a NaN.
class Worst {
 public:
  void add(double error, double allowed) {
    if (!(error <= ratio_ * allowed)) ratio_ = error / allowed;
    if (std::isnan(ratio_)) ratio_ = std::numeric_limits<double>::infinity();
  }
  double ratio() const { return ratio_; }

 private:
  double ratio_ = 0;
};

class FollowTest : public MethodTest {
 protected:
  void note(const Worst& worst, const std::string& what) {
    EXPECT_LE(worst.ratio(), 1) << what;
    worst_ = std::max(worst_, worst.ratio());
  }
  /// Of the product's error, in units of u |x||w|.
  double bound(std::int64_t inner) const {
    return gemm_error_bound(method(), arch(GetParam().kernels), inner);
  }
  void TearDown() override {
    if (!IsSkipped()) record_worst(worst_);
  }

 private:
  double worst_ = 0;
};

/// On the device if a call takes it; nothing otherwise.
inline DeviceMatrix if_used(bool used, const HostMatrix& m, Layout layout) {
  return used ? DeviceMatrix(m, layout) : DeviceMatrix(0, 0);
}
inline DeviceMatrix if_used(bool used, std::int64_t rows, std::int64_t cols, Layout layout) {
  return used ? DeviceMatrix(rows, cols, layout) : DeviceMatrix(0, 0);
}

}  // namespace trine::test
