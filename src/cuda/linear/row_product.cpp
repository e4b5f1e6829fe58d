#include "cuda/linear/row_product.hpp"

#include <array>
#include <type_traits>

#include "base/check.hpp"
#include "cuda/gemm/blas_library.hpp"
#include "cuda/gemm/device.hpp"

namespace trine::cuda {
namespace {

template <class Real>
constexpr cudaDataType_t kType = std::is_same_v<Real, float> ? CUDA_R_32F : CUDA_R_64F;
/// Pedantic: neither TF32 nor emulated arithmetic, whatever the environment asks for.
template <class Real>
constexpr cublasComputeType_t kCompute =
    std::is_same_v<Real, float> ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_64F_PEDANTIC;

/// cuBLAS counts columns first: our rows are its columns.
template <class Real>
cublasLtMatrixLayoutOpaque_t describe(std::int64_t rows, std::int64_t columns,
                                      std::int64_t stride) {
  cublasLtMatrixLayoutOpaque_t layout{};
  check_cublas(blas().cublasLtMatrixLayoutInit_internal(&layout, sizeof layout, kType<Real>,
                                                        static_cast<std::uint64_t>(columns),
                                                        static_cast<std::uint64_t>(rows), stride),
               "describe a matrix");
  return layout;
}

/// What may be chosen: kernels that need no workspace and add no partial sums of other blocks.
cublasLtMatmulPreferenceOpaque_t preference() {
  cublasLtMatmulPreferenceOpaque_t p{};
  check_cublas(blas().cublasLtMatmulPreferenceInit_internal(&p, sizeof p), "describe a choice");
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t name, const auto& value) {
    check_cublas(blas().cublasLtMatmulPreferenceSetAttribute(&p, name, &value, sizeof value),
                 "describe a choice");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{0});
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE});
  for (const auto name :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    set(name, std::uint32_t{16});
  }
  return p;
}

/// Does one block sum each result from end to end?
bool sums_in_one_block(const cublasLtMatmulAlgo_t& algorithm) {
  const auto get = [&](cublasLtMatmulAlgoConfigAttributes_t name, auto value) {
    std::size_t written = 0;
    check_cublas(blas().cublasLtMatmulAlgoConfigGetAttribute(&algorithm, name, &value, sizeof value,
                                                             &written),
                 "describe a kernel");
    return value;
  };
  return get(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, std::int32_t{0}) <= 1 &&
         get(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, std::uint32_t{0}) ==
             CUBLASLT_REDUCTION_SCHEME_NONE;
}

/// Columns of x and z.
struct Shape {
  std::int64_t in, out;
};

/// Does the kernel take a single row as well?
template <class Real>
bool takes_one_row(cublasLtHandle_t handle, cublasLtMatmulDescOpaque_t operation,
                   cublasLtMatrixLayoutOpaque_t weight, Shape shape,
                   const cublasLtMatmulAlgo_t& algorithm) {
  auto x = describe<Real>(1, shape.in, aligned_columns<Real>(shape.in));
  auto z = describe<Real>(1, shape.out, aligned_columns<Real>(shape.out));
  cublasLtMatmulHeuristicResult_t result{};
  const auto status =
      blas().cublasLtMatmulAlgoCheck(handle, &operation, &weight, &x, &z, &z, &algorithm, &result);
  return status == CUBLAS_STATUS_SUCCESS && result.workspaceSize == 0;
}

template <class Real>
cublasLtMatmulAlgo_t choose(cublasLtHandle_t handle, cublasLtMatmulDescOpaque_t operation,
                            cublasLtMatrixLayoutOpaque_t weight, Shape shape, std::int64_t rows) {
  auto x = describe<Real>(rows, shape.in, aligned_columns<Real>(shape.in));
  auto z = describe<Real>(rows, shape.out, aligned_columns<Real>(shape.out));
  auto wanted = preference();
  std::array<cublasLtMatmulHeuristicResult_t, 16> found{};
  int count = 0;
  const auto status =
      blas().cublasLtMatmulAlgoGetHeuristic(handle, &operation, &weight, &x, &z, &z, &wanted,
                                            static_cast<int>(found.size()), found.data(), &count);
  if (status != CUBLAS_STATUS_SUCCESS) count = 0;
  for (int i = 0; i < count; ++i) {
    const auto& f = found[static_cast<std::size_t>(i)];
    if (f.state == CUBLAS_STATUS_SUCCESS && f.workspaceSize == 0 && sums_in_one_block(f.algo) &&
        takes_one_row<Real>(handle, operation, weight, shape, f.algo)) {
      return f.algo;
    }
  }
  fail(ErrorCode::not_supported,
       "cuBLAS has no product of {} by {} numbers in one pass ({}), use another version of it or "
       "the CPU",
       shape.in, shape.out, blas().cublasGetStatusString(status));
}

}  // namespace

template <class Real>
RowProduct<Real>::RowProduct(cublasLtHandle_t handle, Direction direction, DeviceRows<const Real> w,
                             std::int64_t rows)
    : weight_(describe<Real>(w.rows, w.cols, w.stride)), w_(w.data) {
  check_cublas(blas().cublasLtMatmulDescInit_internal(&operation_, sizeof operation_,
                                                      kCompute<Real>, kType<Real>),
               "describe a product");
  // z^T = w x^T or w^T x^T, and cuBLAS sees w^T.
  const bool forward = direction == Direction::forward;
  const cublasOperation_t transpose = forward ? CUBLAS_OP_T : CUBLAS_OP_N;
  check_cublas(blas().cublasLtMatmulDescSetAttribute(&operation_, CUBLASLT_MATMUL_DESC_TRANSA,
                                                     &transpose, sizeof transpose),
               "describe a product");
  const Shape shape = forward ? Shape{w.cols, w.rows} : Shape{w.rows, w.cols};
  algorithm_ = choose<Real>(handle, operation_, weight_, shape, rows);
}

template <class Real>
void RowProduct<Real>::multiply(cublasLtHandle_t handle, cudaStream_t stream,
                                DeviceRows<const Real> x, bool add, DeviceRows<Real> z) const {
  TRINE_ASSERT(has_aligned_rows<Real>(x) && has_aligned_rows<Real>(z));
  if (x.rows == 0) return;
  // cuBLAS takes its descriptions as mutable.
  auto operation = operation_;
  auto weight = weight_, from = describe<Real>(x.rows, x.cols, x.stride);
  auto to = describe<Real>(z.rows, z.cols, z.stride);
  const Real one = 1, before = add ? 1 : 0;
  check_cublas(blas().cublasLtMatmul(handle, &operation, &one, w_, &weight, x.data, &from, &before,
                                     z.data, &to, z.data, &to, &algorithm_, nullptr, 0, stream),
               "multiply");
}

template class RowProduct<float>;
template class RowProduct<double>;

}  // namespace trine::cuda
