// The GPUs of a build that has no CUDA: none, and why.
#include "trine/devices.hpp"

namespace trine {

CudaDevices cuda_devices() {
  return {.found = {}, .reason = "this build of trine has no CUDA"};
}

}  // namespace trine
