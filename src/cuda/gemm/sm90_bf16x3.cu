#include "cuda/gemm/table_sm90.cuh"

namespace trine::cuda {

KernelsByTile sm90_bf16x3(Direction direction, EpilogueKind epilogue) {
  return sm90::kernels<Bf16x3, 64>(direction, epilogue);
}

}  // namespace trine::cuda
