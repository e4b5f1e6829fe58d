// Work on atoms and systems, written once for host and device: small structs whose call operator
// does what is to be done for one index. A struct `Work` is declared in a header of this folder;
// TRINE_FOR_EACH_ON_HOST(Work) in a .cpp beside it and TRINE_FOR_EACH_ON_DEVICE(Work) in a .cu of
// src/cuda/motion compile it (likewise TRINE_SUM_..., TRINE_MAXIMUM_...).
//
// Nothing waits for the device. Results depend on a system's own atoms and their order alone.
#pragma once

#include <cstdint>

#include "motion/atoms.hpp"
#include "motion/host_device.hpp"
#include "motion/queue.hpp"

namespace trine::motion {

/// work(i) for 0 <= i < count, in any order.
template <class Work, MemSpace S>
void for_each(const Queue<S>& queue, std::int64_t count, const Work& work);

/// Two kinds of work for each index, in one go: where no index looks at what another one changes.
template <class First, class Second>
struct Both {
  First first;
  Second second;

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    first(i);
    second(i);
  }
};

/// What a sum or a maximum takes from one atom.
template <int count>
struct Values {
  static constexpr int kCount = count;
  double value[count];
};

/// Of two numbers; NaN if one of them is.
struct Larger {
  TRINE_HOST_DEVICE double operator()(double a, double b) const { return b > a || b != b ? b : a; }
};

/// out[b * K + k] = sum of work(i).value[k] over the atoms i of system b, for a Work whose call
/// operator gives Values<K>; 0 without atoms. The order of the sum follows from the number of the
/// system's atoms.
template <class Work, MemSpace S>
void sum_by_system(const Queue<S>& queue, const Atoms& atoms, const Work& work, double* out);

/// The same with the largest value, at least 0, instead of the sum; NaN if one of them is NaN.
template <class Work, MemSpace S>
void maximum_by_system(const Queue<S>& queue, const Atoms& atoms, const Work& work, double* out);

}  // namespace trine::motion
