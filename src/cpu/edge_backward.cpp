#include "cpu/edge_backward.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "cpu/adaptive_cutoff.hpp"
#include "cpu/pair_geometry.hpp"
#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

using Args = EdgeBackwardArgs<MemSpace::host>;

constexpr std::int64_t kGrain = 16;  // atoms handed to a thread at a time

/// dE/dd of an edge through its weight.
double distance_gradient(const Args& args, std::int64_t edge) {
  return args.d_weight[edge] * args.slope[edge];
}

/// dE/dR_i: f depends on d - c only, and c is the mean of both radii.
void radius_gradient(const Args& args, int threads, Vector<double> d_radius) {
  const auto& edges = *args.edges;
  const auto add = [&](std::int64_t i, int) {
    double sum = 0;
    for (std::int64_t e = edges.offsets[i]; e < edges.offsets[i + 1]; ++e) {
      sum += distance_gradient(args, e) + distance_gradient(args, edges.reverse[e]);
    }
    d_radius[i] = -0.5 * sum;
  };
  parallel(threads, args.atoms.atoms(), add, 4 * kGrain);
}

/// Gradient of a pair and of its reverse: along the pair (dE/dd) and as a vector (dE/dv).
struct PairGradient {
  double along = 0, along_reversed = 0;
  Vec3 vector{}, vector_reversed{};
};

/// Adds a pair to what its centre feels. With g = vector + along v/|v| of the pair and g' of its
/// reverse, whose v is the negative: force += g - g', strain += v (x) g. A pair of an atom with its
/// own image pulls at both ends alike.
void add_pair(const PairGradient& g, const Vec3& v, bool self_image, Vec3& force, Mat3& strain) {
  const double length = std::sqrt(squared_norm(v));
  const double inverse = length > 0 ? 1 / length : 0.0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double unit = v[c] * inverse;
    const double own = g.vector[c] + g.along * unit;
    const double reversed = g.vector_reversed[c] - g.along_reversed * unit;
    if (!self_image) force[c] += own - reversed;
    for (std::size_t a = 0; a < 3; ++a) strain[a][c] += v[a] * own;
  }
}

/// Force on atom i and its share of the strain gradient; `adaptive` may be null.
void sum_row(const Args& args, std::int64_t i, const AdaptiveGradient::Scratch* adaptive,
             Vec3& force, Mat3& strain) {
  const auto& list = *args.list;
  const auto& edges = *args.edges;
  force = {};
  strain = {};
  std::int64_t e = edges.offsets[i];
  const std::int64_t first = list.offsets[i];
  for (std::int64_t k = first; k < list.offsets[i + 1]; ++k) {
    PairGradient g;
    if (adaptive) {
      const auto in_row = static_cast<std::size_t>(k - first);
      g.along = adaptive->own[in_row];
      g.along_reversed = adaptive->reversed[in_row];
    }
    const bool is_edge = e < edges.offsets[i + 1] && edges.pair[e] == k;
    if (is_edge) {
      const std::int64_t r = edges.reverse[e];
      g.along += distance_gradient(args, e);
      g.along_reversed += distance_gradient(args, r);
      g.vector = args.d_vector[e];
      g.vector_reversed = args.d_vector[r];
      ++e;
    }
    if (!is_edge && g.along == 0 && g.along_reversed == 0) continue;
    add_pair(g, args.vector[k], list.neighbor[k] == i, force, strain);
  }
}

}  // namespace

void edge_backward(const Args& args, int threads) {
  const auto& list = *args.list;
  const std::int64_t atoms = args.atoms.atoms();
  Buffer<double> d_radius;
  std::optional<AdaptiveGradient> adaptive;
  if (args.adaptive) {
    d_radius.resize(atoms);
    radius_gradient(args, threads, d_radius.view());
    adaptive.emplace(*args.adaptive, d_radius.view(), threads);
  }
  Buffer<Mat3> strain(atoms);
  std::vector<AdaptiveGradient::Scratch> scratch(static_cast<std::size_t>(threads));
  const auto sum = [&](std::int64_t i, int thread) {
    auto& row = scratch[static_cast<std::size_t>(thread)];
    const std::int64_t first = list.offsets[i], count = list.offsets[i + 1] - first;
    if (adaptive) adaptive->row(i, {list.neighbor.data() + first, count}, row);
    sum_row(args, i, adaptive ? &row : nullptr, args.forces[i], strain[i]);
  };
  parallel(threads, atoms, sum, kGrain);
  for (std::int64_t b = 0; b < args.atoms.structures(); ++b) {
    Mat3 total{};
    for (std::int64_t i = args.atoms.first_atom[b]; i < args.atoms.first_atom[b + 1]; ++i) {
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t c = 0; c < 3; ++c) total[a][c] += strain[i][a][c];
      }
    }
    args.strain_gradient[b] = total;
  }
}

}  // namespace trine::cpu
