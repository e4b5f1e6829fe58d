#include "cpu/neighbor_list.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.hpp"
#include "cpu/parallel.hpp"
#include "cpu/row_search.hpp"

namespace trine::cpu {
namespace {

using Index = std::size_t;

/// The occupied boxes of all structures as one range of tasks.
class BoxTasks {
 public:
  explicit BoxTasks(const std::vector<CellGrid>& grids) : grids_(grids) {
    for (const auto& grid : grids) first_.push_back(first_.back() + grid.boxes_in_use());
  }

  std::int64_t size() const { return first_.back(); }

  /// Calls `visit(grid, place)` for every atom of a box, after moving `search` there.
  template <class Visit>
  void run(std::int64_t task, RowSearch& search, Visit&& visit) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), task);
    const auto structure = static_cast<Index>(after - first_.begin() - 1);
    const CellGrid& grid = grids_[structure];
    const std::int64_t box = task - first_[structure];
    search.move_to(grid, box);
    const std::int64_t place = grid.box_first[static_cast<Index>(box)];
    for (std::int64_t p = place; p < place + grid.box_count(box); ++p) visit(grid, p);
  }

 private:
  const std::vector<CellGrid>& grids_;
  std::vector<std::int64_t> first_{0};
};

std::vector<CellGrid> make_grids(const NeighborListArgs<MemSpace::host>& args, int threads) {
  std::vector<CellGrid> grids(static_cast<Index>(args.atoms.structures()));
  const auto make = [&](std::int64_t b, int) {
    grids[static_cast<Index>(b)] = make_cell_grid(structure_view(args.atoms, b), args.cutoff);
  };
  parallel(threads, args.atoms.structures(), make);
  return grids;
}

std::int64_t atom_in_batch(const CellGrid& grid, std::int64_t place) {
  return grid.structure.first_atom + grid.atom[static_cast<Index>(place)];
}

}  // namespace

void neighbor_list(const NeighborListArgs<MemSpace::host>& args, int threads) {
  const std::int64_t atoms = args.atoms.atoms();
  check(atoms <= std::numeric_limits<std::int32_t>::max(), ErrorCode::not_supported,
        "{} atoms are more than 32-bit indices can name, split the batch", atoms);
  check(std::isfinite(args.cutoff) && args.cutoff > 0, ErrorCode::bad_input,
        "the cutoff is {} Angstrom, give a positive number", args.cutoff);
  const std::vector<CellGrid> grids = make_grids(args, threads);
  const BoxTasks tasks(grids);
  const std::int64_t grain = std::clamp<std::int64_t>(tasks.size() / (16 * threads), 1, 64);
  std::vector<RowSearch> searches(static_cast<Index>(std::max(threads, 1)));
  NeighborList<MemSpace::host>& list = *args.list;
  ++list.searches;

  list.offsets.resize(atoms + 1);
  list.offsets[0] = 0;
  const auto count = [&](std::int64_t task, int thread) {
    RowSearch& search = searches[static_cast<Index>(thread)];
    tasks.run(task, search, [&](const CellGrid& grid, std::int64_t place) {
      const auto pairs = static_cast<std::int64_t>(search.count(place));
      list.offsets[atom_in_batch(grid, place) + 1] = pairs;
    });
  };
  parallel(threads, tasks.size(), count, grain);
  for (std::int64_t i = 0; i < atoms; ++i) list.offsets[i + 1] += list.offsets[i];

  list.neighbor.resize(list.offsets[atoms]);
  list.shift.resize(list.offsets[atoms]);
  const auto fill = [&](std::int64_t task, int thread) {
    RowSearch& search = searches[static_cast<Index>(thread)];
    tasks.run(task, search, [&](const CellGrid& grid, std::int64_t place) {
      std::int64_t pair = list.offsets[atom_in_batch(grid, place)];
      for (std::uint64_t found : search.find(place)) {
        const std::int64_t j = grid.structure.first_atom + search.neighbor(found);
        list.neighbor[pair] = static_cast<std::int32_t>(j);
        list.shift[pair] = search.shift(found);
        ++pair;
      }
    });
  };
  parallel(threads, tasks.size(), fill, grain);
}

}  // namespace trine::cpu
