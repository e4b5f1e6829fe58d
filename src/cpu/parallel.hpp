// Loops over threads. What a task computes never depends on which thread runs it.
#pragma once

#include <omp.h>

#include <cstdint>
#include <exception>
#include <utility>

namespace trine::cpu {

/// Runs `task(i, thread)` for i in [0, tasks), handing out `grain` tasks at a time. The first
/// exception of a task is rethrown after the loop.
template <class Task>
void parallel(int threads, std::int64_t tasks, Task&& task, std::int64_t grain = 1) {
  if (threads <= 1 || tasks <= grain) {
    for (std::int64_t i = 0; i < tasks; ++i) task(i, 0);
    return;
  }
  std::exception_ptr error;
#pragma omp parallel for num_threads(threads) schedule(dynamic, grain)
  for (std::int64_t i = 0; i < tasks; ++i) {
    try {
      task(i, omp_get_thread_num());
    } catch (...) {
#pragma omp critical(trine_parallel_error)
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace trine::cpu
