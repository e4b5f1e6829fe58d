// Last layers on the CPU, in double.
#pragma once

#include "cpu/row_ops.hpp"
#include "ops/readout.hpp"

namespace trine::cpu {

template <class Real>
void readout(const ReadoutArgs<Real, MemSpace::host>& args, Threads<Real>& threads);
template <class Real>
void readout_backward(const ReadoutBackwardArgs<Real, MemSpace::host>& args,
                      Threads<Real>& threads);
void energies(const EnergiesArgs<MemSpace::host>& args);
void scale_by_species(const ScaleBySpeciesArgs<MemSpace::host>& args);

}  // namespace trine::cpu
