// The device that a test of whole models runs on: a GPU in programs that are compiled with
// TRINE_TEST_ON_GPU, the CPU in all others.
#pragma once

#include "tensor/buffer.hpp"
#include "trine/model.hpp"
#ifdef TRINE_TEST_ON_GPU
#include "cuda/skip_without_device.hpp"
#endif

namespace trine::test {

#ifdef TRINE_TEST_ON_GPU
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif

inline EngineOptions test_options() {
  EngineOptions options;
  options.device = kOnGpu ? "cuda" : "cpu";
  return options;
}

/// As long as it lives, memory that is used again is full of NaN.
struct Poisoned {
  Poisoned() { poison_scratch(true); }
  ~Poisoned() { poison_scratch(false); }
  Poisoned(const Poisoned&) = delete;
  Poisoned& operator=(const Poisoned&) = delete;
};

}  // namespace trine::test
