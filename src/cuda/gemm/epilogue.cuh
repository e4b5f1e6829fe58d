// What follows a product while the result is still in registers.
//
// A thread holds `d` (two rows, 4 neighbouring columns in each group of 16, see operand.hpp).
// Values are read and written 16 bytes at a time where the caller's arrays allow it.
#pragma once

#include "cuda/gemm/epilogue_args.hpp"

namespace trine::cuda {

/// Four neighbours of a row. kWhole: all four exist and lie at a multiple of 16 bytes.
template <bool kWhole>
__device__ __forceinline__ float4 load4(const float* p, int left, bool wide) {
  if (kWhole || (wide && left >= 4)) return *reinterpret_cast<const float4*>(p);
  float4 v = make_float4(0, 0, 0, 0);
  if (left > 0) v.x = p[0];
  if (left > 1) v.y = p[1];
  if (left > 2) v.z = p[2];
  if (left > 3) v.w = p[3];
  return v;
}

template <bool kWhole>
__device__ __forceinline__ void store4(float* p, float4 v, int left, bool wide) {
  if (kWhole || (wide && left >= 4)) {
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
/// 1 / (1 + e^-x) to about 2 ulp.
__device__ __forceinline__ float sigmoid(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(1.0f + expf(-x)));
  return y;
}
/// d/dx (x sigmoid(x)).
__device__ __forceinline__ float silu_slope(float x) {
  const float s = sigmoid(x);
  return s * (1.0f + x * (1.0f - s));
}

/// Where a thread's part of a tile lies.
struct TilePart {
  std::int64_t row[2];  ///< the two rows
  int column;           ///< first of the thread's columns: further groups are 16 apart
  bool whole;           ///< all rows and columns of the tile exist and lie at multiples of 16 bytes
};

/// The four values of row half `h` in group `group` of 16 columns.
template <int kCount>
__device__ __forceinline__ float4 group4(const float (&d)[kCount], int group, int h) {
  const int i = 8 * group + 2 * h;
  return make_float4(d[i], d[i + 1], d[i + 4], d[i + 5]);
}

/// Stores go straight to memory.
struct NoStaging {
  static constexpr bool kExists = false;
  __device__ void store(const float4 (&)[2][2], int, std::int64_t, int) const {}
};

/// Does the epilogue's staging split what it gets (epilogue_planes.cuh)? Then y may be absent.
template <class Staging>
inline constexpr bool kSplits = requires {
  Staging::kSplits;
};

/// May products start in the middle of the epilogue (BareEpilogue)?
template <class Epilogue>
inline constexpr bool kSteps = requires {
  Epilogue::kSteps;
};

/// Partial sums of squares and largest magnitudes of 64 columns, over the four threads of a row.
struct RowStatistics {
  float squares[2] = {0, 0}, largest[2] = {0, 0};

  __device__ __forceinline__ void add(int h, float4 v) {
    squares[h] = fmaf(v.x, v.x, fmaf(v.y, v.y, fmaf(v.z, v.z, fmaf(v.w, v.w, squares[h]))));
    largest[h] =
        fmaxf(fmaxf(largest[h], fmaxf(fabsf(v.x), fabsf(v.y))), fmaxf(fabsf(v.z), fabsf(v.w)));
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

/// y = d gain, or with a bias, through staging memory. In a kernel of its own: the code of all
/// other epilogues together is longer than the instruction caches.
struct BareEpilogue {
  /// The three steps of `run`, so that products may start in between: `fill` and `leave` have no
  /// branches, which would make ptxas serialise wgmmas.
  static constexpr bool kSteps = true;

  /// d becomes y.
  template <int kCount>
  __device__ static __forceinline__ void compute(float (&d)[kCount], const EpilogueArgs& a,
                                                 const TilePart& part) {
    if (!a.bias) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) d[i] *= a.gain;
      return;
    }
#pragma unroll
    for (int group = 0; group < kCount / 8; ++group) {
      const int column = part.column + 16 * group;
      const float4 bias = load4<true>(a.bias + column, 4, true);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float* z = d + 8 * group + 2 * h;
        z[0] = fmaf(z[0], a.gain, bias.x);
        z[1] = fmaf(z[1], a.gain, bias.y);
        z[4] = fmaf(z[4], a.gain, bias.z);
        z[5] = fmaf(z[5], a.gain, bias.w);
      }
    }
  }
  /// y to staging memory that is free.
  template <int kCount, class Staging>
  __device__ static __forceinline__ void fill(const float (&y)[kCount], const Staging& staging) {
#pragma unroll
    for (int group = 0; group < kCount / 8; group += 2) {
      const float4 z[2][2] = {{group4(y, group, 0), group4(y, group, 1)},
                              {group4(y, group + 1, 0), group4(y, group + 1, 1)}};
      staging.fill(z, group / 2);
    }
  }
  template <int kCount, class Staging>
  __device__ static __forceinline__ void leave(const TilePart& part, const Staging& staging) {
    staging.template leave<kCount / 16>(part.column, part.row[0]);
  }

  template <int kCount, class Staging>
  __device__ static __forceinline__ void run(float (&d)[kCount], const EpilogueArgs& a,
                                             const TilePart& part, const Staging& staging) {
    compute(d, a, part);
#pragma unroll
    for (int group = 0; group < kCount / 8; group += 2) {
      const float4 z[2][2] = {{group4(d, group, 0), group4(d, group, 1)},
                              {group4(d, group + 1, 0), group4(d, group + 1, 1)}};
      staging.store(z, part.column + 16 * group, part.row[0], group / 2);
    }
  }
};

/// z = d gain + bias + addend; y = z or silu(z) + residual. Backward: y = z silu'(before).
struct LinearEpilogue {
  template <int kCount, class Staging>
  __device__ static __forceinline__ void run(const float (&d)[kCount], const EpilogueArgs& a,
                                             const TilePart& part, const Staging& staging) {
    if (part.whole) {
      columns<true>(d, a, part, staging);
    } else {
      columns<false>(d, a, part, staging);
    }
  }

