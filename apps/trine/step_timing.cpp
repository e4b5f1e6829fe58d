#include "step_timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "trine/devices.hpp"

namespace trine::app {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

Timing time_steps(Model& model, const Structure& frame, int repeats) {
  Timing timing;
  const int gpu = cuda_device_number(model.options().device);
  timing.threads = gpu < 0 ? model.options().threads : 0;
  timing.result = model.evaluate(frame);
  timing.memory = model.memory_plan();
  model.clear_profile();
  std::vector<double> times, list_times, other_times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    timing.result = model.evaluate(frame);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    times.push_back(elapsed.count());
    list_times.push_back(model.list_statistics().seconds * 1e3);
    other_times.push_back(times.back() - list_times.back());
  }
  timing.median_ms = median(times);
  timing.list_ms = median(list_times);
  timing.without_list_ms = median(other_times);
  timing.min_ms = *std::min_element(times.begin(), times.end());
  if (gpu >= 0) timing.gpu_mib = static_cast<double>(cuda_memory_in_use(gpu)) / 0x1p20;
  return timing;
}

double peak_rss_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::int64_t edges_of(const Result& result) {
  return std::accumulate(result.num_neighbors.begin(), result.num_neighbors.end(), std::int64_t{0});
}

double largest_force_difference(const Result& a, const Result& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.forces.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double difference = std::abs(a.forces[i][k] - b.forces[i][k]);
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

double relative_force_error(const Result& result, const Result& reference) {
  double errors = 0, squares = 0;
  for (std::size_t i = 0; i < reference.forces.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double exact = reference.forces[i][k];
      errors += std::pow(result.forces[i][k] - exact, 2);
      squares += exact * exact;
    }
  }
  return errors == 0 ? 0 : std::sqrt(errors / squares);
}

}  // namespace trine::app
