// Systems that relax together, in the memory of a device.
#pragma once

#include <vector>

#include "motion/relaxing.hpp"
#include "sim/minimizer.hpp"
#include "sim/systems.hpp"
#include "trine/relaxation.hpp"

namespace trine::sim {

/// One structure on its way, on the host: all that has to be kept of it while the systems beside it
/// change.
struct RelaxingState {
  SystemState system;  ///< as it came
  motion::RelaxingSystem of_system;
  std::vector<double> variables;  ///< of the minimizer
  /// Of the N + 3 rows: all places, then all velocities, best places, best forces, variables. What
  /// is missing at the end is zero.
  std::vector<double> rows;
};

RelaxingState begin_relaxing(SystemState system);

template <MemSpace S>
class RelaxingSystems {
 public:
  /// `states` that were given out with the same `variables`, or are new.
  RelaxingSystems(int gpu, std::vector<RelaxingState> states, Variables variables,
                  const RelaxationOptions& options);

  Systems<S>& systems() { return systems_; }

  struct Found {
    double energy = 0;  ///< eV
    double fmax = 0;    ///< eV/Angstrom
  };
  /// What the last evaluation found, which counts as a step of all systems that are not done. Keeps
  /// the best step. Waits for the device.
  std::vector<Found> look();

  /// Systems that stay where they are from now on, [B].
  void finish(const std::vector<std::int64_t>& is_done);
  /// Moves the others. `most_steps`: that any of them has made.
  void move(Minimizer<S>& minimizer, std::int64_t most_steps);

  /// (R, 3) forces on rows that `look` saw. Waits for the device.
  std::vector<double> forces() const { return systems_.read(forces_.data(), forces_.size()); }
  /// Everything as it is now. Waits for the device.
  std::vector<RelaxingState> states() const;

 private:
  template <class Visit>
  void visit_rows(std::vector<RelaxingState>& states, const Visit& visit) const;
  void lay_out_rows();
  void upload_numbers();
  void place_atoms();

  std::vector<RelaxingState> states_;  ///< as they were at the start
  Variables variables_;
  Systems<S> systems_;
  Buffer<std::int64_t, S> first_, is_done_;
  Buffer<std::int32_t, S> system_;
  Buffer<double, S> rows_, variables_of_systems_, forces_, found_;
  Buffer<motion::RelaxingSystem, S> of_system_;
  motion::Relaxing relaxing_;
};

}  // namespace trine::sim