 private:
  /// Two groups of 16 columns at a time: few branches, and loads in flight together.
  template <bool kWhole, int kCount, class Staging>
  __device__ static __forceinline__ void columns(const float (&d)[kCount], const EpilogueArgs& a,
                                                 const TilePart& part, const Staging& staging) {
    RowStatistics statistics;
#pragma unroll
    for (int group = 0; group < kCount / 8; group += 2) {
      const Place<kWhole> place(a, part, part.column + 16 * group);
      float4 z[2][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float4 bias = a.bias ? load4<kWhole>(a.bias + place.column(i), place.left(i), true)
                                   : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          z[i][h] = map4(group4(d, group + i, h), bias,
                         [&](float x, float b) { return fmaf(x, a.gain, b); });
        }
      }
      if (a.addend.data) place.combine(z, a.addend, [](float x, float y) { return x + y; });
      if (a.pre.data) place.store(z, a.pre);
      if (a.silu) place.apply(z, [](float x) { return x * sigmoid(x); });
      if (a.before.data) {
        place.combine(z, a.before, [](float x, float q) { return x * silu_slope(q); });
      }
      if (a.residual.data) place.combine(z, a.residual, [](float x, float y) { return x + y; });
      if (a.statistics) {
        place.collect(z, statistics);
        if (group % 4 == 2) {
          statistics.store(a, part, (part.column + 16 * group) / 64, (a.n + 63) / 64);
          statistics = {};
        }
      }
      if constexpr (kSplits<Staging>) {
        if (a.y.data) place.store(z, a.y);
        staging.split(z, (part.column + 16 * group) / 64, part.row[0], group / 2);
      } else if (Staging::kExists && a.staged) {
        staging.store(z, part.column + 16 * group, part.row[0], group / 2);
      } else {
        place.store(z, a.y);
      }
    }
  }

