// What the environment asks for.
#pragma once

#include <optional>
#include <string>

#include "trine/gemm.hpp"

namespace trine::blas {

struct Settings {
  std::string off;                   ///< why nothing at all goes to trine; empty: something may
  std::optional<GemmMethod> method;  ///< TRINE_GEMM; none: auto
  double min_flop = 2e8;             ///< TRINE_GEMM_MIN_FLOP, of one product
  bool on_cpu = false;               ///< TRINE_GEMM_CPU=1: sgemm_ too, by emulation
  std::string log;                   ///< TRINE_GEMM_LOG: a file or "stderr"; empty: none
};

/// Looks up variables of the environment by name; null: not set.
using Environment = const char* (*)(const char* name);

/// What cannot be understood turns everything off; `off` then says what it was.
Settings read_settings(Environment environment);

/// Of this process, read at the first call. Tells once on stderr what could not be understood.
const Settings& settings();

}  // namespace trine::blas
