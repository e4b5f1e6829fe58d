// Smooth cutoff of every edge.
#pragma once

#include "ops/edges.hpp"

namespace trine::cpu {

/// See CutoffWeightsArgs.
void cutoff_weights(const CutoffWeightsArgs<MemSpace::host>& args, int threads);

}  // namespace trine::cpu
