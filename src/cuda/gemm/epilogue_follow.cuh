// What follows a product with many rows, one type for each combination in use: nothing is asked
// while it runs, and what it reads is asked for before the products that it waits for.
//
// A thread has `d` as in epilogue.cuh, of 64 columns. Whole blocks of 64 columns exist and rows of
// all matrices start at multiples of 16 bytes; rows and columns beyond the matrices are read from
// the last ones instead, and go nowhere. Results go to boxes of 16 rows x 32 columns (Boxes).
// The order of operations is that of epilogue.cuh, and so are the bits.
#pragma once

#include "cuda/gemm/epilogue.cuh"
#include "cuda/gemm/ptx_sm90.cuh"

namespace trine::cuda {

/// Where 64 columns of a product lie. Made anew for every use: kept, it would take registers
/// during products.
struct FollowPlace {
  std::int64_t row[2];  ///< of the thread
  int column;           ///< of the thread, its four in the first group of 16; with swiglu packed
  int block;            ///< of 64 columns

  /// Of 64 rows that begin at `first_row`.
  __device__ __forceinline__ FollowPlace(std::int64_t first_row, int block_, const EpilogueArgs& a)
      : block(min(block_, a.n / 64 - 1)) {
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    const int g = thread % 32 / 4;
    row[0] = min(first_row + thread / 32 % 4 * 16 + g / 2 + g % 2 * 4, a.m - 1);
    row[1] = min(first_row + thread / 32 % 4 * 16 + g / 2 + g % 2 * 4 + 8, a.m - 1);
    column = 64 * block + thread % 4 * 4;
  }
};

/// What an epilogue reads for 64 columns, as a thread holds it: matrices, and the bias.
template <class Epilogue>
struct Others {
  /// Pieces of 16 bytes: first all of the left 32 columns, then all of the right ones.
  static constexpr int kHalf =
      4 * (Epilogue::kMatrices - Epilogue::kParked) + (Epilogue::kBias ? 2 : 0);
  static constexpr int kPieces = 2 * kHalf;

  float4 of[Epilogue::kMatrices > 0 ? Epilogue::kMatrices : 1][4][2];
  float4 bias[4];

  /// Matrices from `first` on to where this thread's results will lie, or could, two boxes for each
  /// of them. The thread itself takes them from there.
  template <class Boxes>
  __device__ __forceinline__ static void fetch(const EpilogueArgs& a, const FollowPlace& at,
                                               const Boxes& boxes, int first) {
#pragma unroll
    for (int j = first; j < Epilogue::kMatrices; ++j) {
      const DeviceMatrix<const float> matrix = Epilogue::matrix(a, j);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float* from = matrix.data + at.row[h] * matrix.stride + at.column;
#pragma unroll
        for (int group = 0; group < 4; ++group) {
          async_copy_16(boxes.place(2 * j + group / 2, group % 2, h), from + 16 * group);
        }
      }
    }
  }
  template <class Boxes>
  __device__ __forceinline__ void take(const Boxes& boxes, int half, int first) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = first; j < Epilogue::kMatrices; ++j) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          of[j][2 * half + i][h] = load_shared_float4(boxes.place(2 * j + half, i, h));
        }
      }
    }
  }
  /// The bias of strip `strip`.
  __device__ __forceinline__ void read_strip_bias(const EpilogueArgs& a, const FollowPlace& at,
                                                  int strip) {
    if constexpr (Epilogue::kBias) {
#pragma unroll
      for (int group = strip; group < 4; group += Epilogue::kStrips) {
        bias[group] = load_cached_bias_float4(a.bias, Epilogue::bias_column(a, at, group));
      }
    }
  }
  __device__ __forceinline__ void read_bias(const EpilogueArgs& a, const FollowPlace& at) {
    if constexpr (Epilogue::kBias) {
#pragma unroll
      for (int group = 0; group < 4; ++group) {
        bias[group] = load_cached_bias_float4(a.bias, Epilogue::bias_column(a, at, group));
      }
    }
  }

  /// Pieces `first` to `last` - 1.
  __device__ __forceinline__ void read(const EpilogueArgs& a, const FollowPlace& at, int first,
                                       int last) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto wanted = [&](int piece) {
        return half * kHalf + piece >= first && half * kHalf + piece < last;
      };
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int group = 2 * half + i;
#pragma unroll
        for (int j = 0; j < Epilogue::kMatrices - Epilogue::kParked; ++j) {
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            if (!wanted(4 * j + 2 * i + h)) continue;
            const DeviceMatrix<const float> matrix = Epilogue::matrix(a, j);
            of[j][group][h] = load_global_float4(matrix.data + at.row[h] * matrix.stride +
                                                 at.column + 16 * group);
          }
        }
        if (Epilogue::kBias && wanted(kHalf - 2 + i)) {
          bias[group] = load_bias_float4(a.bias, Epilogue::bias_column(a, at, group));
        }
      }
    }
  }
};