  /// The two groups of two rows in the matrices around the product.
  template <bool kWhole>
  struct Place {
    const TilePart& part;
    int first, n;
    bool exists[2];

    __device__ __forceinline__ Place(const EpilogueArgs& a, const TilePart& part_, int column)
        : part(part_), first(column), n(a.n) {
      exists[0] = kWhole || part.row[0] < a.m;
      exists[1] = kWhole || part.row[1] < a.m;
    }
    __device__ __forceinline__ int column(int i) const { return first + 16 * i; }
    __device__ __forceinline__ int left(int i) const { return n - column(i); }

    template <class Function>
    __device__ __forceinline__ void each(Function f) const {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          if (kWhole || (exists[h] && left(i) > 0)) f(i, h);
        }
      }
    }
    template <class T>
    __device__ __forceinline__ T* at(const DeviceMatrix<T>& matrix, int i, int h) const {
      return matrix.data + part.row[h] * matrix.stride + column(i);
    }
    template <class Function>
    __device__ __forceinline__ void combine(float4 (&z)[2][2],
                                            const DeviceMatrix<const float>& matrix,
                                            Function f) const {
      float4 other[2][2];
      each([&](int i, int h) {
        other[i][h] = load4<kWhole>(at(matrix, i, h), left(i), matrix.wide);
      });
      each([&](int i, int h) { z[i][h] = map4(z[i][h], other[i][h], f); });
    }
    template <class Function>
    __device__ __forceinline__ void apply(float4 (&z)[2][2], Function f) const {
      each([&](int i, int h) { z[i][h] = map4(z[i][h], f); });
    }
    __device__ __forceinline__ void store(const float4 (&z)[2][2],
                                          const DeviceMatrix<float>& matrix) const {
      each([&](int i, int h) { store4<kWhole>(at(matrix, i, h), z[i][h], left(i), matrix.wide); });
    }
    __device__ __forceinline__ void collect(const float4 (&z)[2][2],
                                            RowStatistics& statistics) const {
      each([&](int i, int h) { statistics.add(h, z[i][h]); });
    }
  };
};

/// z = [v | g] = d gain + bias + addend; y = v sigmoid(g) + residual. The packed weight has rows of
/// v and g in turn, 32 of each, so that groups 0, 1 of 64 columns are v and groups 2, 3 their
/// gates.
struct SwigluEpilogue {
  template <int kCount, class Staging>
  __device__ static __forceinline__ void run(const float (&d)[kCount], const EpilogueArgs& a,
                                             const TilePart& part, const Staging& staging) {
    static_assert(kCount % 32 == 0, "whole blocks of 64 columns");
    constexpr bool keep = !kSplits<Staging>;
#pragma unroll
    for (int block = 0; block < kCount / 32; ++block) {
      // part.column counts packed columns; 64 of them are 32 of y.
      const int packed = part.column + 64 * block;
      const int first = packed / 64 * 32 + packed % 64;
      float4 y[2][2] = {};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (part.whole) {
          pair<true, keep>(d, a, part, 4 * block + i, first + 16 * i, y[i]);
        } else {
          pair<false, keep>(d, a, part, 4 * block + i, first + 16 * i, y[i]);
        }
      }
      if constexpr (kSplits<Staging>) staging.split(y, first / 64, part.row[0], block);
    }
  }

 private:
  /// Computes the y of two rows. kKeep: y is certainly wanted in memory.
  template <bool kWhole, bool kKeep, int kCount>
  __device__ static __forceinline__ void pair(const float (&d)[kCount], const EpilogueArgs& a,
                                              const TilePart& part, int group, int column,
                                              float4 (&y)[2]) {
    const int half = a.n / 2, left = half - column;
    const bool aligned = half % 4 == 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const std::int64_t row = part.row[h];
      if (!kWhole && (row >= a.m || left <= 0)) continue;
      float4 z[2];
#pragma unroll
      for (int gate = 0; gate < 2; ++gate) {
        const int c = column + gate * half;
        const float4 bias =
            a.bias ? load4<kWhole>(a.bias + c, left, aligned) : make_float4(0, 0, 0, 0);
        z[gate] = map4(group4(d, group + 2 * gate, h), bias,
                       [&](float x, float b) { return fmaf(x, a.gain, b); });
        if (a.addend.data) {
          z[gate] = add4(z[gate], load4<kWhole>(a.addend.data + row * a.addend.stride + c, left,
                                                a.addend.wide && aligned));
        }
        if (a.pre.data) {
          store4<kWhole>(a.pre.data + row * a.pre.stride + c, z[gate], left, a.pre.wide && aligned);
        }
      }
      y[h] = map4(z[0], z[1], [](float v, float g) { return v * sigmoid(g); });
      if (a.residual.data) {
        y[h] = add4(y[h], load4<kWhole>(a.residual.data + row * a.residual.stride + column, left,
                                        a.residual.wide));
      }
      if (kKeep || a.y.data) {
        store4<kWhole>(a.y.data + row * a.y.stride + column, y[h], left, a.y.wide);
      }
    }
  }
};

