#include "cpu/cutoff_weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "cpu/kernels/kernels.hpp"
#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

constexpr std::int64_t kChunk = 256;  // edges

/// f = (1 + cos(pi u)) / 2 and df/du, u clamped to [0, 1].
void cosine(std::int64_t n, const double* u, double* value, double* slope) {
  for (std::int64_t k = 0; k < n; ++k) {
    const double x = std::numbers::pi * std::clamp(u[k], 0.0, 1.0);
    const bool inside = 0 <= u[k] && u[k] <= 1;
    value[k] = 0.5 * (1 + std::cos(x));
    slope[k] = inside ? -std::numbers::pi / 2 * std::sin(x) : 0.0;
  }
}

}  // namespace

void cutoff_weights(const CutoffWeightsArgs<MemSpace::host>& args, int threads) {
  const auto& edges = *args.edges;
  const std::int64_t total = edges.offsets[edges.offsets.size() - 1];
  const auto step = args.function == CutoffFunction::bump ? geometry_kernels().bump : cosine;
  const auto weigh = [&](std::int64_t chunk, int) {
    const std::int64_t first = chunk * kChunk;
    const std::int64_t count = std::min(kChunk, total - first);
    std::array<double, kChunk> u;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t e = first + k;
      const double inner = edges.pair_cutoff[e] - args.width;
      u[static_cast<std::size_t>(k)] = (args.distance[edges.pair[e]] - inner) / args.width;
    }
    step(count, u.data(), args.weight.data + first, args.slope.data + first);
    for (std::int64_t e = first; e < first + count; ++e) args.slope[e] /= args.width;
  };
  parallel(threads, (total + kChunk - 1) / kChunk, weigh, 4);
  std::fill(args.weight.begin() + total, args.weight.end(), 0.0);
  std::fill(args.slope.begin() + total, args.slope.end(), 0.0);
}

}  // namespace trine::cpu
