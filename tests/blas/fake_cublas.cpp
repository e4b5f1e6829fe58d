// A cuBLAS that says what it was called with, and computes nothing.
#include <cstdio>

extern "C" {

int cublasGetMathMode(void*, int* mode) {
  *mode = 0;
  return 0;
}
int cublasGetPointerMode_v2(void*, int* mode) {
  *mode = 0;
  return 0;
}
int cublasGetStream_v2(void*, void** stream) {
  *stream = nullptr;
  return 0;
}
int cublasSgemm_v2(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha,
                   const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                   int ldc) {
  std::printf("cublasSgemm_v2 %d %d %d %d %d %d %g %g %d %d %d %d\n", handle != nullptr, op_a, op_b,
              m, n, k, static_cast<double>(*alpha), static_cast<double>(*beta), lda, ldb, ldc,
              a != b && b != c);
  return 7;
}
}