/// Backward through y = v sigmoid(g): d gain is dy (m, n); before = [v | g] and y = [dv | dg] are
/// (m, 2 n).
struct SwigluBackwardEpilogue {
  template <int kCount, class Staging>
  __device__ static __forceinline__ void run(const float (&d)[kCount], const EpilogueArgs& a,
                                             const TilePart& part, const Staging& staging) {
    if (part.whole) {
      columns<true>(d, a, part, staging);
    } else {
      columns<false>(d, a, part, staging);
    }
  }

 private:
  template <bool kWhole, int kCount, class Staging>
  __device__ static __forceinline__ void columns(const float (&d)[kCount], const EpilogueArgs& a,
                                                 const TilePart& part, const Staging& staging) {
    const bool aligned = a.n % 4 == 0;
    const bool keep = !kSplits<Staging> || a.y.data;
    float4 both[2][2][2];  // 32 columns of dv, then of dg, to split
#pragma unroll
    for (int group = 0; group < kCount / 8; ++group) {
      const int column = part.column + 16 * group, left = a.n - column;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::int64_t row = part.row[h];
        both[0][group % 2][h] = both[1][group % 2][h] = make_float4(0, 0, 0, 0);
        if (!kWhole && (row >= a.m || left <= 0)) continue;
        const float4 dy = map4(group4(d, group, h), [&](float x) { return x * a.gain; });
        const float* before = a.before.data + row * a.before.stride + column;
        const float4 v = load4<kWhole>(before, left, a.before.wide);
        const float4 s = map4(load4<kWhole>(before + a.n, left, a.before.wide && aligned),
                              [](float g) { return sigmoid(g); });
        const float4 dv = map4(dy, s, [](float x, float y) { return x * y; });
        const float4 slope = map4(v, s, [](float x, float y) { return x * y * (1.0f - y); });
        const float4 dg = map4(dy, slope, [](float x, float y) { return x * y; });
        if (keep) {
          float* out = a.y.data + row * a.y.stride + column;
          store4<kWhole>(out, dv, left, a.y.wide);
          store4<kWhole>(out + a.n, dg, left, a.y.wide && aligned);
        }
        both[0][group % 2][h] = dv;
        both[1][group % 2][h] = dg;
      }
      if constexpr (kSplits<Staging>) {
        if (group % 2 == 1) {
#pragma unroll
          for (int part_of = 0; part_of < 2; ++part_of) {
            staging.split(both[part_of], column / 32, part.row[0], part_of);
          }
        }
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
