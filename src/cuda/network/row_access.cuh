// Rows of matrices in registers. The lanes of a row (a warp, or some warps) hold groups of four
// neighbouring columns; which lane holds a column, and so the order of every sum, depends on the
// number of columns alone: not on alignment, on the number of rows or on a row's place.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/network/chain.cuh"
#include "tensor/view.hpp"

namespace trine::cuda {

inline constexpr int kGroup = 4;  ///< neighbouring columns that a lane holds
inline constexpr int kWarp = 32;
inline constexpr int kTile = kWarp * kGroup;  ///< columns that a warp holds, one group per lane
inline constexpr int kRowThreads = 128;       ///< of a block whose warps work on rows of their own

template <class T>
struct alignas(16) Group {
  T value[kGroup];
};

/// May groups be read and written 16 bytes at a time? Absent matrices do not mind.
template <class T>
bool is_wide(const Matrix<T, MemSpace::device>& m) {
  const auto row_bytes = m.stride * static_cast<std::int64_t>(sizeof(T));
  return reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0 && row_bytes % 16 == 0 &&
         m.cols % kGroup == 0;
}
template <class T>
bool is_wide(const Vector<T, MemSpace::device>& v) {
  return reinterpret_cast<std::uintptr_t>(v.data) % 16 == 0 && v.size % kGroup == 0;
}

/// Columns c .. c + 3 of a row of `cols`, zeros past its end; `at(c)` points to column c.
template <class T, class At>
__device__ __forceinline__ void load_group(At at, int c, int cols, bool wide, T (&v)[kGroup]) {
  Group<T> group = {};
  if (wide) {
    if (c < cols) group = *reinterpret_cast<const Group<T>*>(at(c));
  } else {
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      if (c + j < cols) group.value[j] = *at(c + j);
    }
  }
#pragma unroll
  for (int j = 0; j < kGroup; ++j) v[j] = group.value[j];
}

template <class T, class At>
__device__ __forceinline__ void store_group(At at, int c, int cols, bool wide,
                                            const T (&v)[kGroup]) {
  if (wide) {
    Group<T> group;
#pragma unroll
    for (int j = 0; j < kGroup; ++j) group.value[j] = v[j];
    if (c < cols) *reinterpret_cast<Group<T>*>(at(c)) = group;
  } else {
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      if (c + j < cols) *at(c + j) = v[j];
    }
  }
}

/// A row as one piece of memory.
template <class T>
struct RowPointer {
  T* data;
  __device__ __forceinline__ T* operator()(int c) const { return data + c; }
};

/// A row of which `half` columns lie in one place and the others elsewhere.
template <class T>
struct SplitRowPointer {
  T* first;
  T* second;
  int half;
  __device__ __forceinline__ T* operator()(int c) const {
    return c < half ? first + c : second + (c - half);
  }
};

/// Rows of a matrix.
template <class T>
struct PlainRows {
  T* data = nullptr;
  std::int64_t stride = 0;

  PlainRows() = default;
  template <class U>
  __host__ __device__ explicit PlainRows(const Matrix<U, MemSpace::device>& m)
      : data(m.data), stride(m.stride) {}
  __device__ __forceinline__ RowPointer<T> row(std::int64_t r) const { return {data + r * stride}; }
};

/// The columns of one lane of kLanes; lane l holds groups l, l + kLanes ... of the row.
template <int kLanes>
__device__ __forceinline__ int first_column(int lane, int group) {
  return kGroup * (lane + kLanes * group);
}

template <int kLanes, int kGroups, class T, class At>
__device__ __forceinline__ void load_row(At at, int lane, int cols, bool wide,
                                         T (&v)[kGroups][kGroup]) {
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    load_group(at, first_column<kLanes>(lane, g), cols, wide, v[g]);
  }
}

template <int kLanes, int kGroups, class T, class At>
__device__ __forceinline__ void store_row(At at, int lane, int cols, bool wide,
                                          const T (&v)[kGroups][kGroup]) {
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    store_group(at, first_column<kLanes>(lane, g), cols, wide, v[g]);
  }
}

/// Sums over the lanes of a row, the same bits in each of them. More lanes than a warp are a block.
template <int kLanes, int kCount, class Real>
__device__ __forceinline__ void sum_lanes(Real (&x)[kCount]) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] += __shfl_xor_sync(~0u, x[i], distance);
  }
  if constexpr (kLanes > kWarp) {
    __shared__ Real partial[kLanes / kWarp][kCount];
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    __syncthreads();  // an earlier sum has been read
    if (threadIdx.x % kWarp == 0) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) partial[warp][i] = x[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      x[i] = 0;
#pragma unroll
      for (int w = 0; w < kLanes / kWarp; ++w) x[i] += partial[w][i];
    }
  }
}

inline std::int64_t divide_up(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

/// Starts a kernel of blocks in x, unless there is nothing to do; it has to `join_chain`.
template <class... Parameters, class... Args>
void launch(const char* what, void (*kernel)(Parameters...), std::int64_t blocks, int threads,
            std::size_t shared_bytes, cudaStream_t stream, const Args&... args) {
  if (blocks == 0) return;
  start_in_chain(what, kernel, {blocks, threads, shared_bytes}, stream, args...);
}

}  // namespace trine::cuda
