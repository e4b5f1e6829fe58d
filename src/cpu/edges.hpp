// Which pairs become edges.
#pragma once

#include "ops/edges.hpp"

namespace trine::cpu {

/// See SelectEdgesArgs.
void select_edges(const SelectEdgesArgs<MemSpace::host>& args, int threads);

}  // namespace trine::cpu
