// RMSNorm and LayerNorm of one row, and their gradients (statistics are recomputed, not kept).
#pragma once

#include "cpu/kernels/kernels.hpp"
#include "cpu/kernels/simd.hpp"

namespace trine::cpu::TRINE_ISA {

template <class Real>
inline Real sqrt_of(Real x);
template <>
inline float sqrt_of(float x) {
  return __builtin_sqrtf(x);
}
template <>
inline double sqrt_of(double x) {
  return __builtin_sqrt(x);
}

/// Mean (0 for RMSNorm) and reciprocal root of the mean square about it.
template <class Real>
struct NormStatistics {
  Real mean;
  Real inverse;
};

template <class Real>
inline NormStatistics<Real> norm_statistics(const NormRow<Real>& n, const Real* x) {
  const Real width = static_cast<Real>(n.width);
  Real mean = 0;
  if (n.kind == Normalization::layer_norm) {
    Vec<Real> total{};
    for_each_vector<Real>(n.width, [&](auto at) { total += at.load(x); });
    mean = sum<Real>(total) / width;
  }
  Vec<Real> squares{};
  std::int64_t i = 0;
  for (; i + kLanes<Real> <= n.width; i += kLanes<Real>) {
    const Vec<Real> d = load(x + i) - mean;
    squares += d * d;
  }
  Real rest = 0;
  for (; i < n.width; ++i) rest += (x[i] - mean) * (x[i] - mean);
  const Real variance = (sum<Real>(squares) + rest) / width;
  return {mean, 1 / sqrt_of<Real>(variance + n.epsilon)};
}

template <class Real>
void norm(const NormRow<Real>& n, const Real* x, Real* y) {
  const auto s = norm_statistics(n, x);
  for_each_vector<Real>(n.width, [&](auto at) {
    Vec<Real> v = (at.load(x) - s.mean) * s.inverse * at.load(n.weight);
    if (n.bias) v += at.load(n.bias);
    at.store(y, v);
  });
}

/// With xh = (x - mean) inverse and g = dy weight:
/// dx += inverse (g - xh mean(g xh)), and for LayerNorm also - inverse mean(g).
template <class Real>
void norm_backward(const NormRow<Real>& n, const Real* x, const Real* dy, Real* dx) {
  const auto s = norm_statistics(n, x);
  Vec<Real> g_total{}, gx_total{};
  for_each_vector<Real>(n.width, [&](auto at) {
    const Vec<Real> g = at.load(dy) * at.load(n.weight);  // lanes past the end are 0
    g_total += g;
    gx_total += g * ((at.load(x) - s.mean) * s.inverse);
  });
  const Real width = static_cast<Real>(n.width);
  const Real gx = sum<Real>(gx_total) / width;
  const Real g_mean = n.kind == Normalization::layer_norm ? sum<Real>(g_total) / width : Real(0);
  for_each_vector<Real>(n.width, [&](auto at) {
    const Vec<Real> g = at.load(dy) * at.load(n.weight);
    const Vec<Real> xh = (at.load(x) - s.mean) * s.inverse;
    at.store(dx, at.load(dx) + s.inverse * (g - g_mean - xh * gx));
  });
}

}  // namespace trine::cpu::TRINE_ISA
