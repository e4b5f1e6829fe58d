// Which GPUs are here, and which of them trine can use.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trine {

struct CudaDevice {
  int number = 0;          ///< N of cuda:N
  std::string name;        ///< e.g. "NVIDIA H200"
  int capability = 0;      ///< e.g. 90
  int processors = 0;      ///< streaming multiprocessors
  std::size_t memory = 0;  ///< bytes
  bool usable = false;
  std::string reason;  ///< why not, if not usable
};

struct CudaDevices {
  std::vector<CudaDevice> found;
  std::string reason;  ///< why there are none, if there are none
};

/// Never throws for a missing driver or GPU: the reason says what is missing.
CudaDevices cuda_devices();

/// Folders in which cuBLAS is looked for where neither the process has it already nor the dynamic
/// linker finds it: Python's packages lie in such folders. To be called before a GPU is looked for;
/// without effect afterwards, and in a build without CUDA.
void set_cublas_folders(std::vector<std::string> folders);

/// Bytes of a GPU's memory that are taken, by whatever program. A model's memory grows and never
/// shrinks, so after an evaluation this is its peak, together with the CUDA context's share.
std::size_t cuda_memory_in_use(int device);

/// Number of the GPU that `device` means, -1 for the CPU: "cpu"; "cuda", the first GPU; "cuda:N";
/// or "auto", the first GPU that can be used, else the CPU. Throws `Error(usage)` for other names
/// and `Error(not_supported)`, with the reason, for a GPU that cannot be used.
int cuda_device_number(const std::string& device);

}  // namespace trine
