// Which policy and which chunks a pass over a batch takes, and how much memory that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/pet/workspace.hpp"
#include "trine/model.hpp"

namespace trine::pet {

/// Splits atoms into runs of about `preferred_edges` edges. A row's numbers do not depend on the
/// split.
std::vector<Chunk> split_into_chunks(std::span<const std::int64_t> offsets,
                                     std::int64_t preferred_edges);

/// How a pass goes over a batch.
struct Plan {
  TapePolicy policy = TapePolicy::none;
  std::vector<Chunk> chunks;
  std::size_t bytes = 0;    ///< of the arena
  std::size_t lasting = 0;  ///< those of them that the largest chunk has no part in
};

/// What a plan is for.
struct PlanRequest {
  std::int64_t atoms = 0, edges = 0;
  bool gradient = false;
  Recompute recompute = Recompute::automatic;
  std::int64_t preferred_edges = 0;  ///< of a chunk
  /// Chunks are not halved below so many edges: a GPU would be idle at the ends of launches.
  std::int64_t fewest_edges = 65'536;
  std::size_t held = 0;  ///< bytes that the arena has anyway
};

/// Bytes of a pass: arrays over everything, tapes that are kept, and the largest chunk's own.
template <class Real, MemSpace S>
void measure(const PetConfig& config, std::int64_t atoms, std::int64_t edges, Plan& plan);

/// The first plan that fits into what is held or into `limit`: the policy that forms least again,
/// in chunks as large as the device likes or half, a quarter, .. of that; at last the one that
/// needs least. `offsets` are those of the edges. Both are asked only where it matters.
template <class Real, MemSpace S>
Plan make_plan(const PetConfig& config, const PlanRequest& request,
               const std::function<std::vector<std::int64_t>()>& offsets,
               const std::function<std::size_t()>& limit);

/// Atoms of such a system whose plan would fit into `bytes`.
std::int64_t atoms_that_fit(const Plan& plan, std::int64_t atoms, std::size_t bytes);

}  // namespace trine::pet
