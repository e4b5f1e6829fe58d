// The systems of a run in the memory of a device.
#pragma once

#include <string>
#include <vector>

#include "motion/atoms.hpp"
#include "motion/queue.hpp"
#include "sim/system_state.hpp"
#include "tensor/buffer.hpp"
#include "tensor/transfer.hpp"
#include "trine/potential.hpp"

namespace trine::sim {

/// Per system and per atom: how many numbers an algorithm keeps between steps.
struct Variables {
  std::int64_t of_system = 0;
  std::int64_t of_atom = 0;
  bool direct_forces = false;
};

template <MemSpace S>
class Systems {
 public:
  /// `states` have variables as `variables` says, or none, which are zero then.
  Systems(int gpu, std::vector<SystemState> states, Variables variables, std::int64_t steps_done);

  const motion::Queue<S>& queue() const { return queue_; }
  motion::Queue<S>& queue() { return queue_; }
  const motion::Atoms& atoms() const { return atoms_; }
  std::size_t size() const { return states_.size(); }

  /// Energies, forces and strain gradients where the atoms are now; also the forces of a direct
  /// head if there is room for them.
  void evaluate(Potential& potential);
  /// Of one system alone, without direct forces.
  void evaluate(Potential& potential, std::size_t b);
  /// The same without the host, see `Potential::evaluate_ahead`.
  void evaluate_ahead(Potential& potential, int* halted, AheadPart part);
  void evaluate_conservative(Potential& potential);  ///< all but the direct forces
  /// Forces of a direct head alone.
  void evaluate_direct(Potential& potential);

  /// Of a system, for messages.
  std::string name(std::size_t b) const;
  /// The atoms and cells that the potential is called with; where they are is on the device.
  std::span<const Structure> structures() const { return structures_; }
  DeviceArrays arrays() const;

  /// Everything as it is now. Waits for the device.
  std::vector<SystemState> states() const;
  std::int64_t steps_done() const;  ///< waits for the device

  /// An array of the device on the host. Waits for it.
  std::vector<double> read(const double* array, std::int64_t size) const;

  /// Keeps a copy of everything as it is now on the device; goes back to it. Neither waits.
  void remember();
  void go_back();

 private:
  template <class T>
  static void fill(Buffer<T, S>& array, const std::vector<T>& values);
  void place_numbers(Variables variables);
  void subtract_mean_force();

  motion::Queue<S> queue_;
  std::vector<SystemState> states_;  ///< what does not change: masses, held atoms, seeds, names
  std::vector<Structure> structures_;
  Buffer<std::int64_t, S> first_, step_, remembered_step_;
  Buffer<std::int32_t, S> system_;
  Buffer<std::uint64_t, S> seed_;
  Buffer<std::uint8_t, S> moves_;
  Buffer<double, S> mass_;
  /// All that changes, one array after the other: positions, velocities, forces, cells, energies,
  /// strain gradients, variables of systems and of atoms, direct forces.
  Buffer<double, S> numbers_, remembered_;
  Buffer<double, S> force_sums_;  ///< (B, 3) of direct forces
  motion::Atoms atoms_;
};

}  // namespace trine::sim
