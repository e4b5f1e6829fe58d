// Collects the few pairs inside a taper, so that only they cost a transcendental function.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/kernels/kernels.hpp"

namespace trine::cpu {

/// Arguments u of the bump step with 0 < u < 1, each with a number that says whose it is.
class TaperBatch {
 public:
  /// Empties the batch and makes room for `offers` offers.
  void start(std::int64_t offers) {
    size_ = 0;
    const auto size = static_cast<std::size_t>(offers);
    if (size <= owner_.size()) return;
    owner_.resize(size);
    for (auto* values : {&step_, &value_, &slope_}) values->resize(size);
  }

  /// Keeps u if it lies inside the taper, without a branch: which do is hard to foresee.
  void offer(std::int32_t owner, double u) {
    const auto end = static_cast<std::size_t>(size_);
    owner_[end] = owner;
    step_[end] = u;
    size_ += static_cast<std::int64_t>(u > 0) & static_cast<std::int64_t>(u < 1);
  }

  void evaluate() { geometry_kernels().bump(size_, step_.data(), value_.data(), slope_.data()); }

  std::int64_t size() const { return size_; }
  std::int32_t owner(std::int64_t t) const { return owner_[static_cast<std::size_t>(t)]; }
  double value(std::int64_t t) const { return value_[static_cast<std::size_t>(t)]; }
  /// db/du
  double slope(std::int64_t t) const { return slope_[static_cast<std::size_t>(t)]; }

 private:
  std::int64_t size_ = 0;
  std::vector<std::int32_t> owner_;
  std::vector<double> step_, value_, slope_;
};

}  // namespace trine::cpu
