#include "cuda/gemm/table_sm90_planes.cuh"

namespace trine::cuda {

KernelsByTile sm90_bf16x6_planes(Form form, Direction direction, EpilogueKind epilogue) {
  return sm90::planes_kernels<Bf16x6>(form, direction, epilogue);
}

}  // namespace trine::cuda
