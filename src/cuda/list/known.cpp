#include "cuda/list/known.hpp"

namespace trine::cuda {

void KnownStructures::forget() {
  atoms = 0;
  has_list = has_served = is_ahead = false;
}

void KnownStructures::note(const BatchArrays& batch, const Grid* grids, double reach,
                           cudaStream_t stream) {
  positions_.resize(3 * batch.atoms);
  first_atom_.resize(batch.structures + 1);
  cells_.resize(9 * batch.structures);
  pbc_.resize(3 * batch.structures);
  limit_squared_.resize(batch.structures);
  note_structures(batch, grids, reach, kSkin, reference(), stream);
  atoms = batch.atoms;
  structures = batch.structures;
}

}  // namespace trine::cuda
