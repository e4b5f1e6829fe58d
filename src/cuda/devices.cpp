#include "trine/devices.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <utility>

#include "cuda/gemm/blas_library.hpp"
#include "cuda/gemm/device.hpp"

namespace trine {
namespace {

CudaDevice describe(int number) {
  CudaDevice device;
  device.number = number;
  cudaDeviceProp properties{};
  if (const auto status = cudaGetDeviceProperties(&properties, number); status != cudaSuccess) {
    device.reason = cudaGetErrorString(status);
    return device;
  }
  device.name = properties.name;
  device.capability = 10 * properties.major + properties.minor;
  device.processors = properties.multiProcessorCount;
  device.memory = properties.totalGlobalMem;
  device.reason = device.capability < 80
                      ? fmt::format("its compute capability is {}.{}, trine needs 8.0",
                                    properties.major, properties.minor)
                      : cuda::why_no_blas();
  device.usable = device.reason.empty();
  return device;
}

}  // namespace

CudaDevices cuda_devices() {
  CudaDevices devices;
  int count = 0;
  if (const auto status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    int driver = 0;
    const bool none = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
    devices.reason = none ? "no NVIDIA driver is installed"
                          : fmt::format("CUDA says: {}", cudaGetErrorString(status));
    cudaGetLastError();  // so that the next call does not report it again
    return devices;
  }
  for (int number = 0; number < count; ++number) devices.found.push_back(describe(number));
  if (count == 0) devices.reason = "this machine has no GPU";
  return devices;
}

void set_cublas_folders(std::vector<std::string> folders) {
  cuda::set_blas_folders(std::move(folders));
}

std::size_t cuda_memory_in_use(int device) {
  const cuda::CurrentDevice current(device);
  std::size_t free = 0, total = 0;
  cuda::check_cuda(cudaMemGetInfo(&free, &total), "ask for free memory");
  return total - free;
}

}  // namespace trine
