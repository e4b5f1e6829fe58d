// From head features to per-atom predictions, and back. float and double.
#pragma once

#include <cuda_runtime.h>

#include "ops/readout.hpp"

namespace trine::cuda {

template <class Real>
void readout(const ReadoutArgs<Real, MemSpace::device>& args, cudaStream_t stream);
template <class Real>
void readout_backward(const ReadoutBackwardArgs<Real, MemSpace::device>& args, cudaStream_t stream);
void energies(const EnergiesArgs<MemSpace::device>& args, cudaStream_t stream);
void scale_by_species(const ScaleBySpeciesArgs<MemSpace::device>& args, cudaStream_t stream);

}  // namespace trine::cuda
