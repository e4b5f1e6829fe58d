// Fills a table of kernels.hpp with the kernels that read or write planes.
#pragma once

#include <type_traits>

#include "cuda/gemm/kernel_sm90.cuh"
#include "cuda/gemm/kernel_sm90_planes_small.cuh"
#include "cuda/gemm/kernels.hpp"

namespace trine::cuda::sm90 {

/// kIn: x in planes. The shapes of both kinds of kernel are the same but for their memory.
template <class S, bool kIn, int kColumns, bool kSideBySide, int kResident, class Epilogue,
          bool kTransposed>
Kernel planes_kernel() {
  using T = std::conditional_t<kIn, PlanesConfig<S, kColumns, kSideBySide, kResident>,
                               Config<S, kColumns, kSideBySide, 128 / S::kElementBytes, kResident>>;
  Kernel kernel{.rows = T::kRows,
                .columns = T::kTileColumns,
                .threads = kThreads,
                .shared_bytes = T::kSharedBytes,
                .resident_chunks = T::kResident,
                .box_rows = T::kRows};
  if constexpr (kIn) {
    kernel.function = reinterpret_cast<const void*>(&gemm_sm90_planes<T, Epilogue, kTransposed>);
  } else {
    kernel.function = reinterpret_cast<const void*>(&gemm_sm90<T, Epilogue, kTransposed>);
  }
  return kernel;
}

template <class S, class Epilogue, bool kTransposed>
Kernel small_planes_kernel() {
  using T = SmallPlanesConfig<S>;
  return {
      .function = reinterpret_cast<const void*>(&gemm_sm90_planes_small<T, Epilogue, kTransposed>),
      .rows = T::kRows,
      .columns = T::kTileColumns,
      .threads = kSmallThreads,
      .shared_bytes = T::kSharedBytes,
      .box_rows = T::kRows,
      .is_split = true};
}

/// Planes of a gated y need 128 packed columns in one warpgroup: no `low`. Of `broad` and teams
/// there are none; `small` is for planes in alone.
template <class S, bool kIn, bool kOut, class Base, bool kTransposed>
KernelsByTile planes_kernels_with() {
  using Epilogue = std::conditional_t<kOut, ToPlanes<S, Base>, Base>;
  KernelsByTile all;
  const auto set = [&all](TileKind kind, const Kernel& kernel) {
    all[static_cast<int>(kind)] = kernel;
  };
  set(TileKind::wide, planes_kernel<S, kIn, 128, false, 0, Epilogue, kTransposed>());
  if constexpr (S::kElementBytes * S::kWords <= 4) {
    set(TileKind::resident, planes_kernel<S, kIn, 128, false, 4, Epilogue, kTransposed>());
  }
  if constexpr (!kOut || !std::is_same_v<Base, SwigluEpilogue>) {
    set(TileKind::low, planes_kernel<S, kIn, 64, true, 0, Epilogue, kTransposed>());
  }
  if constexpr (kIn && !kOut) set(TileKind::small, small_planes_kernel<S, Epilogue, kTransposed>());
  return all;
}

template <class S, bool kIn, bool kOut>
KernelsByTile planes_kernels(Direction direction, EpilogueKind epilogue) {
  constexpr bool transposed = S::kWord != Word::tf32;
  if constexpr (!kOut) {
    if (epilogue == EpilogueKind::bare) {
      return direction == Direction::forward
                 ? planes_kernels_with<S, kIn, kOut, BareEpilogue, false>()
                 : planes_kernels_with<S, kIn, kOut, BareEpilogue, transposed>();
    }
  }
  if (direction == Direction::forward) {
    if (epilogue == EpilogueKind::swiglu) {
      return planes_kernels_with<S, kIn, kOut, SwigluEpilogue, false>();
    }
    return planes_kernels_with<S, kIn, kOut, LinearEpilogue, false>();
  }
  if (epilogue == EpilogueKind::swiglu_backward) {
    return planes_kernels_with<S, kIn, kOut, SwigluBackwardEpilogue, transposed>();
  }
  return planes_kernels_with<S, kIn, kOut, LinearEpilogue, transposed>();
}

template <class S>
KernelsByTile planes_kernels(Form form, Direction direction, EpilogueKind epilogue) {
  if (!form.planes_in) return planes_kernels<S, false, true>(direction, epilogue);
  if (!form.planes_out) return planes_kernels<S, true, false>(direction, epilogue);
  return planes_kernels<S, true, true>(direction, epilogue);
}

}  // namespace trine::cuda::sm90
