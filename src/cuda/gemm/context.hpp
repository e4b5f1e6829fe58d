// What a context holds.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "cuda/gemm/fp32.hpp"
#include "cuda/gemm/weight.hpp"

namespace trine {
namespace cuda {

/// Error if rows of `columns` numbers, `stride` apart, overlap; `data` may be null.
void need_rows(const float* data, std::int64_t stride, std::int64_t columns, const char* name);

}  // namespace cuda

struct GemmContext::Impl {
  int device = 0;
  cudaStream_t stream = nullptr;
  std::string name;
  int capability = 0;
  int multiprocessors = 0;
  cuda::KernelFamily family = cuda::KernelFamily::sm80;
  std::unique_ptr<cuda::PlainProduct> plain;  ///< made with the first fp32 weight
  cuda::DeviceArray<unsigned long long> bad_row;
  std::array<bool, static_cast<std::size_t>(GemmMethod::size_)>
      prepared{};  ///< kernels of a method

  /// Makes the kernels of a method ready, if they are not.
  void prepare_kernels(GemmMethod method);

  /// The left operand of a call: as FP32 or in planes.
  struct Operand {
    const float* x;
    std::int64_t ldx;
    GemmPlanes planes;
  };
  /// One product, of whichever direction: what comes before and after it is in `args`.
  void run(const cuda::PackedWeight& weight, cuda::Direction direction, const Operand& x,
           std::int64_t m, cuda::EpilogueKind kind, cuda::EpilogueArgs args, void* workspace);

  GemmSupport planes_support(GemmMethod method) const;
  /// Error unless `planes`, if there are any, can hold (m, cols); `what` they hold.
  void check_planes(GemmMethod method, std::int64_t m, const GemmPlanes& planes, std::int64_t cols,
                    const char* what) const;

  /// What `split_beforehand` needs for products of m rows; 0 where it does nothing.
  std::size_t splitting_bytes(const cuda::PackedWeight& weight, std::int64_t m) const;

 private:
  /// x in planes in the workspace, if there is one and a product with these is faster: with few
  /// rows and a long inner dimension, where every block would split the same rows.
  GemmPlanes split_beforehand(const cuda::PackedWeight& weight, cuda::Direction direction,
                              const Operand& x, std::int64_t m, cuda::EpilogueKind kind,
                              void* workspace) const;
  void run_plain(const cuda::PackedWeight& weight, cuda::Direction direction, const float* x,
                 std::int64_t ldx, std::int64_t m, cuda::EpilogueKind kind,
                 const cuda::EpilogueArgs& args, void* workspace);
};

}  // namespace trine
