// FIRE and FIRE 2.0.
#pragma once

#include "motion/fire.hpp"
#include "sim/minimizer.hpp"
#include "tensor/buffer.hpp"

namespace trine::sim {

/// The steps of Guenole et al. (2020). Numbers: NVIDIA ALCHEMI toolkit's.
inline constexpr motion::FireParameters kFire2 = {.first_time_step = 0.05,
                                                  .min_time_step = 0.005,
                                                  .max_time_step = 0.08,
                                                  .grow = 1.05,
                                                  .shrink = 0.75,
                                                  .first_mixing = 0.09,
                                                  .mixing_shrink = 0.985,
                                                  .delay = 60,
                                                  .max_step = 0.1};

/// The steps of Bitzek et al. (2006). Numbers: ASE's.
inline constexpr motion::FireParameters kFire = {.first_time_step = 0.1,
                                                 .min_time_step = 0,
                                                 .max_time_step = 1,
                                                 .grow = 1.1,
                                                 .shrink = 0.5,
                                                 .first_mixing = 0.1,
                                                 .mixing_shrink = 0.99,
                                                 .delay = 5,
                                                 .max_step = 0.2};

template <MemSpace S>
class Fire2 final : public Minimizer<S> {
 public:
  Variables variables() const override { return {motion::FireSystem::kCount, 0}; }
  void step(const motion::Queue<S>& queue, const motion::Atoms& rows,
            std::int64_t most_steps) override;

 private:
  Buffer<double, S> of_systems_;
};

template <MemSpace S>
class Fire final : public Minimizer<S> {
 public:
  Variables variables() const override { return {motion::FireSystem::kCount, 0}; }
  void step(const motion::Queue<S>& queue, const motion::Atoms& rows,
            std::int64_t most_steps) override;

 private:
  Buffer<double, S> of_systems_;
};

}  // namespace trine::sim
