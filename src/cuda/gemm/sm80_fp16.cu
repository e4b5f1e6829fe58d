#include "cuda/gemm/table_sm80.cuh"

namespace trine::cuda {

KernelsByTile sm80_fp16(Direction direction, EpilogueKind epilogue) {
  return sm80::kernels<Fp16>(direction, epilogue);
}

}  // namespace trine::cuda
