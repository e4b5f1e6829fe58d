#include "cuda/gemm/table_sm80.cuh"

namespace trine::cuda {

KernelsByTile sm80_bf16x3(Direction direction, EpilogueKind epilogue) {
  return sm80::kernels<Bf16x3>(direction, epilogue);
}

}  // namespace trine::cuda
