#include "cuda/edges/edges.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.hpp"
#include "cuda/edges/launches.hpp"
#include "cuda/gemm/device.hpp"
#include "cuda/list/numbers.hpp"
#include "cuda/list/scan.hpp"

namespace trine::cuda {
namespace {

constexpr unsigned long long kNone = ~0ULL;

Probes make_probes(const AdaptiveCutoffArgs<MemSpace::device>& args) {
  const double count = std::ceil((args.cutoff - 0.5) / (args.width / 4));
  check(count >= 1, ErrorCode::bad_input,
        "the cutoff of {} Angstrom is too short for the grid adaptive cutoff (probes start at 0.5 "
        "Angstrom), use a model with a longer cutoff",
        args.cutoff);
  const double most = 8192;  // what shared memory holds
  check(count <= most, ErrorCode::not_supported,
        "the grid adaptive cutoff has {:g} probes and a GPU has room for {:g}, use a model with a "
        "wider taper, or the CPU",
        count, most);
  return {static_cast<int>(count), args.width};
}

template <class T>
T* raw(Vector<Vec3, MemSpace::device> v) {
  return reinterpret_cast<T*>(v.data);
}

const double* raw(Vector<const Vec3, MemSpace::device> v) {
  return reinterpret_cast<const double*>(v.data);
}

template <class T>
void copy_to_host(T* to, const T* from, std::int64_t count, cudaStream_t stream) {
  check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T),
                             cudaMemcpyDeviceToHost, stream),
             "copy numbers");
}

[[noreturn]] void fail_without_reverse(const NeighborList<MemSpace::device>& list,
                                       std::int64_t pair, cudaStream_t stream) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(list.offsets.size()));
  std::int32_t neighbor = 0;
  Shift s{};
  copy_to_host(offsets.data(), list.offsets.data(), list.offsets.size(), stream);
  copy_to_host(&neighbor, list.neighbor.data() + pair, 1, stream);
  copy_to_host(&s, list.shift.data() + pair, 1, stream);
  check_cuda(cudaStreamSynchronize(stream), "find a pair without reverse");
  const auto centre = std::upper_bound(offsets.begin(), offsets.end(), pair) - offsets.begin() - 1;
  fail(ErrorCode::bad_input,
       "pair {} of the neighbour list (atoms {} and {}, shift {} {} {}) has no reverse pair, give "
       "a full list with both directions of every pair, sorted by centre, neighbour and shift",
       pair, centre, neighbor, s[0], s[1], s[2]);
}

void resize(Edges<MemSpace::device>& edges, std::int64_t rows) {
  edges.pair.resize_with_room(rows);
  edges.centre.resize_with_room(rows);
  edges.neighbor.resize_with_room(rows);
  edges.reverse.resize_with_room(rows);
  edges.pair_cutoff.resize_with_room(rows);
}

}  // namespace

void adaptive_cutoff(const AdaptiveCutoffArgs<MemSpace::device>& args, cudaStream_t stream) {
  if (args.method == AdaptiveMethod::solver) {
    solve_radii(AdaptiveArrays(args), stream);
  } else {
    weigh_radii(AdaptiveArrays(args), make_probes(args), stream);
  }
}

struct EdgeBuilder::Scratch {
  template <class T>
  using Array = Buffer<T, MemSpace::device>;

  Array<Nearest> nearest;
  Array<std::int32_t> rank, partner;
  Array<unsigned long long> first_missing;
  Array<double> d_radius, factor, strain, strain_group;
  Scan scan;
  PinnedNumbers numbers;

  std::int64_t add_up(const SelectEdgesArgs<MemSpace::device>& args, const Selection& selection,
                      cudaStream_t stream);
};

/// From numbers of edges to offsets, of which the last is returned.
std::int64_t EdgeBuilder::Scratch::add_up(const SelectEdgesArgs<MemSpace::device>& args,
                                          const Selection& selection, cudaStream_t stream) {
  scan.exclusive(args.edges->offsets.data(), selection.atoms + 1,
                 {numbers.data(), selection.first_missing}, stream);
  const auto [total, missing] = numbers.read(stream, "count edges");
  if (static_cast<unsigned long long>(missing) != kNone) {
    fail_without_reverse(*args.list, missing, stream);
  }
  return total;
}

