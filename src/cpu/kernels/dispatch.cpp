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

bool available(InstructionSet set) {
#ifdef TRINE_X86_KERNELS
  if (set == InstructionSet::avx512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
  if (set == InstructionSet::avx2) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
#endif
  return set == InstructionSet::baseline;
}

InstructionSet widest() {
  if (available(InstructionSet::avx512)) return InstructionSet::avx512;
  if (available(InstructionSet::avx2)) return InstructionSet::avx2;
  return InstructionSet::baseline;
}

}  // namespace

// A table is made only where its set is available: the code that makes it is compiled for the set.
template <class Real>
const Kernels<Real>* kernels_of(InstructionSet set) {
  if (!available(set)) return nullptr;
#ifdef TRINE_X86_KERNELS
  if (set == InstructionSet::avx512) {
    static const Kernels<Real> avx512 = isa_avx512::table<Real>();
    return &avx512;
  }
  if (set == InstructionSet::avx2) {
    static const Kernels<Real> avx2 = isa_avx2::table<Real>();
    return &avx2;
  }
#endif
  static const Kernels<Real> baseline = isa_baseline::table<Real>();
  return &baseline;
}

const GeometryKernels* geometry_kernels_of(InstructionSet set) {
  if (!available(set)) return nullptr;
#ifdef TRINE_X86_KERNELS
  if (set == InstructionSet::avx512) {
    static const GeometryKernels avx512 = isa_avx512::geometry_table();
    return &avx512;
  }
  if (set == InstructionSet::avx2) {
    static const GeometryKernels avx2 = isa_avx2::geometry_table();
    return &avx2;
  }
#endif
  static const GeometryKernels baseline = isa_baseline::geometry_table();
  return &baseline;
}

template <class Real>
const Kernels<Real>& kernels() {
  static const Kernels<Real>& table = *kernels_of<Real>(widest());
  return table;
}

template const Kernels<float>* kernels_of<float>(InstructionSet);
template const Kernels<double>* kernels_of<double>(InstructionSet);
template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

const GeometryKernels& geometry_kernels() {
  static const GeometryKernels& table = *geometry_kernels_of(widest());
  return table;
}

std::int64_t attention_scratch(std::int64_t tokens, std::int64_t head_width) {
  const std::int64_t lanes = 16;  // the widest register, in floats
  const std::int64_t t = (tokens + lanes - 1) / lanes * lanes;
  const std::int64_t w = (head_width + lanes - 1) / lanes * lanes;
  return w * t + 2 * t * w + 2 * t * t + 2 * t;
}

const char* instruction_set() {
  switch (widest()) {
    case InstructionSet::avx512:
      return "AVX-512";
    case InstructionSet::avx2:
      return "AVX2";
    default:
      return "baseline";
  }
}

}  // namespace trine::cpu
