// Limited-memory BFGS.
#pragma once

#include "motion/lbfgs.hpp"
#include "sim/minimizer.hpp"
#include "tensor/buffer.hpp"

namespace trine::sim {

/// Without a line search; numbers are ASE's.
template <MemSpace S>
class Lbfgs final : public Minimizer<S> {
 public:
  static constexpr std::int64_t kMemory = 100;
  static constexpr double kInitialCurvature = 70;  ///< eV/Angstrom^2
  static constexpr double kMaxStep = 0.2;          ///< Angstrom

  Variables variables() const override {
    return {motion::LbfgsHistory::system_values(kMemory),
            motion::LbfgsHistory::row_values(kMemory)};
  }
  void step(const motion::Queue<S>& queue, const motion::Atoms& rows,
            std::int64_t most_steps) override;

 private:
  Buffer<double, S> of_systems_;
};

}  // namespace trine::sim