/// z = d gain + bias + addend; y = z or silu(z), + residual; or y = z silu'(before). With silu z
/// is a result, too, if `pre` is there.
template <bool kAddend, bool kResidual, bool kSilu, bool kBefore, bool kBiasT>
struct LinearFollow {
  static constexpr int kMatrices = kAddend + kResidual + kBefore;  ///< that are read
  /// The last matrix may wait in boxes that no result needs.
  static constexpr bool kParked = kMatrices > 1 && !kSilu;
  static constexpr bool kBias = kBiasT;
  static constexpr int kBoxes = kSilu ? 4 : 2;

  __device__ static __forceinline__ DeviceMatrix<const float> matrix(const EpilogueArgs& a, int i) {
    if (kAddend && i == 0) return a.addend;
    return kBefore ? a.before : a.residual;
  }
  __device__ static __forceinline__ int bias_column(const EpilogueArgs&, const FollowPlace& at,
                                                    int group) {
    return at.column + 16 * group;
  }

  /// 32 columns into their boxes.
  template <class Boxes>
  __device__ static __forceinline__ void finish(const float (&d)[32], const EpilogueArgs& a,
                                                const Others<LinearFollow>& others,
                                                const Boxes& boxes, int half) {
#pragma unroll
    for (int i = 0; i < 2; ++i) strip(d, a, others, boxes, 2 * half + i);
  }
  /// 16 columns.
  template <class Boxes>
  __device__ static __forceinline__ void strip(const float (&d)[32], const EpilogueArgs& a,
                                               const Others<LinearFollow>& others,
                                               const Boxes& boxes, int group) {
    const float4 bias = kBias ? others.bias[group] : make_float4(0, 0, 0, 0);
    float4 z[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float4& v = z[h];
      v = map4(group4(d, group, h), bias, [&](float x, float b) { return fmaf(x, a.gain, b); });
      if constexpr (kAddend) v = add4(v, others.of[0][group][h]);
      if constexpr (kBefore) {
        v = map4(v, others.of[0][group][h], [](float x, float q) { return x * silu_slope(q); });
      }
      if constexpr (kResidual) v = add4(v, others.of[kMatrices - 1][group][h]);
    }
    boxes.fill(z, group / 2, group % 2);
    if constexpr (kSilu) {
#pragma unroll
      for (int h = 0; h < 2; ++h) z[h] = map4(z[h], [](float x) { return x * sigmoid(x); });
      boxes.fill(z, 2 + group / 2, group % 2);
    }
  }
  /// Block `block` of 64 columns leaves its boxes.
  template <class Boxes>
  __device__ static __forceinline__ void leave(const EpilogueArgs& a, const Boxes& boxes,
                                               int block) {
    const bool exists = block < a.n / 64;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if constexpr (kSilu) boxes.send_pre(i, 64 * block + 32 * i, exists && a.pre.data);
      boxes.send(kSilu ? 2 + i : i, 64 * block + 32 * i, exists);
    }
  }
};

/// z = [v | g] = d gain + bias, a result if `pre` is there; y = v sigmoid(g). Blocks are packed:
/// 32 columns of v and their gates.
struct SwigluFollow {
  static constexpr int kMatrices = 0;
  static constexpr bool kParked = false;
  static constexpr bool kBias = true;
  static constexpr int kBoxes = 3;
  static constexpr int kStrips = 2;  ///< of 16 columns of v and of their gates

