// What follows a product while the result is still in registers.
//
// A thread holds `d` (two rows, 4 neighbouring columns in each group of 16, see operand.hpp). Values
// are read and written 16 bytes at a time where the caller's arrays allow it.
#pragma once

#include "cuda/gemm/epilogue_args.hpp"

namespace trine::cuda {

__device__ __forceinline__ float4 load4(const float* p, int left, bool wide) {
  if (wide && left >= 4) return *reinterpret_cast<const float4*>(p);
  float4 v = make_float4(0, 0, 0, 0);
  if (left > 0) v.x = p[0];
  if (left > 1) v.y = p[1];
  if (left > 2) v.z = p[2];
  if (left > 3) v.w = p[3];
  return v;
}

__device__ __forceinline__ void store4(float* p, float4 v, int left, bool wide) {
  if (wide && left >= 4) {
    *reinterpret_cast<float4*>(p) = v;
    return;
  }
  if (left > 0) p[0] = v.x;
  if (left > 1) p[1] = v.y;
  if (left > 2) p[2] = v.z;
  if (left > 3) p[3] = v.w;
}

template <class Function>
__device__ __forceinline__ float4 map4(float4 a, Function f) {
  return make_float4(f(a.x), f(a.y), f(a.z), f(a.w));
}
template <class Function>
__device__ __forceinline__ float4 map4(float4 a, float4 b, Function f) {
  return make_float4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));
}
__device__ __forceinline__ float4 add4(float4 a, float4 b) {
  return map4(a, b, [](float x, float y) { return x + y; });
}
__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
/// d/dx (x sigmoid(x)).
__device__ __forceinline__ float silu_slope(float x) {
  const float s = sigmoid(x);
  return s * (1.0f + x * (1.0f - s));
}

/// Where a thread's part of a tile lies.
struct TilePart {
  std::int64_t row[2];  ///< the two rows
  int column;           ///< first of the thread's columns: further groups are 16 apart
};

/// The four values of row half `h` in group `group` of 16 columns.
template <int kCount>
__device__ __forceinline__ float4 group4(const float (&d)[kCount], int group, int h) {
  const int i = 8 * group + 2 * h;
  return make_float4(d[i], d[i + 1], d[i + 4], d[i + 5]);
}

/// Partial sums of squares and largest magnitudes of 64 columns, over the four threads of a row.
struct RowStatistics {
  float squares[2] = {0, 0}, largest[2] = {0, 0};

  __device__ __forceinline__ void add(int h, float4 v) {
    squares[h] = fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, fmaf(v.w, v.w, squares[h]))));
    largest[h] = fmaxf(fmaxf(largest[h], fmaxf(fabsf(v.x), fabsf(v.y))),
                       fmaxf(fabsf(v.z), fabsf(v.w)));
  }

  __device__ __forceinline__ void store(const EpilogueArgs& a, const TilePart& part, int block,
                                        int blocks) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int distance = 1; distance <= 2; distance *= 2) {
        squares[h] += __shfl_xor_sync(~0u, squares[h], distance);
        largest[h] = fmaxf(largest[h], __shfl_xor_sync(~0u, largest[h], distance));
      }
      if (part.row[h] < a.m && block < blocks && threadIdx.x % 4 == 0) {
        float* out = a.statistics + 2 * (part.row[h] * blocks + block);
        out[0] = squares[h];
        out[1] = largest[h];
      }
    }
  }
};

/// z = d gain + bias + addend; y = z or silu(z) + residual. Backward: y = z silu'(before).
struct LinearEpilogue {
  template <int kCount>
  __device__ static void run(const float (&d)[kCount], const EpilogueArgs& a,
                             const TilePart& part) {
    constexpr int kGroups = kCount / 8;
#pragma unroll
    for (int block = 0; block < (kGroups + 3) / 4; ++block) {
      RowStatistics statistics;
#pragma unroll
      for (int i = 0; i < (kGroups < 4 ? kGroups : 4); ++i) {
        const int group = 4 * block + i, column = part.column + 16 * group;
        four(d, a, part, group, column, statistics);
      }
      if (a.statistics) {
        statistics.store(a, part, (part.column + 64 * block) / 64, (a.n + 63) / 64);
      }
    }
  }

