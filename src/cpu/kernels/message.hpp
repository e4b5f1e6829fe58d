// Edge embedding and small row operations.
#pragma once

#include "cpu/kernels/kernels.hpp"
#include "cpu/kernels/simd.hpp"

namespace trine::cpu::TRINE_ISA {

template <class Real>
void embed(std::int64_t n, const Real* w4, const Real* v4, const Real* row, Real* pre) {
  for_each_vector<Real>(n, [&](auto at) {
    Vec<Real> z = at.load(row);
    for (std::int64_t k = 0; k < 4; ++k) z += v4[k] * at.load(w4 + k * n);
    at.store(pre, z);
  });
}

template <class Real>
void embed_backward(std::int64_t n, const Real* w4, const Real* dz, Real* out) {
  Vec<Real> total[4] = {};
  for_each_vector<Real>(n, [&](auto at) {
    const Vec<Real> d = at.load(dz);
    for (std::int64_t k = 0; k < 4; ++k) total[k] += d * at.load(w4 + k * n);
  });
  for (std::int64_t k = 0; k < 4; ++k) out[k] = sum<Real>(total[k]);
}

template <class Real>
void axpby(std::int64_t n, Real a, const Real* x, Real b, Real* y) {
  for_each_vector<Real>(n, [&](auto at) { at.store(y, a * at.load(x) + b * at.load(y)); });
}

template <class Real>
Real dot(std::int64_t n, const Real* x, const Real* y) {
  Vec<Real> total{};
  for_each_vector<Real>(n, [&](auto at) { total += at.load(x) * at.load(y); });
  return sum<Real>(total);
}

}  // namespace trine::cpu::TRINE_ISA
