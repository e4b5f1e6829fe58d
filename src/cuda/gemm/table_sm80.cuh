// Fills a table of kernels.hpp from a method's scheme: the one place that names tile shapes.
#pragma once

#include "cuda/gemm/kernel_sm80.cuh"
#include "cuda/gemm/kernels.hpp"

namespace trine::cuda::sm80 {

template <class T, class Epilogue>
Kernel kernel() {
  return {.function = reinterpret_cast<const void*>(&gemm_sm80<T, Epilogue>),
          .rows = T::kRows,
          .columns = T::kTileColumns,
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .blocks_per_multiprocessor = 2};
}

/// Stages of which two blocks fit into the 164 KiB of an A100, at most 4.
constexpr int stages_that_fit(int stage_bytes) {
  const int n = 81 * 1024 / stage_bytes;
  return n < 4 ? n : 4;
}

/// Six bytes of words or more take 64 columns: larger fragments of x and w, and more products for
/// each.
template <class S, class Epilogue, bool kTransposed>
KernelsByTile kernels_with() {
  constexpr bool large = S::kWords * S::kElementBytes >= 6;
  constexpr int columns = large ? 64 : 128, together = large ? 2 : 4;
  using One = Config<S, 2, columns, 1, 2, kTransposed>;
  using OneLow = Config<S, 1, 64, together, 2, kTransposed>;
  KernelsByTile all;
  all[static_cast<int>(TileKind::wide)] =
      kernel<Config<S, 2, columns, 1, stages_that_fit(One::kStageBytes), kTransposed>, Epilogue>();
  all[static_cast<int>(TileKind::low)] =
      kernel<Config<S, 1, 64, together, stages_that_fit(OneLow::kStageBytes), kTransposed>,
             Epilogue>();
  return all;
}

/// TF32 weights have a second, transposed copy instead of transposed reading.
template <class S>
KernelsByTile kernels(Direction direction, EpilogueKind epilogue) {
  constexpr bool transposed = S::kWord != Word::tf32;
  if (direction == Direction::forward) {
    if (epilogue == EpilogueKind::swiglu) return kernels_with<S, SwigluEpilogue, false>();
    return kernels_with<S, LinearEpilogue, false>();
  }
  if (epilogue == EpilogueKind::swiglu_backward) {
    return kernels_with<S, SwigluBackwardEpilogue, transposed>();
  }
  return kernels_with<S, LinearEpilogue, transposed>();
}

}  // namespace trine::cuda::sm80
