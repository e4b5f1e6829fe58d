// The order in which the numbers of systems that change are laid out.
#pragma once

#include "sim/system_state.hpp"

namespace trine::sim {

/// Calls `visit` with every number of the states that changes: positions, velocities, forces,
/// cells, energies, strain gradients, variables of systems and of atoms, direct forces, each of all
/// systems.
template <class States, class Visit>
void visit_numbers(States& states, const Visit& visit) {
  const auto numbers = [&](auto& all) {
    for (auto& x : all) visit(x);
  };
  const auto vectors = [&](auto& all) {
    for (auto& v : all) numbers(v);
  };
  for (auto& s : states) vectors(s.structure.positions);
  for (auto& s : states) vectors(s.velocities);
  for (auto& s : states) vectors(s.forces);
  for (auto& s : states) vectors(s.structure.cell);
  for (auto& s : states) visit(s.energy);
  for (auto& s : states) vectors(s.strain_gradient);
  for (auto& s : states) numbers(s.variables);
  for (auto& s : states) numbers(s.atom_variables);
  for (auto& s : states) vectors(s.direct_forces);
}

}  // namespace trine::sim
