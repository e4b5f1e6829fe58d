// Device memory and copies, as src/tensor declares them.
//
// Copies use the legacy default stream by name, so that a program compiled for per-thread default
// streams gets the same one. Every blocking stream waits for it, and it for them.
#include "cuda/memory/device_memory.hpp"

#include <cuda_runtime.h>

#include <atomic>

#include "base/check.hpp"
#include "cuda/gemm/device.hpp"
#include "tensor/transfer.hpp"

namespace trine {
namespace {

std::atomic<std::int64_t> frees{0};

}  // namespace

std::int64_t cuda::count_of_frees() {
  return frees.load();
}

namespace detail {
namespace {

using cuda::check_cuda;

[[noreturn]] void fail_full(std::size_t bytes) {
  std::size_t left = 0, total = 0;
  // Where even this fails, the message says that nothing is left.
  if (cudaMemGetInfo(&left, &total) != cudaSuccess) cudaGetLastError();
  fail(ErrorCode::out_of_memory,
       "the GPU has no room for {} bytes ({} of its {} are free), evaluate fewer atoms at a time, "
       "keep less for the backward pass, or end other programs that use it",
       bytes, left, total);
}

/// A copy that comes after all work of the current device and has arrived at the end. From memory
/// that is not pinned, cudaMemcpy may return while the last bytes are still on their way.
void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  check_cuda(cudaDeviceSynchronize(), "finish what was started");
  check_cuda(cudaMemcpyAsync(to, from, bytes, kind, cudaStreamLegacy), "copy memory");
  check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "copy memory");
}

}  // namespace

void* allocate_device(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // so that the next call does not report it again
    fail_full(bytes);
  }
  check_cuda(status, "allocate memory");
  return memory;
}

void free_device(void* memory) noexcept {
  if (!memory) return;
  // Kernels may still use it. cudaFree waits for them too, but as a habit, not by its contract.
  cudaDeviceSynchronize();
  cudaFree(memory);
  ++frees;
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyHostToDevice);
}

void copy_from_device(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyDeviceToHost);
}

}  // namespace detail
}  // namespace trine
