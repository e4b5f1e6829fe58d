// A device of which little is free, or that likes chunks of another size; it computes as another
// one does.
#pragma once

#include <memory>
#include <utility>

#include "models/support/forwarding_ops.hpp"

namespace trine::test {

/// What the device says of itself; everything else is passed on.
struct Limits {
  std::int64_t available_memory = 0;
  std::int64_t preferred_edges = 0;
};

template <class Real, MemSpace S>
class LimitedOps final : public ForwardingOps<Real, S> {
 public:
  LimitedOps(std::unique_ptr<Ops<Real, S>> ops, const Limits& of)
      : ForwardingOps<Real, S>(std::move(ops)), limits(of) {}

  Limits limits;

  std::int64_t available_memory() const override { return limits.available_memory; }
  std::int64_t preferred_edges() const override { return limits.preferred_edges; }
};

}  // namespace trine::test
