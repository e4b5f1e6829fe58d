// One vector register of Real, in the width of the instruction set that this file is compiled for.
//
// Every source in this folder is compiled once per instruction set into its own namespace
// TRINE_ISA, so nothing here may be used elsewhere, and nothing here may instantiate inline library
// functions: the linker would keep one copy, maybe of the wider set.
#pragma once

#include <cstdint>

#if defined(__AVX512F__)
#define TRINE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define TRINE_VECTOR_BYTES 32
#else
#define TRINE_VECTOR_BYTES 16
#endif

namespace trine::cpu::TRINE_ISA {

template <class Real>
struct Simd;

template <>
struct Simd<float> {
  using V = float __attribute__((vector_size(TRINE_VECTOR_BYTES)));
  using I = std::int32_t __attribute__((vector_size(TRINE_VECTOR_BYTES)));
  using U __attribute__((vector_size(TRINE_VECTOR_BYTES), aligned(4), may_alias)) = float;
};

template <>
struct Simd<double> {
  using V = double __attribute__((vector_size(TRINE_VECTOR_BYTES)));
  using I = std::int64_t __attribute__((vector_size(TRINE_VECTOR_BYTES)));
  using U __attribute__((vector_size(TRINE_VECTOR_BYTES), aligned(8), may_alias)) = double;
};

template <class Real>
using Vec = typename Simd<Real>::V;

template <class Real>
inline constexpr std::int64_t kLanes = TRINE_VECTOR_BYTES / static_cast<std::int64_t>(sizeof(Real));

template <class Real>
inline Vec<Real> splat(Real x) {
  return Vec<Real>{} + x;
}

template <class Real>
inline Vec<Real> load(const Real* p) {
  return *reinterpret_cast<const typename Simd<Real>::U*>(p);
}

template <class Real>
inline void store(Real* p, Vec<Real> x) {
  *reinterpret_cast<typename Simd<Real>::U*>(p) = x;
}

/// The first `n` lanes from memory, zero elsewhere.
template <class Real>
inline Vec<Real> load_first(const Real* p, std::int64_t n) {
  Vec<Real> x{};
  for (std::int64_t i = 0; i < n; ++i) x[i] = p[i];
  return x;
}

template <class Real>
inline void store_first(Real* p, Vec<Real> x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) p[i] = x[i];
}

/// A whole register at `offset` of a row.
struct Whole {
  std::int64_t offset;
  template <class Real>
  Vec<Real> load(const Real* row) const {
    return TRINE_ISA::load(row + offset);
  }
  template <class Real>
  void store(Real* row, Vec<Real> x) const {
    TRINE_ISA::store(row + offset, x);
  }
};

/// The last `count` elements of a row whose length is no multiple of the register's; other lanes
/// read as 0.
struct Rest {
  std::int64_t offset, count;
  template <class Real>
  Vec<Real> load(const Real* row) const {
    return load_first(row + offset, count);
  }
  template <class Real>
  void store(Real* row, Vec<Real> x) const {
    store_first(row + offset, x, count);
  }
};

/// Calls `body` with Whole and, for the remainder, Rest, until `n` elements of Real are covered.
template <class Real, class Body>
inline void for_each_vector(std::int64_t n, Body&& body) {
  std::int64_t i = 0;
  for (; i + kLanes<Real> <= n; i += kLanes<Real>) body(Whole{i});
  if (i < n) body(Rest{i, n - i});
}

/// Sum of all lanes, pairwise.
template <class Real>
inline Real sum(Vec<Real> x) {
  Real lanes[kLanes<Real>];
  store(lanes, x);
  for (std::int64_t width = kLanes<Real> / 2; width > 0; width /= 2) {
    for (std::int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

template <class Real>
inline Real max(Vec<Real> x) {
  Real largest = x[0];
  for (std::int64_t i = 1; i < kLanes<Real>; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

template <class Real>
inline Vec<Real> clamp(Vec<Real> x, Real low, Real high) {
  x = x < low ? splat(low) : x;
  return x > high ? splat(high) : x;
}

/// e^x to about 1 ulp: x = n ln 2 + r, |r| <= ln 2 / 2, Taylor polynomial in r, scaled by 2^n. The
/// argument is clamped to the range whose results are normal numbers.
inline Vec<float> exp(Vec<float> x) {
  x = clamp<float>(x, -87.3F, 88.3F);
  const float magic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  const Vec<float> shifted = x * 1.44269504F + magic;
  const Vec<float> n = shifted - magic;
  const Vec<float> r =
      (x - n * 0.693359375F) + n * 2.12194440e-4F;  // ln 2 in two parts (Cody, Waite)
  Vec<float> p = splat(1.0F / 5040);
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  using I = Simd<float>::I;
  const I exponent = ((I)shifted << 23) + (127 << 23);
  return p * (Vec<float>)exponent;
}

inline Vec<double> exp(Vec<double> x) {
  x = clamp<double>(x, -708.0, 709.0);
  const double magic = 6755399441055744.0;  // 1.5 * 2^52
  const Vec<double> shifted = x * 1.4426950408889634 + magic;
  const Vec<double> n = shifted - magic;
  const Vec<double> r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  constexpr double kFactorials[] = {479001600, 39916800, 3628800, 362880, 40320, 5040, 720,
                                    120,       24,       6,       2,      1,     1};
  Vec<double> p = splat(1.0 / 6227020800.0);
  for (double factorial : kFactorials) p = p * r + 1.0 / factorial;
  using I = Simd<double>::I;
  const I exponent = ((I)shifted << 52) + (1023LL << 52);
  return p * (Vec<double>)exponent;
}

/// Logistic function 1 / (1 + e^-x).
inline Vec<float> sigmoid(Vec<float> x) {
  return 1.0F / (1.0F + exp(-x));
}
inline Vec<double> sigmoid(Vec<double> x) {
  return 1.0 / (1.0 + exp(-x));
}

}  // namespace trine::cpu::TRINE_ISA
