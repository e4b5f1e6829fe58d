// Epilogues of GEMM tiles, activations and their derivatives.
#pragma once

#include "cpu/kernels/kernels.hpp"
#include "cpu/kernels/simd.hpp"

namespace trine::cpu::TRINE_ISA {
template <class Real, class At>
inline Vec<Real> with_residuals(const TileEpilogue<Real>& e, std::int64_t row, At at, Vec<Real> y) {
  for (int k = 0; k < 2; ++k) {
    if (e.residual[k]) y += at.load(e.residual[k] + row * e.residual_stride[k]);
  }
  return y;
}

template <class Real, class At>
inline Vec<Real> biased(const TileEpilogue<Real>& e, std::int64_t row, At at) {
  Vec<Real> z = at.load(e.tile + row * e.columns);
  if (e.bias) z += at.load(e.bias);
  if (e.addend) z += at.load(e.addend + row * e.addend_stride);
  return z;
}

template <class Real>
void epilogue_linear(const TileEpilogue<Real>& e) {
  for (std::int64_t r = 0; r < e.rows; ++r) {
    for_each_vector<Real>(e.columns, [&](auto at) {
      at.store(e.y + r * e.y_stride, with_residuals(e, r, at, biased(e, r, at)));
    });
  }
}

template <class Real>
void epilogue_silu(const TileEpilogue<Real>& e) {
  for (std::int64_t r = 0; r < e.rows; ++r) {
    for_each_vector<Real>(e.columns, [&](auto at) {
      const Vec<Real> z = biased(e, r, at);
      if (e.pre) at.store(e.pre + r * e.pre_stride, z);
      at.store(e.y + r * e.y_stride, with_residuals(e, r, at, z * sigmoid(z)));
    });
  }
}

template <class Real>
void epilogue_swiglu(const TileEpilogue<Real>& e) {
  const std::int64_t half = e.columns / 2;
  for (std::int64_t r = 0; r < e.rows; ++r) {
    const Real* tile = e.tile + r * e.columns;
    Real* pre = e.pre ? e.pre + r * e.pre_stride : nullptr;
    for_each_vector<Real>(half, [&](auto at) {
      Vec<Real> value = at.load(tile);
      Vec<Real> gate = at.load(tile + half);
      if (e.bias) {
        value += at.load(e.bias);
        gate += at.load(e.bias + half);
      }
      if (pre) {
        at.store(pre, value);
        at.store(pre + half, gate);
      }
      at.store(e.y + r * e.y_stride, with_residuals(e, r, at, value * sigmoid(gate)));
    });
  }
}

template <class Real>
void silu(std::int64_t n, const Real* pre, Real* y) {
  for_each_vector<Real>(n, [&](auto at) {
    const Vec<Real> z = at.load(pre);
    at.store(y, z * sigmoid(z));
  });
}

template <class Real>
void silu_backward(std::int64_t n, const Real* pre, const Real* dy, Real* dz) {
  const Real one = 1;
  for_each_vector<Real>(n, [&](auto at) {
    const Vec<Real> z = at.load(pre);
    const Vec<Real> s = sigmoid(z);
    at.store(dz, at.load(dy) * (s * (one + z * (one - s))));
  });
}

template <class Real>
void swiglu_backward(std::int64_t half, const Real* pre, const Real* dy, Real* dz) {
  const Real one = 1;
  for_each_vector<Real>(half, [&](auto at) {
    const Vec<Real> value = at.load(pre);
    const Vec<Real> s = sigmoid(at.load(pre + half));
    const Vec<Real> d = at.load(dy) * s;
    at.store(dz, d);
    at.store(dz + half, d * value * (one - s));
  });
}

}  // namespace trine::cpu::TRINE_ISA
