// y = x w^T with the accuracy of single precision, from three FP16 products: on the GPU if there is
// one, else with the same bits on the CPU.
//
//     gemm            256 rows, a weight of 512 x 256
//     gemm M N K
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <trine/error.hpp>
#include <trine/gemm.hpp>
#include <vector>

#ifdef WITH_CUDA
#include <cuda_runtime.h>
#endif

namespace {

using Matrix = std::vector<float>;

struct Problem {
  trine::GemmShape shape;
  Matrix x, w;  // (m, k) and (n, k), row by row
};

Problem make_problem(const trine::GemmShape& shape) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  Problem p{shape, Matrix(static_cast<std::size_t>(shape.m * shape.k)),
            Matrix(static_cast<std::size_t>(shape.n * shape.k))};
  for (Matrix* values : {&p.x, &p.w}) {
    std::generate(values->begin(), values->end(), [&] { return normal(random); });
  }
  return p;
}

/// The bits that a GPU of the Hopper generation computes.
Matrix on_cpu(const Problem& p, trine::GemmMethod method) {
  const auto [m, n, k] = p.shape;
  const trine::EmulatedGemm gemm(method, trine::GemmArch::sm_90, p.w.data(), k, n, k);
  Matrix y(static_cast<std::size_t>(m * n));
  gemm.forward(m, p.x.data(), k, y.data(), n, /*threads=*/2);
  return y;
}

#ifdef WITH_CUDA
Matrix on_gpu(const Problem& p, trine::GemmMethod method) {
  const auto [m, n, k] = p.shape;
  trine::GemmContext gemm(/*device=*/0, /*stream=*/nullptr);
  std::printf("on %s\n", gemm.device_name().c_str());
  const trine::GemmWeight weight = gemm.pack(method, p.w.data(), k, n, k);

  Matrix y(static_cast<std::size_t>(m * n));
  float *x_device = nullptr, *y_device = nullptr;
  void* workspace = nullptr;
  cudaMalloc(&x_device, p.x.size() * sizeof(float));
  cudaMalloc(&y_device, y.size() * sizeof(float));
  cudaMalloc(&workspace, gemm.workspace_bytes(weight, m));
  cudaMemcpy(x_device, p.x.data(), p.x.size() * sizeof(float), cudaMemcpyHostToDevice);
  gemm.forward(weight,
               {.m = m, .x = x_device, .ldx = k, .y = y_device, .ldy = n, .workspace = workspace});
  const cudaError_t status =
      cudaMemcpy(y.data(), y_device, y.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (void* memory : {static_cast<void*>(x_device), static_cast<void*>(y_device), workspace}) {
    cudaFree(memory);
  }
  if (status != cudaSuccess) {
    throw trine::Error(trine::ErrorCode::not_supported, cudaGetErrorString(status));
  }
  return y;
}
#endif

Matrix compute(const Problem& p, trine::GemmMethod method) {
#ifdef WITH_CUDA
  try {
    return on_gpu(p, method);
  } catch (const trine::Error& error) {
    if (error.code() != trine::ErrorCode::not_supported) throw;
    std::printf("no GPU: %s\n", error.what());
  }
#endif
  std::printf("on the CPU, with the arithmetic of a GPU\n");
  return on_cpu(p, method);
}

/// Of y, in units of 2^-24 sum |x||w|: root mean square and largest error.
void print_error(const char* name, const Problem& p, const Matrix& y) {
  const auto [m, n, k] = p.shape;
  double squares = 0, largest = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double product = static_cast<double>(p.x[static_cast<std::size_t>(i * k + l)]) *
                               static_cast<double>(p.w[static_cast<std::size_t>(j * k + l)]);
        sum += product;
        size += std::abs(product);
      }
      const double computed = y[static_cast<std::size_t>(i * n + j)];
      const double error = std::abs(computed - sum) / (0x1p-24 * size);
      squares += error * error;
      largest = std::max(largest, error);
    }
  }
  std::printf("%-8s error %8.3f rms %8.3f largest\n", name,
              std::sqrt(squares / static_cast<double>(m * n)), largest);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 4) {
    std::fprintf(stderr, "usage: gemm [M N K]\n");
    return 2;
  }
  trine::GemmShape shape{256, 512, 256};
  if (argc == 4) shape = {std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3])};
  if (shape.m < 1 || shape.n < 1 || shape.k < 1) {
    std::fprintf(stderr, "gemm: M, N and K are whole numbers from 1 on\n");
    return 2;
  }
  try {
    const Problem problem = make_problem(shape);
    const Matrix y = compute(problem, trine::GemmMethod::fp16x3);
    std::printf("errors in units of 2^-24 |x||w|\n");
    print_error("fp16x3", problem, y);
    print_error("fp32", problem, on_cpu(problem, trine::GemmMethod::fp32));
    print_error("fp16", problem, on_cpu(problem, trine::GemmMethod::fp16));
    return 0;
  } catch (const trine::Error& error) {
    std::fprintf(stderr, "gemm: %s\n", error.what());
    return 1;
  }
}