  __device__ static __forceinline__ DeviceMatrix<const float> matrix(const EpilogueArgs&, int) {
    return {};
  }
  __device__ static __forceinline__ int bias_column(const EpilogueArgs& a, const FollowPlace& at,
                                                    int group) {
    return at.column - 32 * at.block + 16 * (group % 2) + (group < 2 ? 0 : a.n / 2);
  }

  /// All at once: a box has values that meet gates of another.
  template <class Boxes>
  __device__ static __forceinline__ void finish(const float (&d)[32], const EpilogueArgs& a,
                                                const Others<SwigluFollow>& others,
                                                const Boxes& boxes, int half) {
    if (half == 0) return;
#pragma unroll
    for (int i = 0; i < 2; ++i) strip(d, a, others, boxes, i);
  }
  template <class Boxes>
  __device__ static __forceinline__ void strip(const float (&d)[32], const EpilogueArgs& a,
                                               const Others<SwigluFollow>& others,
                                               const Boxes& boxes, int i) {
    float4 z[2][2], y[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int gate = 0; gate < 2; ++gate) {
        z[gate][h] = map4(group4(d, i + 2 * gate, h), others.bias[i + 2 * gate],
                          [&](float x, float b) { return fmaf(x, a.gain, b); });
      }
      y[h] = map4(z[0][h], z[1][h], [](float v, float g) { return v * sigmoid(g); });
    }
    boxes.fill(z[0], 0, i);
    boxes.fill(z[1], 1, i);
    boxes.fill(y, 2, i);
  }
  template <class Boxes>
  __device__ static __forceinline__ void leave(const EpilogueArgs& a, const Boxes& boxes,
                                               int block) {
    const bool exists = block < a.n / 64;
    boxes.send_pre(0, 32 * block, exists && a.pre.data);
    boxes.send_pre(1, 32 * block + a.n / 2, exists && a.pre.data);
    boxes.send(2, 32 * block, exists);
  }
};

/// Backward through y = v sigmoid(g): before = [v | g] and y = [dv | dg] are twice as wide.
struct SwigluBackwardFollow {
  static constexpr int kMatrices = 2;
  static constexpr bool kParked = false;
  static constexpr bool kBias = false;
  static constexpr int kBoxes = 4;

  __device__ static __forceinline__ DeviceMatrix<const float> matrix(const EpilogueArgs& a, int i) {
    return {a.before.data + i * a.n, a.before.stride, true};
  }

  __device__ static __forceinline__ int bias_column(const EpilogueArgs&, const FollowPlace&, int) {
    return 0;
  }

  template <class Boxes>
  __device__ static __forceinline__ void finish(const float (&d)[32], const EpilogueArgs& a,
                                                const Others<SwigluBackwardFollow>& others,
                                                const Boxes& boxes, int half) {
#pragma unroll
    for (int i = 0; i < 2; ++i) strip(d, a, others, boxes, 2 * half + i);
  }
  template <class Boxes>
  __device__ static __forceinline__ void strip(const float (&d)[32], const EpilogueArgs& a,
                                               const Others<SwigluBackwardFollow>& others,
                                               const Boxes& boxes, int group) {
    float4 dv[2], dg[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float4 dy = map4(group4(d, group, h), [&](float x) { return x * a.gain; });
      const float4 s = map4(others.of[1][group][h], [](float g) { return sigmoid(g); });
      dv[h] = map4(dy, s, [](float x, float y) { return x * y; });
      const float4 slope =
          map4(others.of[0][group][h], s, [](float x, float y) { return x * y * (1.0f - y); });
      dg[h] = map4(dy, slope, [](float x, float y) { return x * y; });
    }
    boxes.fill(dv, group / 2, group % 2);
    boxes.fill(dg, 2 + group / 2, group % 2);
  }
  template <class Boxes>
  __device__ static __forceinline__ void leave(const EpilogueArgs& a, const Boxes& boxes,
                                               int block) {
    const bool exists = block < a.n / 64;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      boxes.send(i, 64 * block + 32 * i, exists);
      boxes.send(2 + i, 64 * block + 32 * i + a.n, exists);
    }
  }
};

}  // namespace trine::cuda
