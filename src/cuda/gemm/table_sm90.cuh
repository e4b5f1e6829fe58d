// Fills a table of kernels.hpp from a method's scheme: the one place that names tile shapes.
#pragma once

#include "cuda/gemm/kernel_sm90.cuh"
#include "cuda/gemm/kernels.hpp"

namespace trine::cuda::sm90 {

template <class T, class Epilogue, bool kTransposed>
Kernel kernel() {
  return {.function = reinterpret_cast<const void*>(&gemm_sm90<T, Epilogue, kTransposed>),
          .rows = T::kRows,
          .columns = T::kTileColumns,
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .resident_chunks = T::kResidentChunks};
}

/// Stages that fit into shared memory beside `fixed` bytes, at most 4.
constexpr int stages_that_fit(std::uint32_t stage_bytes, std::uint32_t fixed = 0) {
  const int n = static_cast<int>((227 * 1024 - 2048 - fixed) / stage_bytes);
  return n < 4 ? n : 4;
}

template <class S, int kInterval, class Epilogue, bool kTransposed>
KernelsByTile kernels_with(Epilogue) {
  using One = Config<S, 128, false, 1, 0, kInterval>;
  using OneLow = Config<S, 64, true, 1, 0, kInterval>;
  using OneSmall = Config<S, 32, true, 1, 0, kInterval>;
  constexpr int wide = stages_that_fit(One::kStageBytes), low = stages_that_fit(OneLow::kStageBytes);
  KernelsByTile all;
  all[static_cast<int>(TileKind::wide)] =
      kernel<Config<S, 128, false, wide, 0, kInterval>, Epilogue, kTransposed>();
  all[static_cast<int>(TileKind::low)] =
      kernel<Config<S, 64, true, low, 0, kInterval>, Epilogue, kTransposed>();
  if constexpr (4 * One::kWBytes + 2 * One::kXBytes <= 225 * 1024) {
    all[static_cast<int>(TileKind::resident)] =
        kernel<Config<S, 128, false, stages_that_fit(One::kXBytes, 4 * One::kWBytes), 4, kInterval>,
               Epilogue, kTransposed>();
  }
  if constexpr (!std::is_same_v<Epilogue, SwigluEpilogue>) {
    constexpr int small = stages_that_fit(OneSmall::kStageBytes);
    all[static_cast<int>(TileKind::small)] =
        kernel<Config<S, 32, true, small, 0, kInterval>, Epilogue, kTransposed>();
  }
  return all;
}

/// TF32 weights have a second, transposed copy instead of transposed reading.
template <class S, int kInterval>
KernelsByTile kernels(Direction direction, EpilogueKind epilogue) {
  constexpr bool transposed = S::kWord != Word::tf32;
  if (direction == Direction::forward) {
    if (epilogue == EpilogueKind::swiglu) {
      return kernels_with<S, kInterval, SwigluEpilogue, false>({});
    }
    return kernels_with<S, kInterval, LinearEpilogue, false>({});
  }
  if (epilogue == EpilogueKind::swiglu_backward) {
    return kernels_with<S, kInterval, SwigluBackwardEpilogue, transposed>({});
  }
  return kernels_with<S, kInterval, LinearEpilogue, transposed>({});
}

}  // namespace trine::cuda::sm90
