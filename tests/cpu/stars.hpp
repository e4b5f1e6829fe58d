// Pairs with given distances, made up so that the gradient of an adaptive radius can be read off.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "ops/edges.hpp"
#include "tensor/transfer.hpp"

namespace trine::test {

/// One atom per row with an atom at each of the row's distances, and a last one out of reach. The
/// only edges are those to the last ones, so that their weights alone give the radii a gradient.
struct Stars {
  NeighborList<MemSpace::host> list;
  Edges<MemSpace::host> edges;
  std::vector<std::int64_t> offsets;  ///< of the list
  std::vector<double> distance;       ///< [L]
  std::vector<Vec3> vector;           ///< [L] along x

  Stars(const std::vector<std::vector<double>>& rows, double far) {
    const std::int64_t centres = std::ssize(rows);
    std::vector<std::int32_t> neighbor;
    std::vector<std::int64_t> out, back;  // pairs of the edges
    offsets = {0};
    std::int64_t atoms = centres;
    for (auto row : rows) {
      row.push_back(far);
      for (const double d : row) {
        neighbor.push_back(static_cast<std::int32_t>(atoms++));
        distance.push_back(d);
        vector.push_back({d, 0, 0});
      }
      out.push_back(std::ssize(neighbor) - 1);
      offsets.push_back(std::ssize(neighbor));
    }
    for (std::int64_t i = 0; i < centres; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (std::int64_t k = offsets[row]; k < offsets[row + 1]; ++k) {
        const double d = distance[static_cast<std::size_t>(k)];
        if (k == out[row]) back.push_back(std::ssize(neighbor));
        neighbor.push_back(static_cast<std::int32_t>(i));
        distance.push_back(d);
        vector.push_back({-d, 0, 0});
      }
    }
    for (std::int64_t k = offsets.back(); k < std::ssize(neighbor); ++k) offsets.push_back(k + 1);
    upload(offsets, list.offsets);
    upload(neighbor, list.neighbor);
    upload(std::vector<Shift>(neighbor.size()), list.shift);
    connect(out, back, neighbor);
  }

 private:
  void connect(const std::vector<std::int64_t>& out, const std::vector<std::int64_t>& back,
               const std::vector<std::int32_t>& neighbor) {
    const std::int64_t centres = std::ssize(out);
    std::vector<std::int64_t> pair = out, reverse, before(offsets.size());
    std::vector<std::int32_t> centre, other;
    pair.insert(pair.end(), back.begin(), back.end());
    for (std::int64_t e = 0; e < 2 * centres; ++e) {
      const std::int64_t r = (e + centres) % (2 * centres);
      reverse.push_back(r);
      other.push_back(neighbor[static_cast<std::size_t>(pair[static_cast<std::size_t>(e)])]);
      centre.push_back(neighbor[static_cast<std::size_t>(pair[static_cast<std::size_t>(r)])]);
    }
    for (const std::int32_t i : centre) ++before[static_cast<std::size_t>(i) + 1];
    std::partial_sum(before.begin(), before.end(), before.begin());
    upload(before, edges.offsets);
    upload(pair, edges.pair);
    upload(centre, edges.centre);
    upload(other, edges.neighbor);
    upload(reverse, edges.reverse);
    upload(std::vector<double>(pair.size(), distance.back()), edges.pair_cutoff);
  }
};

}  // namespace trine::test