 private:
  template <int kCount>
  __device__ static __forceinline__ void four(const float (&d)[kCount], const EpilogueArgs& a,
                                              const TilePart& part, int group, int column,
                                              RowStatistics& statistics) {
    const int left = a.n - column;
    const float4 bias = a.bias ? load4(a.bias + column, left, true) : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::int64_t row = part.row[h];
      if (row >= a.m || left <= 0) continue;
      float4 z = map4(group4(d, group, h), bias, [&](float x, float b) { return fmaf(x, a.gain, b); });
      if (a.addend.data) {
        z = add4(z, load4(a.addend.data + row * a.addend.stride + column, left, a.addend.wide));
      }
      if (a.pre.data) store4(a.pre.data + row * a.pre.stride + column, z, left, a.pre.wide);
      if (a.silu) z = map4(z, [](float x) { return x * sigmoid(x); });
      if (a.before.data) {
        const float4 p = load4(a.before.data + row * a.before.stride + column, left, a.before.wide);
        z = map4(z, p, [](float x, float q) { return x * silu_slope(q); });
      }
      if (a.residual.data) {
        z = add4(z, load4(a.residual.data + row * a.residual.stride + column, left,
                          a.residual.wide));
      }
      if (a.statistics) statistics.add(h, z);
      if (a.y.data) store4(a.y.data + row * a.y.stride + column, z, left, a.y.wide);
    }
  }
};

/// z = [v | g] = d gain + bias + addend; y = v sigmoid(g) + residual. The packed weight has rows of v
/// and g in turn, 32 of each, so that groups 0, 1 of 64 columns are v and groups 2, 3 their gates.
struct SwigluEpilogue {
  template <int kCount>
  __device__ static void run(const float (&d)[kCount], const EpilogueArgs& a,
                             const TilePart& part) {
    static_assert(kCount % 32 == 0, "whole blocks of 64 columns");
    const int half = a.n / 2;
#pragma unroll
    for (int block = 0; block < kCount / 32; ++block) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        // part.column counts packed columns; 64 of them are 32 of y.
        const int packed = part.column + 64 * block;
        const int column = packed / 64 * 32 + packed % 64 + 16 * i;
        pair(d, a, part, 4 * block + i, column, half);
      }
    }
  }

 private:
  template <int kCount>
  __device__ static __forceinline__ void pair(const float (&d)[kCount], const EpilogueArgs& a,
                                              const TilePart& part, int group, int column,
                                              int half) {
    const int left = half - column;
    const bool aligned = half % 4 == 0;
    float4 z[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::int64_t row = part.row[h];
      if (row >= a.m || left <= 0) continue;
#pragma unroll
      for (int gate = 0; gate < 2; ++gate) {
        const int c = column + gate * half;
        const float4 bias = a.bias ? load4(a.bias + c, left, aligned) : make_float4(0, 0, 0, 0);
        z[gate] = map4(group4(d, group + 2 * gate, h), bias,
                       [&](float x, float b) { return fmaf(x, a.gain, b); });
        if (a.addend.data) {
          z[gate] = add4(z[gate], load4(a.addend.data + row * a.addend.stride + c, left,
                                        a.addend.wide && aligned));
        }
        if (a.pre.data) {
          store4(a.pre.data + row * a.pre.stride + c, z[gate], left, a.pre.wide && aligned);
        }
      }
      float4 y = map4(z[0], z[1], [](float v, float g) { return v * sigmoid(g); });
      if (a.residual.data) {
        y = add4(y, load4(a.residual.data + row * a.residual.stride + column, left,
                          a.residual.wide));
      }
      store4(a.y.data + row * a.y.stride + column, y, left, a.y.wide);
    }
  }
};

/// Backward through y = v sigmoid(g): d gain is dy (m, n); before = [v | g] and y = [dv | dg] are
/// (m, 2 n).
struct SwigluBackwardEpilogue {
  template <int kCount>
  __device__ static void run(const float (&d)[kCount], const EpilogueArgs& a,
                             const TilePart& part) {
    const bool aligned = a.n % 4 == 0;
#pragma unroll
    for (int group = 0; group < kCount / 8; ++group) {
      const int column = part.column + 16 * group, left = a.n - column;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::int64_t row = part.row[h];
        if (row >= a.m || left <= 0) continue;
        const float4 dy = map4(group4(d, group, h), [&](float x) { return x * a.gain; });
        const float* before = a.before.data + row * a.before.stride + column;
        const float4 v = load4(before, left, a.before.wide);
        const float4 s = map4(load4(before + a.n, left, a.before.wide && aligned), sigmoid);
        float* out = a.y.data + row * a.y.stride + column;
        store4(out, map4(dy, s, [](float x, float y) { return x * y; }), left, a.y.wide);
        const float4 slope = map4(v, s, [](float x, float y) { return x * y * (1.0f - y); });
        store4(out + a.n, map4(dy, slope, [](float x, float y) { return x * y; }), left,
               a.y.wide && aligned);
      }
    }
  }
};

/// Reports the smallest row whose result is NaN.
template <int kCount>
__device__ __forceinline__ void report_bad_rows(const float (&d)[kCount], const EpilogueArgs& a,
                                                const TilePart& part) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (isnan(d[2 * h]) && part.row[h] < a.m) {
      atomicMin(a.bad_row, static_cast<unsigned long long>(a.first_row + part.row[h]));
    }
  }
}

}  // namespace trine::cuda
