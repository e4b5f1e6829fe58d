#include "cuda/benchmark/checker.hpp"

#include "base/check.hpp"

namespace trine::benchmark {
namespace {

template <class T>
void copy(T* to, const T* from, std::size_t size, cudaStream_t stream) {
  cuda_check(cudaMemcpyAsync(to, from, size * sizeof(T), cudaMemcpyDefault, stream), "a copy");
  cuda_check(cudaStreamSynchronize(stream), "a copy");
}

}  // namespace

Checker::Checker(const GemmBenchmarkCase& product, int rows, cudaStream_t stream)
    : product_(product),
      stream_(stream),
      rows_(sample_rows(product.shape.m, rows)),
      x_(product.shape.m * product.inner()),
      w_(product.shape.n * product.shape.k),
      y_(product.shape.m * product.outputs()),
      device_rows_(static_cast<std::int64_t>(rows_.size())),
      exact_(device_rows_.size() * product.outputs()),
      scale_(exact_.size()),
      error_(exact_.size()),
      nan_(1) {
  copy(device_rows_.data(), rows_.data(), rows_.size(), stream_);
}

SampleArgs Checker::sample() const {
  return {.product = product_,
          .rows = device_rows_.data(),
          .count = static_cast<int>(rows_.size()),
          .x = x_.data(),
          .w = w_.data(),
          .exact = exact_.data(),
          .scale = scale_.data()};
}

void Checker::set_operands(Distribution distribution, std::uint64_t seed) {
  fill(x_.data(), x_.size(), distribution, seed, stream_);
  fill(w_.data(), w_.size(), distribution, seed + 1, stream_);
  compute_exact(sample(), stream_);
  cuda_check(cudaStreamSynchronize(stream_), "preparing operands");
}

GemmErrors Checker::check(const std::function<void()>& launch) {
  poison(y_.data(), y_.size(), stream_);
  launch();
  unsigned long long found = 0;
  copy(nan_.data(), &found, 1, stream_);
  count_nan(y_.data(), y_.size(), nan_.data(), stream_);
  copy(&found, nan_.data(), 1, stream_);
  if (found > 0) {
    fail(ErrorCode::validation_failed,
         "{} of {} elements are NaN after the product (not written, or wrong), do not use this "
         "method here",
         found, y_.size());
  }
  compute_errors(sample(), y_.data(), error_.data(), stream_);
  std::vector<double> errors(static_cast<std::size_t>(error_.size()));
  copy(errors.data(), error_.data(), errors.size(), stream_);
  return summarize(errors);
}

}  // namespace trine::benchmark