EdgeBuilder::EdgeBuilder() : scratch_(std::make_unique<Scratch>()) {}
EdgeBuilder::~EdgeBuilder() = default;

void EdgeBuilder::pair_geometry(const PairGeometryArgs<MemSpace::device>& args,
                                cudaStream_t stream) {
  const BatchArrays batch(args.atoms);
  const std::int64_t blocks = args.closest.empty() ? 0 : geometry_blocks(batch.atoms);
  scratch_->nearest.resize(blocks);
  Nearest* nearest = blocks == 0 ? nullptr : scratch_->nearest.data();
  measure_pairs(batch, ListArrays(*args.list), raw<double>(args.vector), args.distance.data,
                nearest, stream);
  if (args.closest.empty()) return;
  find_closest(nearest, blocks, reinterpret_cast<Nearest*>(args.closest.data), args.least,
               args.halted, stream);
}

void EdgeBuilder::select(const SelectEdgesArgs<MemSpace::device>& args, cudaStream_t stream) {
  Edges<MemSpace::device>& edges = *args.edges;
  const std::int64_t atoms = args.list->offsets.size() - 1, pairs = args.list->neighbor.size();
  for (auto* b : {&scratch_->rank, &scratch_->partner}) {
    b->reserve(args.list->room());
    b->resize(pairs);
  }
  scratch_->first_missing.resize(1);
  const Selection selection{ListArrays(*args.list),
                            atoms,
                            args.distance.data,
                            args.radius.empty() ? nullptr : args.radius.data,
                            args.cutoff,
                            scratch_->rank.data(),
                            scratch_->partner.data(),
                            scratch_->first_missing.data()};
  edges.offsets.resize(atoms + 1);
  std::int64_t* offsets = edges.offsets.data();
  check_cuda(cudaMemsetAsync(selection.first_missing, 0xff, sizeof kNone, stream), "clear memory");
  count_edges(selection, offsets, stream);
  std::int64_t rows = args.rows;
  if (args.halted) {
    scratch_->scan.exclusive(offsets, atoms + 1, {}, stream,
                             {args.halted, rows, selection.first_missing});
  } else {
    rows = args.rows_for(scratch_->add_up(args, selection, stream));
  }
  resize(edges, rows);
  fill_edges(selection, EdgeArrays(edges), rows, stream);
}

void EdgeBuilder::backward(const EdgeBackwardArgs<MemSpace::device>& args, cudaStream_t stream) {
  const BatchArrays batch(args.atoms);
  Scratch& s = *scratch_;
  s.strain.resize(9 * batch.atoms);
  s.strain_group.resize(9 * strain_groups(batch));
  const BackwardArrays arrays{batch.atoms,        ListArrays(*args.list),   EdgeArrays(*args.edges),
                              raw(args.vector),   args.slope.data,          args.d_weight.data,
                              raw(args.d_vector), raw<double>(args.forces), s.strain.data()};
  if (!args.adaptive) {
    sum_fixed(arrays, stream);
  } else {
    const AdaptiveArrays adaptive(*args.adaptive);
    s.d_radius.resize(batch.atoms);
    if (args.adaptive->method == AdaptiveMethod::solver) {
      radius_gradient(arrays, adaptive.slope, s.d_radius.data(), stream);
      sum_with_solver(arrays, adaptive, s.d_radius.data(), stream);
    } else {
      const Probes probes = make_probes(*args.adaptive);
      s.factor.resize(batch.atoms * probes.array_size());
      radius_gradient(arrays, nullptr, s.d_radius.data(), stream);
      grid_factors(adaptive, probes, s.d_radius.data(), s.factor.data(), stream);
      sum_with_grid(arrays, adaptive, probes, s.factor.data(), stream);
    }
  }
  sum_strain(batch, s.strain.data(), s.strain_group.data(),
             reinterpret_cast<double*>(args.strain_gradient.data), stream);
}

}  // namespace trine::cuda
