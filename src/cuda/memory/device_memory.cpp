// Device memory and copies, as src/tensor declares them.
#include "cuda/memory/device_memory.hpp"

#include <cuda_runtime.h>

#include <atomic>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/memory/copies.hpp"
#include "tensor/transfer.hpp"

namespace trine {
namespace {

std::atomic<std::int64_t> frees{0};

// The default stream by name, so that a program compiled for per-thread default streams gets the
// same one: every blocking stream waits for it, and it for them.
thread_local cudaStream_t stream_of_copies = cudaStreamLegacy;

}  // namespace

std::int64_t cuda::count_of_frees() {
  return frees.load();
}

cuda::StreamOfCopies::StreamOfCopies(cudaStream_t stream)
    : before_(std::exchange(stream_of_copies, stream)) {}

cuda::StreamOfCopies::~StreamOfCopies() {
  stream_of_copies = before_;
}

namespace detail {
namespace {

using cuda::check_cuda;

/// A kernel starts faster than a copy, but does not reach its speed.
constexpr std::size_t kMostBytesOfAKernel = std::size_t{1} << 18;

[[noreturn]] void fail_full(std::size_t bytes) {
  std::size_t left = 0, total = 0;
  // Where even this fails, the message says that nothing is left.
  if (cudaMemGetInfo(&left, &total) != cudaSuccess) cudaGetLastError();
  fail(ErrorCode::out_of_memory,
       "the GPU has no room for {} bytes ({} of its {} are free), evaluate fewer atoms at a time, "
       "keep less for the backward pass, or end other programs that use it",
       bytes, left, total);
}

void start_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream_of_copies), "copy memory");
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

void poison_device(void* memory, std::size_t bytes) {
  check_cuda(cudaMemsetAsync(memory, 0xff, bytes, stream_of_copies), "set memory");
}

void* allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  check_cuda(cudaMallocHost(&memory, bytes), "allocate host memory");
  return memory;
}

void free_pinned(void* memory) noexcept {
  if (!memory) return;
  cudaDeviceSynchronize();  // copies may still use it
  cudaFreeHost(memory);
}

void start_copy_to_device(void* to, const void* from, std::size_t bytes) {
  start_copy(to, from, bytes, cudaMemcpyHostToDevice);
}

void start_copies_from_device(std::span<const Copy> copies) {
  std::vector<Copy> small;
  for (const Copy& c : copies) {
    if (c.bytes == 0) continue;
    if (c.bytes > kMostBytesOfAKernel) {
      start_copy(c.to, c.from, c.bytes, cudaMemcpyDeviceToHost);
    } else {
      small.push_back(c);
    }
  }
  cuda::start_copy_kernels(small, stream_of_copies);
}

void wait_for_copies() {
  check_cuda(cudaStreamSynchronize(stream_of_copies), "copy memory");
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  start_copy_to_device(to, from, bytes);
  wait_for_copies();
}

void copy_from_device(void* to, const void* from, std::size_t bytes) {
  start_copy(to, from, bytes, cudaMemcpyDeviceToHost);
  wait_for_copies();
}

}  // namespace detail
}  // namespace trine
