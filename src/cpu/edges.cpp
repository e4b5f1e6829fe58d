#include "cpu/edges.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/check.hpp"
#include "cpu/parallel.hpp"

namespace trine::cpu {
namespace {

using Args = SelectEdgesArgs<MemSpace::host>;

constexpr std::int64_t kGrain = 64;  // atoms handed to a thread at a time

double pair_cutoff(const Args& args, std::int64_t i, std::int64_t pair) {
  if (args.radius.empty()) return args.cutoff;
  return (args.radius[i] + args.radius[args.list->neighbor[pair]]) / 2;
}

/// Calls `keep(pair, cutoff)` for every pair of centre i that the network sees, in list order.
template <class Keep>
void for_each_kept(const Args& args, std::int64_t i, Keep&& keep) {
  for (std::int64_t k = args.list->offsets[i]; k < args.list->offsets[i + 1]; ++k) {
    const double cutoff = pair_cutoff(args, i, k);
    if (args.distance[k] <= cutoff) keep(k, cutoff);
  }
}

/// The edge (j, i, -shift) in row j, which is sorted by neighbour and shift, or -1.
std::int64_t find_reverse(const Args& args, std::int64_t edge) {
  const auto& edges = *args.edges;
  const std::int32_t i = edges.centre[edge], j = edges.neighbor[edge];
  const Shift& s = args.list->shift[edges.pair[edge]];
  const Shift wanted{-s[0], -s[1], -s[2]};
  std::int64_t low = edges.offsets[j], high = edges.offsets[j + 1];
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    const std::int32_t neighbor = edges.neighbor[middle];
    const bool before =
        neighbor != i ? neighbor < i : args.list->shift[edges.pair[middle]] < wanted;
    (before ? low : high) = before ? middle + 1 : middle;
  }
  const bool found = low < edges.offsets[j + 1] && edges.neighbor[low] == i &&
                     args.list->shift[edges.pair[low]] == wanted;
  return found ? low : -1;
}

[[noreturn]] void fail_without_reverse(const Args& args, std::int64_t edge) {
  const auto& edges = *args.edges;
  const Shift& s = args.list->shift[edges.pair[edge]];
  fail(ErrorCode::bad_input,
       "pair {} of the neighbour list (atoms {} and {}, shift {} {} {}) has no reverse pair, give "
       "a full list with both directions of every pair, sorted by centre, neighbour and shift",
       edges.pair[edge], edges.centre[edge], edges.neighbor[edge], s[0], s[1], s[2]);
}

void fill_row(const Args& args, std::int64_t i) {
  auto& edges = *args.edges;
  std::int64_t e = edges.offsets[i];
  for_each_kept(args, i, [&](std::int64_t pair, double cutoff) {
    edges.pair[e] = pair;
    edges.centre[e] = static_cast<std::int32_t>(i);
    edges.neighbor[e] = args.list->neighbor[pair];
    edges.pair_cutoff[e] = cutoff;
    ++e;
  });
}

void resize(Edges<MemSpace::host>& edges, std::int64_t rows) {
  edges.pair.resize(rows);
  edges.centre.resize(rows);
  edges.neighbor.resize(rows);
  edges.reverse.resize(rows);
  edges.pair_cutoff.resize(rows);
}

/// Writes the rows behind the last edge.
void fill_up(Edges<MemSpace::host>& edges, std::int64_t first) {
  for (std::int64_t e = first; e < edges.pair.size(); ++e) {
    edges.pair[e] = edges.centre[e] = edges.neighbor[e] = 0;
    edges.reverse[e] = e;
    edges.pair_cutoff[e] = 0;
  }
}

/// Fills `reverse`; of several edges without a partner the first is reported, whatever the threads.
void match_reverse(const Args& args, std::int64_t atoms, int threads) {
  auto& edges = *args.edges;
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> first_missing{kNone};
  const auto match = [&](std::int64_t i, int) {
    for (std::int64_t e = edges.offsets[i]; e < edges.offsets[i + 1]; ++e) {
      edges.reverse[e] = find_reverse(args, e);
      if (edges.reverse[e] >= 0) continue;
      std::int64_t known = first_missing.load();
      while (e < known && !first_missing.compare_exchange_weak(known, e)) {
      }
    }
  };
  parallel(threads, atoms, match, kGrain);
  if (first_missing != kNone) fail_without_reverse(args, first_missing);
}

}  // namespace

void select_edges(const Args& args, int threads) {
  auto& edges = *args.edges;
  const std::int64_t atoms = args.list->offsets.size() - 1;
  edges.offsets.resize(atoms + 1);
  edges.offsets[0] = 0;
  const auto count = [&](std::int64_t i, int) {
    std::int64_t kept = 0;
    for_each_kept(args, i, [&](std::int64_t, double) { ++kept; });
    edges.offsets[i + 1] = kept;
  };
  parallel(threads, atoms, count, kGrain);
  for (std::int64_t i = 0; i < atoms; ++i) edges.offsets[i + 1] += edges.offsets[i];

  const std::int64_t total = edges.offsets[atoms];
  resize(edges, args.rows_for(total));
  fill_up(edges, total);
  parallel(
      threads, atoms, [&](std::int64_t i, int) { fill_row(args, i); }, kGrain);
  match_reverse(args, atoms, threads);
}

}  // namespace trine::cpu
