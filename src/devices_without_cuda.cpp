// The GPUs of a build that has no CUDA: none, and why.
#include "trine/devices.hpp"

namespace trine {

CudaDevices cuda_devices() {
  return {.found = {}, .reason = "this build of trine has no CUDA"};
}

void set_cublas_folders(std::vector<std::string>) {}

std::size_t cuda_memory_in_use(int) {
  return 0;
}

}  // namespace trine
