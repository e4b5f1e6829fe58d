#include "cuda/gemm/table_sm80.cuh"

namespace trine::cuda {

KernelsByTile sm80_fp16x3(Direction direction, EpilogueKind epilogue) {
  return sm80::kernels<Fp16x3>(direction, epilogue);
}

}  // namespace trine::cuda
