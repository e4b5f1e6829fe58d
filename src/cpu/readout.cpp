#include "cpu/readout.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "cpu/kernels/kernels.hpp"
#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

constexpr MemSpace kHost = MemSpace::host;
constexpr std::int64_t kAtomsPerTask = 4;

template <class X>
double dot(const double* weight, const X* x, std::int64_t n) {
  double total = 0;
  for (std::int64_t c = 0; c < n; ++c) total += weight[c] * static_cast<double>(x[c]);
  return total;
}

/// features = [y_n ; sum_j f_ij y_e] of atom i; returns sum_j f_ij.
template <class Real>
double gather_features(const ReadoutArgs<Real, kHost>& a, std::int64_t i, double* features) {
  const std::int64_t width = a.node.cols;
  double* edge_sum = features + width;
  std::transform(a.node.row(i), a.node.row(i) + width, features,
                 [](Real y) { return static_cast<double>(y); });
  std::fill_n(edge_sum, width, 0.0);
  double total = 0;
  const std::int64_t base = a.layout.offsets[0];
  for (std::int64_t e = a.layout.offsets[i] - base; e < a.layout.offsets[i + 1] - base; ++e) {
    const double f = static_cast<double>(a.weight[e]);
    const Real* y = a.edge.row(e);
    total += f;
    for (std::int64_t c = 0; c < width; ++c) edge_sum[c] += f * static_cast<double>(y[c]);
  }
  return total;
}

}  // namespace

template <class Real>
void readout(const ReadoutArgs<Real, kHost>& a, Threads<Real>& threads) {
  const std::int64_t width = a.node.cols;
  parallel(
      static_cast<int>(threads.size()), a.layout.atoms,
      [&](std::int64_t i, int) {
        std::vector<double> features(static_cast<std::size_t>(2 * width));
        const double f_total = gather_features(a, i, features.data());
        for (std::int64_t o = 0; o < a.prediction.cols; ++o) {
          a.prediction.row(i)[o] += dot(a.last.node_weight.row(o), features.data(), width) +
                                    a.last.node_bias[o] +
                                    dot(a.last.edge_weight.row(o), features.data() + width, width) +
                                    f_total * a.last.edge_bias[o];
        }
        if (!a.features.empty()) std::copy(features.begin(), features.end(), a.features.row(i));
      },
      kAtomsPerTask);
}

template <class Real>
void readout_backward(const ReadoutBackwardArgs<Real, kHost>& a, Threads<Real>& threads) {
  const double* node = a.last.node_weight.data;
  const double* edge = a.last.edge_weight.data;
  const std::int64_t width = a.d_edge.cols, base = a.layout.offsets[0];
  parallel(
      static_cast<int>(threads.size()), a.layout.atoms,
      [&](std::int64_t i, int) {
        std::vector<Real> dy(static_cast<std::size_t>(width));
        std::transform(node, node + width, dy.begin(),
                       [&](double w) { return static_cast<Real>(a.seed * w); });
        kernels<Real>().silu_backward(width, a.node_pre.row(i), dy.data(), a.d_node.row(i));
        for (std::int64_t e = a.layout.offsets[i] - base; e < a.layout.offsets[i + 1] - base; ++e) {
          a.d_weight[e] += a.seed * (dot(edge, a.edge.row(e), width) + a.last.edge_bias[0]);
          const double factor = a.seed * static_cast<double>(a.weight[e]);
          std::transform(edge, edge + width, dy.begin(),
                         [&](double w) { return static_cast<Real>(factor * w); });
          kernels<Real>().silu_backward(width, a.edge_pre.row(e), dy.data(), a.d_edge.row(e));
        }
      },
      kAtomsPerTask);
}

void energies(const EnergiesArgs<kHost>& a) {
  for (std::int64_t i = 0; i < a.energies.size; ++i) {
    a.energies[i] = a.scale * a.prediction[i] + a.composition[a.species[i]];
  }
  for (std::int64_t b = 0; b < a.totals.size; ++b) {
    a.totals[b] = std::accumulate(a.energies.data + a.first_atom[b],
                                  a.energies.data + a.first_atom[b + 1], 0.0);
  }
}

void scale_by_species(const ScaleBySpeciesArgs<kHost>& a) {
  for (std::int64_t k = 0; k < a.y.rows * a.y.cols; ++k) {
    a.y.data[k] = a.scale[a.species[k / a.y.cols]] * a.x.data[k];
  }
}

template void readout(const ReadoutArgs<float, kHost>&, Threads<float>&);
template void readout(const ReadoutArgs<double, kHost>&, Threads<double>&);
template void readout_backward(const ReadoutBackwardArgs<float, kHost>&, Threads<float>&);
template void readout_backward(const ReadoutBackwardArgs<double, kHost>&, Threads<double>&);

}  // namespace trine::cpu
