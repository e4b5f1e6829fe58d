// What moves the rows of relaxing systems downhill.
#pragma once

#include <memory>

#include "motion/atoms.hpp"
#include "motion/queue.hpp"
#include "sim/systems.hpp"
#include "trine/relaxation.hpp"

namespace trine::sim {

/// Gives work to a queue and never waits for it. What it keeps from step to step are the velocities
/// and variables of the rows (motion/relaxing.hpp), zero at the start, so that systems can come and
/// go. Decides for each system by itself.
template <MemSpace S>
class Minimizer {
 public:
  virtual ~Minimizer() = default;

  /// Per system and per row.
  virtual Variables variables() const = 0;
  /// Moves all rows once, with the forces that they have. `most_steps`: that any of the systems has
  /// made before.
  virtual void step(const motion::Queue<S>& queue, const motion::Atoms& rows,
                    std::int64_t most_steps) = 0;
};

template <MemSpace S>
std::unique_ptr<Minimizer<S>> make_minimizer(Optimizer optimizer);

}  // namespace trine::sim
