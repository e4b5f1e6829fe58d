// Picks the widest instruction set that this processor has.
#include "cpu/emulation/kernels.hpp"

namespace trine::cpu::emulation {

namespace emulation_baseline {
Kernels table();
}
#ifdef TRINE_X86_KERNELS
namespace emulation_avx2 {
Kernels table();
}
namespace emulation_avx512 {
Kernels table();
}
#endif

// A table is made only where its set is available: the code that makes it is compiled for the set.
const Kernels* kernels_of(InstructionSet set) {
#ifdef TRINE_X86_KERNELS
  if (set == InstructionSet::avx512) {
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
      return nullptr;
    }
    static const Kernels avx512 = emulation_avx512::table();
    return &avx512;
  }
  if (set == InstructionSet::avx2) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return nullptr;
    static const Kernels avx2 = emulation_avx2::table();
    return &avx2;
  }
#endif
  if (set != InstructionSet::baseline) return nullptr;
  static const Kernels baseline = emulation_baseline::table();
  return &baseline;
}

const Kernels& kernels() {
  static const Kernels& widest = []() -> const Kernels& {
    for (InstructionSet set : {InstructionSet::avx512, InstructionSet::avx2}) {
      if (const Kernels* found = kernels_of(set)) return *found;
    }
    return *kernels_of(InstructionSet::baseline);
  }();
  return widest;
}

}  // namespace trine::cpu::emulation
