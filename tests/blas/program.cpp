// A program that multiplies and knows nothing of trine: sgemm_ of matrices with simple numbers,
// printed with all bits; with the argument "gpu" a call of cuBLAS, whose status it prints.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*,
            const float*, const int*, const float*, const int*, const float*, float*, const int*);
int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*,
                   int, const float*, float*, int);
}

int main(int count, char** arguments) {
  const int m = 20, n = 30, k = 70;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i)
    a[static_cast<std::size_t>(i)] = std::sin(0.1F * static_cast<float>(i));
  for (int i = 0; i < k * n; ++i)
    b[static_cast<std::size_t>(i)] = std::cos(0.2F * static_cast<float>(i));
  const float one = 1, zero = 0;
  if (count > 1 && std::strcmp(arguments[1], "gpu") == 0) {
    const int status =
        cublasSgemm_v2(&c, 1, 0, m, n, k, &one, a.data(), k, b.data(), k, &zero, c.data(), m);
    std::printf("status %d\n", status);
    return 0;
  }
  const char* transposed = count > 1 ? arguments[1] : "T";
  const int lda = *transposed == 'T' ? k : m;
  sgemm_(transposed, "N", &m, &n, &k, &one, a.data(), &lda, b.data(), &k, &zero, c.data(), &m);
  for (const float value : c) std::printf("%a\n", static_cast<double>(value));
  return 0;
}
