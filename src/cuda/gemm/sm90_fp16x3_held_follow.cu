#include "cuda/gemm/kernel_sm90_held_follow.cuh"
#include "cuda/gemm/kernels_follow.hpp"

namespace trine::cuda {
namespace {

template <class Epilogue, bool kTransposed>
Kernel held_kernel() {
  using T = sm90::HeldFollowConfig<Fp16x3>;
  return {.function =
              reinterpret_cast<const void*>(&sm90::gemm_sm90_held_follow<T, Epilogue, kTransposed>),
          .rows = T::kRows,
          .columns = 0,
          .threads = sm90::kThreads,
          .shared_bytes = T::kSharedBytes,
          .held_chunks = T::kChunks,
          .most_out_blocks = T::kMostParts,
          .box_rows = T::kRows};
}

}  // namespace

Kernel sm90_fp16x3_held_follow(Direction, EpilogueKind epilogue) {
  if (epilogue == EpilogueKind::swiglu_alone) return held_kernel<SwigluFollow, false>();
  return {};
}

}  // namespace trine::cuda
