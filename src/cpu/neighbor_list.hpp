// All pairs within a cutoff, through boxes: time grows with the number of atoms and pairs only.
#pragma once

#include "ops/neighbor_list.hpp"

namespace trine::cpu {

/// See NeighborListArgs. Throws `Error(not_supported)` for more atoms than 32-bit indices can name
/// and what `make_cell_grid` throws.
void neighbor_list(const NeighborListArgs<MemSpace::host>& args, int threads);

}  // namespace trine::cpu
