#include "models/pet/plan.hpp"

#include <algorithm>

#include "tensor/for_each_device.hpp"

namespace trine::pet {
namespace {

/// From what is fastest to what needs least.
std::vector<TapePolicy> policies_of(const PlanRequest& request) {
  if (!request.gradient) return {TapePolicy::none};
  switch (request.recompute) {
    case Recompute::none:
      return {TapePolicy::keep};
    case Recompute::light:
      return {TapePolicy::light, TapePolicy::lighter};
    case Recompute::layer:
      return {TapePolicy::layer};
    case Recompute::automatic:
      break;
  }
  return {TapePolicy::keep, TapePolicy::light, TapePolicy::lighter, TapePolicy::layer};
}

}  // namespace

std::vector<Chunk> split_into_chunks(std::span<const std::int64_t> offsets,
                                     std::int64_t preferred_edges) {
  // Whole multiples of this many atoms fill the panels of the node's products.
  constexpr std::int64_t kAtoms = 64;
  const std::int64_t atoms = static_cast<std::int64_t>(offsets.size()) - 1, edges = offsets.back();
  const std::int64_t wanted = edges > 0 ? preferred_edges * atoms / edges : preferred_edges;
  const std::int64_t size =
      std::clamp<std::int64_t>((wanted + kAtoms / 2) / kAtoms, 1, preferred_edges / kAtoms) *
      kAtoms;
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < atoms; first += size) {
    const std::int64_t last = std::min(first + size, atoms);
    const auto begin = offsets[static_cast<std::size_t>(first)];
    chunks.push_back({first, last - first, begin, offsets[static_cast<std::size_t>(last)] - begin});
  }
  return chunks;
}

template <class Real, MemSpace S>
void measure(const PetConfig& c, std::int64_t atoms, std::int64_t edges, Plan& plan) {
  Arena<S> arena;
  GlobalArrays<Real, S>(arena, c, atoms, edges, plan.policy);
  if (keeps_tapes(plan.policy)) {
    for (const Chunk& chunk : plan.chunks) {
      for (std::int64_t l = 0; l < c.num_gnn_layers; ++l)
        LayerTape<Real, S>(arena, c, chunk, plan.policy);
    }
  }
  plan.lasting = arena.used();
  for (const Chunk& chunk : plan.chunks) {
    ChunkScratch<Real, S>(arena, c, chunk, plan.policy);
    if (!keeps_tapes(plan.policy)) LayerTape<Real, S>(arena, c, chunk, plan.policy);
    arena.rewind(plan.lasting);
  }
  plan.bytes = arena.peak();
}

template <class Real, MemSpace S>
Plan make_plan(const PetConfig& config, const PlanRequest& request,
               const std::function<std::vector<std::int64_t>()>& offsets,
               const std::function<std::size_t()>& limit) {
  std::vector<std::int64_t> known;
  Plan plan, least;
  for (const TapePolicy policy : policies_of(request)) {
    plan.policy = policy;
    std::int64_t size = std::min(request.preferred_edges, request.edges);
    while (true) {
      plan.chunks = {{0, request.atoms, 0, request.edges}};
      if (request.edges > size) {
        if (known.empty()) known = offsets();
        plan.chunks = split_into_chunks(known, size);
      }
      measure<Real, S>(config, request.atoms, request.edges, plan);
      if (plan.bytes <= request.held || plan.bytes <= limit()) return plan;
      if (least.chunks.empty() || plan.bytes < least.bytes) least = plan;
      if (size < 2 * request.fewest_edges) break;
      size = (size + 1) / 2;
    }
  }
  return least;
}

std::int64_t atoms_that_fit(const Plan& plan, std::int64_t atoms, std::size_t bytes) {
  // A single chunk grows with the system; many of them stay as they are.
  const std::size_t fixed = plan.chunks.size() > 1 ? plan.bytes - plan.lasting : 0;
  if (bytes <= fixed || plan.bytes <= fixed) return 0;
  const auto fraction =
      static_cast<double>(bytes - fixed) / static_cast<double>(plan.bytes - fixed);
  return static_cast<std::int64_t>(fraction * static_cast<double>(atoms));
}

#define TRINE_INSTANTIATE(Real, S)                                                     \
  template void measure<Real, S>(const PetConfig&, std::int64_t, std::int64_t, Plan&); \
  template Plan make_plan<Real, S>(const PetConfig&, const PlanRequest&,               \
                                   const std::function<std::vector<std::int64_t>()>&,  \
                                   const std::function<std::size_t()>&);
TRINE_FOR_EACH_DEVICE(TRINE_INSTANTIATE)
#undef TRINE_INSTANTIATE

}  // namespace trine::pet
