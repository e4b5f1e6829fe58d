// The benchmark's arithmetic that needs no device.
#include <algorithm>
#include <cmath>

#include "cuda/benchmark/data.hpp"

namespace trine::benchmark {

std::vector<std::int64_t> sample_rows(std::int64_t m, int count) {
  const std::int64_t n = std::min<std::int64_t>(m, count);
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(n == 1 ? 0 : i * (m - 1) / (n - 1));
  return rows;
}

GemmErrors summarize(const std::vector<double>& errors) {
  GemmErrors all;
  double squares = 0, sum = 0;
  for (const double error : errors) {
    squares += error * error;
    sum += error;
    all.max = std::max(all.max, std::abs(error));
  }
  const auto count = static_cast<double>(errors.size());
  all.rms = std::sqrt(squares / count);
  all.mean = sum / count;
  if (std::isnan(squares)) all.max = all.rms;
  return all;
}

}  // namespace trine::benchmark
