#include "cuda/memory/copies.hpp"

#include <algorithm>
#include <cstdint>

#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMost = 16;  // copies in a kernel
constexpr std::size_t kMostBlocks = 64;

struct Copies {
  detail::Copy each[kMost];
  int count;
};

__global__ void __launch_bounds__(kThreads) copy(Copies copies) {
  for (int n = 0; n < copies.count; ++n) {
    const detail::Copy c = copies.each[n];
    const auto* from = static_cast<const std::uint64_t*>(c.from);
    auto* to = static_cast<std::uint64_t*>(c.to);
    for (std::size_t w = std::size_t{blockIdx.x} * kThreads + threadIdx.x; w < c.bytes / sizeof *to;
         w += std::size_t{gridDim.x} * kThreads) {
      to[w] = from[w];
    }
  }
}

}  // namespace

void start_copy_kernels(std::span<const detail::Copy> copies, cudaStream_t stream) {
  for (std::size_t first = 0; first < copies.size(); first += kMost) {
    const auto part = copies.subspan(first, std::min(kMost, copies.size() - first));
    Copies together{};
    std::copy(part.begin(), part.end(), together.each);
    together.count = static_cast<int>(part.size());
    std::size_t bytes = 0;
    for (const detail::Copy& c : part) bytes = std::max(bytes, c.bytes);
    const std::size_t blocks = (bytes / sizeof(std::uint64_t) + kThreads - 1) / kThreads;
    copy<<<static_cast<unsigned>(std::min(blocks, kMostBlocks)), kThreads, 0, stream>>>(together);
    check_cuda(cudaGetLastError(), "copy to the host");
  }
}

}  // namespace trine::cuda
