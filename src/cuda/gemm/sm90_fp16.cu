#include "cuda/gemm/table_sm90.cuh"

namespace trine::cuda {

KernelsByTile sm90_fp16(Direction direction, EpilogueKind epilogue) {
  return sm90::kernels<Fp16, 64>(direction, epilogue);
}

}  // namespace trine::cuda
