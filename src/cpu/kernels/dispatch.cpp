// Picks the widest instruction set that this processor has.
#include "cpu/kernels/kernels.hpp"

namespace trine::cpu {

namespace isa_baseline {
template <class Real>
Kernels<Real> table();
GeometryKernels geometry_table();
}  // namespace isa_baseline
#ifdef TRINE_X86_KERNELS
namespace isa_avx2 {
template <class Real>
Kernels<Real> table();
GeometryKernels geometry_table();
}  // namespace isa_avx2
namespace isa_avx512 {
template <class Real>
Kernels<Real> table();
GeometryKernels geometry_table();
}  // namespace isa_avx512
#endif

namespace {

enum class InstructionSet { baseline, avx2, avx512 };

InstructionSet detect() {
#ifdef TRINE_X86_KERNELS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return InstructionSet::avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

template <class Real>
Kernels<Real> choose() {
  switch (detect()) {
#ifdef TRINE_X86_KERNELS
    case InstructionSet::avx512:
      return isa_avx512::table<Real>();
    case InstructionSet::avx2:
      return isa_avx2::table<Real>();
#endif
    default:
      return isa_baseline::table<Real>();
  }
}

GeometryKernels choose_geometry() {
  switch (detect()) {
#ifdef TRINE_X86_KERNELS
    case InstructionSet::avx512:
      return isa_avx512::geometry_table();
    case InstructionSet::avx2:
      return isa_avx2::geometry_table();
#endif
    default:
      return isa_baseline::geometry_table();
  }
}

}  // namespace

template <class Real>
const Kernels<Real>& kernels() {
  static const Kernels<Real> table = choose<Real>();
  return table;
}

template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

const GeometryKernels& geometry_kernels() {
  static const GeometryKernels table = choose_geometry();
  return table;
}

std::int64_t attention_scratch(std::int64_t tokens, std::int64_t head_width) {
  const std::int64_t lanes = 16;  // the widest register, in floats
  const std::int64_t t = (tokens + lanes - 1) / lanes * lanes;
  const std::int64_t w = (head_width + lanes - 1) / lanes * lanes;
  return w * t + 2 * t * w + 2 * t * t + 2 * t;
}

const char* instruction_set() {
  switch (detect()) {
    case InstructionSet::avx512:
      return "AVX-512";
    case InstructionSet::avx2:
      return "AVX2";
    default:
      return "baseline";
  }
}

}  // namespace trine::cpu
