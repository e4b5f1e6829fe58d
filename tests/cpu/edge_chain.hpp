// Everything from positions to cutoff weights, as a model runs it.
#pragma once

#include <vector>

#include "cpu/frames.hpp"
#include "ops/devices.hpp"

namespace trine::test {

enum class Radius { fixed, solver, grid };

struct ChainSettings {
  Radius radius = Radius::fixed;
  CutoffFunction function = CutoffFunction::bump;
  double cutoff = 5, width = 0.5, adaptive_width = 1, num_neighbors = 8;
  std::int64_t granule = 1;
  std::int64_t rows = 0;  ///< of a call before
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

  Chain(const std::vector<Frame>& frames, const ChainSettings& s,
        Device<float>& device = first_device())
      : settings(s), batch(frames) {
    const auto atoms = batch.view();
    device.neighbor_list({atoms, s.cutoff, &list});
    vector.resize(list.neighbor.size());
    distance.resize(list.neighbor.size());
    device.pair_geometry({atoms, &list, vector.view(), distance.view()});
    if (s.radius != Radius::fixed) adapt(device);
    device.select_edges(
        {&list, distance.view(), radius.view(), s.cutoff, &edges, s.granule, s.rows});
    weight.resize(edges.pair.size());
    slope.resize(edges.pair.size());
    device.cutoff_weights(
        {s.function, s.width, &edges, distance.view(), weight.view(), slope.view()});
  }
  Chain(const Chain&) = delete;

  void adapt(Device<float>& device) {
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
    device.adaptive_cutoff(adaptive);
  }
};

}  // namespace trine::test
