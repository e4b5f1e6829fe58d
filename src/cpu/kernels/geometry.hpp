// Counting step of the cutoffs and distances of candidate neighbours.
#pragma once

#include "cpu/kernels/kernels.hpp"
#include "cpu/kernels/simd.hpp"

namespace trine::cpu::TRINE_ISA {

/// 1 - q/3! + q^2/5! - ... (first = 1) or 1 - q/2! + q^2/4! - ... (first = 0): with q = h^2 that is
/// sin(h)/h and cos(h), to 1e-16 for |h| <= pi/4.
template <int first>
inline Vec<double> alternating_series(Vec<double> q) {
  Vec<double> p = splat(1.0);
  for (int k = 16 + first; k > first; k -= 2) p = 1.0 - p * q * (1.0 / (k * (k - 1)));
  return p;
}

/// b = (1 + tanh x) / 2 = 1 / (1 + e^-2x) with x = cot(pi u). Outside kFlat .. 1 - kFlat, b is 1 or
/// 0 to all digits of a double. With h = pi/2 (u - 1/2): cot(pi u) = -tan(2h), sin(pi u) = cos(2h),
/// both from the sine and cosine of h; db/du = -(pi/2) (1 - tanh^2 x) / sin^2(pi u), where 1 -
/// tanh^2 x = 4 E / (1 + E)^2.
inline void bump(std::int64_t n, const double* u, double* value, double* slope) {
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kFlat = 0.016;
  for_each_vector<double>(n, [&](auto at) {
    const Vec<double> step = at.load(u);
    const Vec<double> h = (clamp<double>(step, kFlat, 1 - kFlat) - 0.5) * (kPi / 2);
    const Vec<double> sine = h * alternating_series<1>(h * h);
    const Vec<double> cosine = alternating_series<0>(h * h);
    const Vec<double> secant = 1.0 / ((cosine - sine) * (cosine + sine));
    const Vec<double> magnitude = 2.0 * (sine < 0.0 ? -sine : sine) * cosine * secant;
    Vec<double> small = exp(-2.0 * magnitude);
    small = step > kFlat ? small : splat(0.0);
    small = step < 1 - kFlat ? small : splat(0.0);
    const Vec<double> inverse = 1.0 / (1.0 + small);
    const Vec<double> root = inverse * secant;
    at.store(value, sine <= 0.0 ? inverse : small * inverse);
    at.store(slope, -2 * kPi * small * root * root);
  });
}

inline void squared_distances(std::int64_t n, const double* x, const double* y, const double* z,
                              const double* point, double* out) {
  for_each_vector<double>(n, [&](auto at) {
    const Vec<double> dx = at.load(x) - point[0];
    const Vec<double> dy = at.load(y) - point[1];
    const Vec<double> dz = at.load(z) - point[2];
    at.store(out, dx * dx + dy * dy + dz * dz);
  });
}

}  // namespace trine::cpu::TRINE_ISA
