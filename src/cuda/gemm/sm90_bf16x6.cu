#include "cuda/gemm/table_sm90.cuh"

namespace trine::cuda {

KernelsByTile sm90_bf16x6(Direction direction, EpilogueKind epilogue) {
  return sm90::kernels<Bf16x6, 64>(direction, epilogue);
}

}  // namespace trine::cuda
