// One product as a BLAS describes it, and what trine's kernels make of it.
#pragma once

#include <cstdint>
#include <string_view>

namespace trine::blas {

/// D = alpha op(A) op(B) + beta C + bias: matrices in columns, as in every BLAS; op(A) is (m, k),
/// op(B) (k, n). A leading dimension (ld) counts numbers from one column to the next, a stride
/// those from one product of a batch to the next. The bias has m numbers, added to every column.
struct Product {
  const char* function = "";  ///< that the program called
  bool transposed_a = false, transposed_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  float alpha = 1, beta = 0;
  const float* a = nullptr;
  std::int64_t lda = 0, stride_a = 0;
  const float* b = nullptr;
  std::int64_t ldb = 0, stride_b = 0;
  const float* c = nullptr;
  std::int64_t ldc = 0, stride_c = 0;
  float* d = nullptr;
  std::int64_t ldd = 0, stride_d = 0;
  const float* bias = nullptr;
  std::int64_t batch = 1;
  void* stream = nullptr;  ///< a cudaStream_t
  std::string_view unfit;  ///< why this is nothing for trine, if the caller saw that already
};

/// 2 m n k, of one product of the batch.
double flop(const Product& product);

/// The same product in rows: y (rows, columns) = x (rows, inner) times the weight, which is A and
/// is packed. Columns of D are rows of y, so that B is always x, and it has to have rows: B
/// untransposed.
struct Arrangement {
  bool forward = true;  ///< y = x w^T with w (columns, inner); else y = x w with w (inner, columns)
  std::int64_t rows = 0, columns = 0, inner = 0;
  std::int64_t n = 0, k = 0;  ///< sides of w
};

Arrangement arrange(const Product& product);

/// Why trine's kernels cannot compute this, from what the call itself says; empty if they can.
std::string_view why_unfit(const Product& product);

}  // namespace trine::blas
