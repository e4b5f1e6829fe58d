// From gradients on edges to forces and strain gradient.
#pragma once

#include "ops/edges.hpp"

namespace trine::cpu {

/// See EdgeBackwardArgs. An atom's sums run over its own pairs in list order; what its neighbours'
/// pairs owe it is read off through the reverse edges, so threads never add to the same atom.
void edge_backward(const EdgeBackwardArgs<MemSpace::host>& args, int threads);

}  // namespace trine::cpu
