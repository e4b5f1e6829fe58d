#include "cuda/gemm/table_sm90.cuh"

namespace trine::cuda {

KernelsByTile sm90_tf32(Direction direction, EpilogueKind epilogue) {
  return sm90::kernels<Tf32, 32>(direction, epilogue);
}

}  // namespace trine::cuda
