// cuBLAS's products with FP32 numbers.
#include "blas/interpose.hpp"

namespace trine::blas {
namespace {

using Handle = void*;

/// What a handle says about the calls with it.
struct HandleState {
  bool known = false;
  int math_mode = 0, pointer_mode = 0;
  void* stream = nullptr;
};

HandleState state_of(Handle handle) {
  static Original<int (*)(Handle, int*)> math("cublasGetMathMode");
  static Original<int (*)(Handle, int*)> pointers("cublasGetPointerMode_v2");
  static Original<int (*)(Handle, void**)> stream("cublasGetStream_v2");
  HandleState state;
  if (!math.get() || !pointers.get() || !stream.get()) return state;
  const Inside inside;
  state.known = math.get()(handle, &state.math_mode) == kSuccess &&
                pointers.get()(handle, &state.pointer_mode) == kSuccess &&
                stream.get()(handle, &state.stream) == kSuccess;
  return state;
}

std::string_view why_unfit(const HandleState& state) {
  if (!state.known) return "the handle does not say how it computes";
  if (state.pointer_mode != abi::kHost) return "alpha and beta are on the device";
  switch (state.math_mode & ~abi::kDisallowReduction) {
    case abi::kDefaultMath:
      return {};
    case abi::kPedantic:
      return "the handle asks for pedantic arithmetic";
    case abi::kTf32:
      return "the handle asks for TF32";
    default:
      return "the handle asks for an arithmetic of its own";
  }
}

void describe_scalars(Product& p, Handle handle, const void* alpha, const void* beta) {
  const HandleState state = state_of(handle);
  p.stream = state.stream;
  if (p.unfit.empty()) p.unfit = why_unfit(state);
  if (p.unfit.empty() && !(alpha && beta)) p.unfit = "the arguments are not those of a product";
  if (!p.unfit.empty()) return;
  p.alpha = *static_cast<const float*>(alpha);
  p.beta = *static_cast<const float*>(beta);
}

void describe_strided(Product& p, Handle handle, int op_a, int op_b, std::int64_t m, std::int64_t n,
                      std::int64_t k, const void* alpha, const void* a, std::int64_t lda,
                      std::int64_t stride_a, const void* b, std::int64_t ldb, std::int64_t stride_b,
                      const void* beta, void* c, std::int64_t ldc, std::int64_t stride_c,
                      std::int64_t batch) {
  const auto is_known = [](int op) { return op == abi::kN || op == abi::kT || op == abi::kC; };
  if (p.unfit.empty() && !(is_known(op_a) && is_known(op_b))) p.unfit = "an unknown operation";
  p.transposed_a = op_a != abi::kN;
  p.transposed_b = op_b != abi::kN;
  p.m = m, p.n = n, p.k = k, p.batch = batch;
  p.a = static_cast<const float*>(a), p.lda = lda, p.stride_a = stride_a;
  p.b = static_cast<const float*>(b), p.ldb = ldb, p.stride_b = stride_b;
  p.d = static_cast<float*>(c), p.ldd = ldc, p.stride_d = stride_c;
  p.c = p.d, p.ldc = ldc, p.stride_c = stride_c;
  describe_scalars(p, handle, alpha, beta);
}

void describe_one(Product& p, Handle handle, int op_a, int op_b, std::int64_t m, std::int64_t n,
                  std::int64_t k, const void* alpha, const void* a, std::int64_t lda, const void* b,
                  std::int64_t ldb, const void* beta, void* c, std::int64_t ldc) {
  describe_strided(p, handle, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}

void describe_types(Product& p, int a, int b, int c, int compute) {
  if (a != abi::kFloat || b != abi::kFloat || c != abi::kFloat) {
    p.unfit = "not all operands are FP32";
  } else if (compute != abi::kCompute32F) {
    p.unfit = "the call asks for an arithmetic of its own";
  }
}

void describe_ex(Product& p, Handle handle, int op_a, int op_b, std::int64_t m, std::int64_t n,
                 std::int64_t k, const void* alpha, const void* a, int type_a, std::int64_t lda,
                 const void* b, int type_b, std::int64_t ldb, const void* beta, void* c, int type_c,
                 std::int64_t ldc, int compute, int /*algorithm*/) {
  describe_types(p, type_a, type_b, type_c, compute);
  describe_one(p, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void describe_strided_ex(Product& p, Handle handle, int op_a, int op_b, std::int64_t m,
                         std::int64_t n, std::int64_t k, const void* alpha, const void* a,
                         int type_a, std::int64_t lda, std::int64_t stride_a, const void* b,
                         int type_b, std::int64_t ldb, std::int64_t stride_b, const void* beta,
                         void* c, int type_c, std::int64_t ldc, std::int64_t stride_c,
                         std::int64_t batch, int compute, int /*algorithm*/) {
  describe_types(p, type_a, type_b, type_c, compute);
  describe_strided(p, handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta,
                   c, ldc, stride_c, batch);
}

}  // namespace
}  // namespace trine::blas

using trine::blas::interpose;
using trine::blas::Original;

// Each function for sides of 32 and of 64 bits.
#define TRINE_SGEMM(NAME, INT)                                                                    \
  TRINE_INTERPOSED int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k,                \
                            const float* alpha, const float* a, INT lda, const float* b, INT ldb, \
                            const float* beta, float* c, INT ldc) {                               \
    static Original<decltype(&NAME)> original(#NAME);                                             \
    return interpose(#NAME, original.get(), trine::blas::describe_one, handle, op_a, op_b, m, n,  \
                     k, alpha, a, lda, b, ldb, beta, c, ldc);                                     \
  }
TRINE_SGEMM(cublasSgemm_v2, int)
TRINE_SGEMM(cublasSgemm_v2_64, std::int64_t)

#define TRINE_SGEMM_STRIDED(NAME, INT)                                                            \
  TRINE_INTERPOSED int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k,                \
                            const float* alpha, const float* a, INT lda, long long stride_a,      \
                            const float* b, INT ldb, long long stride_b, const float* beta,       \
                            float* c, INT ldc, long long stride_c, INT batch) {                   \
    static Original<decltype(&NAME)> original(#NAME);                                             \
    return interpose(#NAME, original.get(), trine::blas::describe_strided, handle, op_a, op_b, m, \
                     n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c,     \
                     batch);                                                                      \
  }
TRINE_SGEMM_STRIDED(cublasSgemmStridedBatched, int)
TRINE_SGEMM_STRIDED(cublasSgemmStridedBatched_64, std::int64_t)

#define TRINE_GEMM_EX(NAME, INT)                                                                   \
  TRINE_INTERPOSED int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k,                 \
                            const void* alpha, const void* a, int type_a, INT lda, const void* b,  \
                            int type_b, INT ldb, const void* beta, void* c, int type_c, INT ldc,   \
                            int compute, int algorithm) {                                          \
    static Original<decltype(&NAME)> original(#NAME);                                              \
    return interpose(#NAME, original.get(), trine::blas::describe_ex, handle, op_a, op_b, m, n, k, \
                     alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c, ldc, compute,         \
                     algorithm);                                                                   \
  }
TRINE_GEMM_EX(cublasGemmEx, int)
TRINE_GEMM_EX(cublasGemmEx_64, std::int64_t)

#define TRINE_GEMM_STRIDED_EX(NAME, INT)                                                          \
  TRINE_INTERPOSED int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k,                \
                            const void* alpha, const void* a, int type_a, INT lda,                \
                            long long stride_a, const void* b, int type_b, INT ldb,               \
                            long long stride_b, const void* beta, void* c, int type_c, INT ldc,   \
                            long long stride_c, INT batch, int compute, int algorithm) {          \
    static Original<decltype(&NAME)> original(#NAME);                                             \
    return interpose(#NAME, original.get(), trine::blas::describe_strided_ex, handle, op_a, op_b, \
                     m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, \
                     type_c, ldc, stride_c, batch, compute, algorithm);                           \
  }
TRINE_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
TRINE_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, std::int64_t)
