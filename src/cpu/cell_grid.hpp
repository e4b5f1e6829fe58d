// The atoms of one structure sorted into boxes about half a cutoff wide.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/search_frame.hpp"
#include "ops/neighbor_list.hpp"

namespace trine::cpu {

/// One structure of a batch.
struct StructureView {
  Vector<const Vec3> positions;
  Mat3 cell;
  std::array<bool, 3> pbc;
  std::int64_t first_atom;  ///< its place in the batch
};

StructureView structure_view(const AtomBatch<MemSpace::host>& atoms, std::int64_t structure);

/// A translation of the lattice that can bring an atom within the cutoff of another.
struct Image {
  Shift shift;  ///< in the user's cell
  Vec3 vector;  ///< Angstrom
};

/// Only occupied boxes are stored, sorted by key, so the size does not depend on empty space. Atoms
/// are brought into the cell along periodic axes for the search; `home` undoes that exactly in the
/// result.
struct CellGrid {
  /// Unused coordinates at the end, so that the last atoms can be read a whole register at a time.
  static constexpr std::int64_t kPadding = 8;

  StructureView structure{};
  SearchFrame frame;
  double cutoff = 0;
  /// What rounding can do to a distance found from wrapped coordinates, Angstrom.
  double tolerance = 0;

  LongShift boxes{};    ///< along each axis
  LongShift reach{};    ///< boxes to look at on either side
  LongShift repeats{};  ///< images to look at on either side

  std::vector<std::int64_t>
      box_key;  ///< [boxes in use] (a * boxes[1] + b) * boxes[2] + c, ascending
  std::vector<std::int64_t> box_first;  ///< [boxes in use + 1] into the arrays by place
  std::vector<double> x, y, z;          ///< by place: wrapped coordinates
  std::vector<std::int32_t> atom;  ///< by place: index in the structure, ascending within a box
  std::vector<Shift> home;         ///< by atom: r = wrapped + home . cell

  std::vector<Image> images;               ///< sorted by shift
  std::vector<std::uint32_t> image_index;  ///< by translation, see `image_of`

  std::int64_t boxes_in_use() const { return static_cast<std::int64_t>(box_key.size()); }
  std::int64_t box_count(std::int64_t box) const {
    return box_first[static_cast<std::size_t>(box) + 1] - box_first[static_cast<std::size_t>(box)];
  }
  std::uint32_t image_of(const LongShift& translation) const;
};

/// Throws `Error(bad_input)` for linearly dependent periodic vectors, coordinates that are not
/// finite, atoms too many cells away for 32-bit shifts, and cells so small that images cannot be
/// counted.
CellGrid make_cell_grid(const StructureView& structure, double cutoff);

}  // namespace trine::cpu
