// Sorting the pairs of one atom, by a warp.
#pragma once

#include <cstdint>

#include "cuda/list/batch.cuh"

namespace trine::cuda {

/// Neighbour and shift as a number of 128 bits that is ordered like them.
struct alignas(16) PairKey {
  std::uint64_t high, low;
};

__host__ __device__ inline PairKey pair_key(std::int32_t neighbor, const std::int32_t shift[3]) {
  const auto ordered = [](std::int32_t s) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(s) ^ 0x80000000U);
  };
  return {
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(neighbor)) << 32 | ordered(shift[0]),
      ordered(shift[1]) << 32 | ordered(shift[2])};
}

__host__ __device__ inline bool is_before(const PairKey& a, const PairKey& b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/// A row in shared memory.
struct RowInRoom {
  PairKey* keys;

  __host__ __device__ PairKey get(std::int64_t k) const { return keys[k]; }
  __host__ __device__ void put(std::int64_t k, const PairKey& key) const { keys[k] = key; }
};

/// A row where the list has it.
struct RowInList {
  std::int32_t* neighbor;
  std::int32_t* shift;

  __host__ __device__ PairKey get(std::int64_t k) const {
    return pair_key(neighbor[k], shift + 3 * k);
  }
  __host__ __device__ void put(std::int64_t k, const PairKey& key) const {
    const auto plain = [](std::uint64_t s) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(s) ^ 0x80000000U);
    };
    neighbor[k] = static_cast<std::int32_t>(key.high >> 32);
    shift[3 * k] = plain(key.high);
    shift[3 * k + 1] = plain(key.low >> 32);
    shift[3 * k + 2] = plain(key.low);
  }
};

template <class Row>
__host__ __device__ void put_in_order(const Row& row, std::int64_t first, std::int64_t second) {
  const PairKey a = row.get(first), b = row.get(second);
  if (!is_before(b, a)) return;
  row.put(first, b);
  row.put(second, a);
}

/// Bitonic sorting network in the variant that always puts the smaller key first: keys that are
/// missing up to the next power of two count as largest and are never moved, so they need not
/// exist. `lane` of `lanes` does its share; `synchronize` waits for the others.
template <class Row, class Synchronize>
__host__ __device__ void sort_row(const Row& row, std::int64_t count, int lane, int lanes,
                                  Synchronize&& synchronize) {
  for (std::int64_t size = 2; size / 2 < count; size *= 2) {
    for (std::int64_t stride = size / 2; stride > 0; stride /= 2) {
      for (std::int64_t n = lane;; n += lanes) {
        const std::int64_t in_part = n & (stride - 1), part = (n - in_part) * 2;
        if (part >= count) break;
        // the first step compares a sorted half with the other one backwards
        const std::int64_t second =
            stride == size / 2 ? part + size - 1 - in_part : part + stride + in_part;
        if (second < count) put_in_order(row, part + in_part, second);
      }
      synchronize();
    }
  }
}

}  // namespace trine::cuda
