#include "cuda/gemm/table_sm80.cuh"

namespace trine::cuda {

KernelsByTile sm80_tf32x3(Direction direction, EpilogueKind epilogue) {
  return sm80::kernels<Tf32x3>(direction, epilogue);
}

}  // namespace trine::cuda
