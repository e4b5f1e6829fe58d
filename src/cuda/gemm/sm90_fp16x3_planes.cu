#include "cuda/gemm/table_sm90_planes.cuh"

namespace trine::cuda {

KernelsByTile sm90_fp16x3_planes(Form form, Direction direction, EpilogueKind epilogue) {
  return sm90::planes_kernels<Fp16x3>(form, direction, epilogue);
}

}  // namespace trine::cuda
