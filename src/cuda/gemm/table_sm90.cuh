// Fills a table of kernels.hpp from a method's scheme: the one place that names tile shapes.
#pragma once

#include "cuda/gemm/kernel_sm90.cuh"
#include "cuda/gemm/kernel_sm90_broad.cuh"
#include "cuda/gemm/kernel_sm90_held.cuh"
#include "cuda/gemm/kernel_sm90_team.cuh"
#include "cuda/gemm/kernels.hpp"

namespace trine::cuda::sm90 {

template <class T, class Epilogue, bool kTransposed>
Kernel kernel() {
  return {.function = reinterpret_cast<const void*>(&gemm_sm90<T, Epilogue, kTransposed>),
          .rows = T::kRows,
          .columns = T::kTileColumns,
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .resident_chunks = T::kResident,
          .box_rows = T::kRows};
}

template <class T, class Epilogue, bool kTransposed>
Kernel broad_kernel() {
  return {.function = reinterpret_cast<const void*>(&gemm_sm90_broad<T, Epilogue, kTransposed>),
          .rows = T::kRows,
          .columns = T::kTileColumns,
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .box_rows = T::kRows};
}

template <class T, class Epilogue, bool kTransposed>
Kernel held_kernel() {
  return {.function = reinterpret_cast<const void*>(&gemm_sm90_held<T, Epilogue, kTransposed>),
          .rows = T::kRows,
          .columns = 0,
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .held_chunks = T::kChunks,
          .most_out_blocks = T::kMostParts,
          .box_rows = T::kRows};
}

template <class T, class Epilogue, bool kTransposed>
Kernel team_kernel() {
  return {.function = reinterpret_cast<const void*>(&gemm_sm90_team<T, Epilogue, kTransposed>),
          .rows = T::kRows,
          .columns = T::kTileColumns,
          .threads = kThreads,
          .shared_bytes = T::kSharedBytes,
          .cluster = T::kCluster,
          .box_rows = T::kRows};
}

template <class S, int kInterval, class Epilogue, bool kTransposed>
KernelsByTile kernels_with() {
  KernelsByTile all;
  const auto set = [&all](TileKind kind, const Kernel& kernel) {
    all[static_cast<int>(kind)] = kernel;
  };
  set(TileKind::wide, kernel<Config<S, 128, false, kInterval>, Epilogue, kTransposed>());
  set(TileKind::low, kernel<Config<S, 64, true, kInterval>, Epilogue, kTransposed>());
  if constexpr (S::kElementBytes * S::kWords <= 4) {
    set(TileKind::resident, kernel<Config<S, 128, false, kInterval, 4>, Epilogue, kTransposed>());
    set(TileKind::team, team_kernel<TeamConfig<S, kInterval, 2>, Epilogue, kTransposed>());
  }
  if constexpr (S::kElementBytes == 2 && S::kWords <= 2) {
    set(TileKind::broad, broad_kernel<BroadConfig<S, kInterval>, Epilogue, kTransposed>());
  }
  if constexpr (S::kElementBytes == 2 && S::kWords == 2 && kSteps<Epilogue>) {
    set(TileKind::held, held_kernel<HeldConfig<S>, Epilogue, kTransposed>());
  }
  if constexpr (S::kWords <= 2) {  // more would not fit into the registers of a team
    set(TileKind::small, team_kernel<TeamConfig<S, kInterval, 1>, Epilogue, kTransposed>());
  }
  return all;
}

/// TF32 weights have a second, transposed copy instead of transposed reading.
template <class S, int kInterval>
KernelsByTile kernels(Direction direction, EpilogueKind epilogue) {
  constexpr bool transposed = S::kWord != Word::tf32;
  if (direction == Direction::forward) {
    if (epilogue == EpilogueKind::swiglu) {
      return kernels_with<S, kInterval, SwigluEpilogue, false>();
    }
    if (epilogue == EpilogueKind::bare) return kernels_with<S, kInterval, BareEpilogue, false>();
    return kernels_with<S, kInterval, LinearEpilogue, false>();
  }
  if (epilogue == EpilogueKind::bare) {
    return kernels_with<S, kInterval, BareEpilogue, transposed>();
  }
  if (epilogue == EpilogueKind::swiglu_backward) {
    return kernels_with<S, kInterval, SwigluBackwardEpilogue, transposed>();
  }
  return kernels_with<S, kInterval, LinearEpilogue, transposed>();
}

}  // namespace trine::cuda::sm90
