#include "blas/settings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace trine::blas {
namespace {

std::string legal_names() {
  std::string names = "auto, off";
  for (const GemmMethodInfo& info : gemm_methods()) names += fmt::format(", {}", info.name);
  return names;
}

std::optional<double> parse_number(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

const char* environment_of_process(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

Settings read_and_tell() {
  Settings read = read_settings(environment_of_process);
  const char* wanted = environment_of_process("TRINE_GEMM");
  const bool asked = wanted && (std::string(wanted) == "off" || std::string(wanted) == "fp32");
  if (!read.off.empty() && !asked) {
    std::fprintf(stderr, "trine_blas: %s, all products go to the original library\n",
                 read.off.c_str());
  }
  return read;
}

}  // namespace

Settings read_settings(Environment environment) {
  Settings read;
  if (const char* log = environment("TRINE_GEMM_LOG")) read.log = log;
  if (const char* cpu = environment("TRINE_GEMM_CPU")) read.on_cpu = std::string(cpu) == "1";
  if (const char* text = environment("TRINE_GEMM_MIN_FLOP")) {
    if (const auto value = parse_number(text)) {
      read.min_flop = *value;
    } else {
      read.off = fmt::format("TRINE_GEMM_MIN_FLOP={} is not a number (at least 0)", text);
    }
  }
  const char* name = environment("TRINE_GEMM");
  if (!name || std::string(name) == "auto") return read;
  if (std::string(name) == "off") {
    read.off = "TRINE_GEMM=off";
    return read;
  }
  read.method = parse_gemm_method(name);
  if (!read.method) {
    read.off = fmt::format("TRINE_GEMM={} is not known ({})", name, legal_names());
  } else if (*read.method == GemmMethod::fp32) {
    read.off = "TRINE_GEMM=fp32 is what the original library computes";
  }
  return read;
}

const Settings& settings() {
  static const auto* const read = new Settings(read_and_tell());  // outlives every handler at exit
  return *read;
}

}  // namespace trine::blas
