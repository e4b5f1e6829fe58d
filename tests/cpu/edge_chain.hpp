// Everything from positions to cutoff weights, as a model runs it.
#pragma once

#include <memory>

#include "cpu/adaptive_cutoff.hpp"
#include "cpu/cutoff_weights.hpp"
#include "cpu/edges.hpp"
#include "cpu/frames.hpp"
#include "cpu/neighbor_list.hpp"
#include "cpu/pair_geometry.hpp"

namespace trine::test {

enum class Radius { fixed, solver, grid };

struct ChainSettings {
  Radius radius = Radius::fixed;
  CutoffFunction function = CutoffFunction::bump;
  double cutoff = 5, width = 0.5, adaptive_width = 1, num_neighbors = 8;
};

/// Not movable: the argument structs point into it.
struct Chain {
  ChainSettings settings;
  Batch batch;
  NeighborList<MemSpace::host> list;
  Buffer<Vec3> vector;
  Buffer<double> distance, radius, root_slope, root, weight, slope;
  AdaptiveCutoffArgs<MemSpace::host> adaptive;
  Edges<MemSpace::host> edges;

  Chain(const std::vector<Frame>& frames, const ChainSettings& s, int threads = 1)
      : settings(s), batch(frames) {
    const auto atoms = batch.view();
    cpu::neighbor_list({atoms, s.cutoff, &list}, threads);
    vector.resize(list.neighbor.size());
    distance.resize(list.neighbor.size());
    cpu::pair_geometry({atoms, &list, vector.view(), distance.view()}, threads);
    if (s.radius != Radius::fixed) adapt(threads);
    cpu::select_edges({&list, distance.view(), radius.view(), s.cutoff, &edges}, threads);
    weight.resize(edges.pair.size());
    slope.resize(edges.pair.size());
    cpu::cutoff_weights({s.function, s.width, &edges, distance.view(), weight.view(), slope.view()},
                        threads);
  }
  Chain(const Chain&) = delete;

  void adapt(int threads) {
    for (auto* values : {&radius, &root_slope, &root}) values->resize(batch.view().atoms());
    adaptive = {
        .method = settings.radius == Radius::solver ? AdaptiveMethod::solver : AdaptiveMethod::grid,
        .cutoff = settings.cutoff,
        .width = settings.adaptive_width,
        .num_neighbors = settings.num_neighbors,
        .offsets = list.offsets.view(),
        .distance = distance.view(),
        .radius = radius.view(),
        .slope = root_slope.view(),
        .root = root.view()};
    cpu::adaptive_cutoff(adaptive, threads);
  }
};

}  // namespace trine::test
