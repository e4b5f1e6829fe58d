// Fortran's sgemm_ on the CPU, through the emulation: thousands of times slower than any BLAS, and
// there so that what this library does can be tested without a GPU.
#include "blas/interpose.hpp"

namespace trine::blas {
namespace {

/// The last two arguments are the lengths of the first two, as gfortran passes them.
using Sgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const float*,
                       const float*, const int*, const float*, const int*, const float*, float*,
                       const int*, std::size_t, std::size_t);

bool is_transposed(char op) {
  return op != 'N' && op != 'n';
}

}  // namespace
}  // namespace trine::blas

TRINE_INTERPOSED void sgemm_(const char* op_a, const char* op_b, const int* m, const int* n,
                             const int* k, const float* alpha, const float* a, const int* lda,
                             const float* b, const int* ldb, const float* beta, float* c,
                             const int* ldc) {
  using namespace trine::blas;
  static Original<Sgemm> original("sgemm_");
  const auto pass_on = [&] {
    if (const Sgemm next = original.get())
      next(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 1, 1);
  };
  if (Inside::a_call()) return pass_on();
  Product p;
  p.function = "sgemm_";
  p.transposed_a = is_transposed(*op_a);
  p.transposed_b = is_transposed(*op_b);
  p.m = *m, p.n = *n, p.k = *k;
  p.alpha = *alpha, p.beta = *beta;
  p.a = a, p.lda = *lda;
  p.b = b, p.ldb = *ldb;
  p.c = p.d = c;
  p.ldc = p.ldd = *ldc;
  serve_on_cpu(p, pass_on);
}
