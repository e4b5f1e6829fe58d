// A device with memory of its own, seen as one that computes on the host's: tests of operations
// need not know where they run.
#pragma once

#include <memory>

#include "ops/ops.hpp"

namespace trine::test {

/// Every call copies its arguments to the device of `ops`, computes there and copies back what may
/// have changed. Fails the running test if the device wrote anything else.
template <class Real>
std::unique_ptr<Ops<Real, MemSpace::host>> make_mirrored(
    std::unique_ptr<Ops<Real, MemSpace::device>> ops);

}  // namespace trine::test
