#include "cpu/cell_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.hpp"

namespace trine::cpu {
namespace {

using Index = std::size_t;

constexpr double kLargestShift = 1 << 29;  // so that differences of two still fit in 32 bits
constexpr double kMostImages = 1 << 24;
constexpr double kMostBoxes = 1 << 20;  // along one axis, so that keys fit in 64 bits

/// Coordinates of every atom in the frame; positions are checked on the way.
std::vector<Vec3> frame_coordinates(const CellGrid& grid) {
  const auto positions = grid.structure.positions;
  std::vector<Vec3> s(static_cast<Index>(positions.size));
  for (Index i = 0; i < s.size(); ++i) {
    const Vec3& r = positions[static_cast<std::int64_t>(i)];
    check(std::isfinite(r[0]) && std::isfinite(r[1]) && std::isfinite(r[2]), ErrorCode::bad_input,
          "atom {} has a coordinate that is not a finite number, correct its position", i + 1);
    s[i] = to_frame(grid.frame, r);
  }
  return s;
}

/// Moves coordinates into [0, 1) along periodic axes. Returns by how much, in cell vectors, by
/// atom.
std::vector<Shift> wrap(const CellGrid& grid, std::vector<Vec3>& s) {
  std::vector<Shift> homes(s.size());
  for (Index i = 0; i < s.size(); ++i) {
    LongShift cells{};
    for (Index k = 0; k < 3; ++k) {
      if (!grid.frame.periodic[k]) continue;
      const double whole = std::floor(s[i][k]);
      s[i][k] -= whole;
      cells[k] = std::abs(whole) < kLargestShift ? static_cast<std::int64_t>(whole)
                                                 : static_cast<std::int64_t>(kLargestShift);
    }
    const LongShift home = to_cell_shift(grid.frame, cells);
    for (Index m = 0; m < 3; ++m) {
      check(std::abs(static_cast<double>(home[m])) < kLargestShift, ErrorCode::bad_input,
            "atom {} lies too many cells away from the origin for 32-bit cell shifts, move it "
            "closer to the cell",
            i + 1);
      homes[i][m] = static_cast<std::int32_t>(home[m]);
    }
  }
  return homes;
}

double largest(const std::vector<Shift>& shifts, Index k) {
  std::int32_t value = 0;
  for (const auto& s : shifts) value = std::max(value, std::abs(s[k]));
  return value;
}

/// Bound on the rounding of wrapped coordinates and of exact pair vectors: a few dozen roundings of
/// numbers no larger than coordinates and translations. Images add at most the cutoff and the
/// wrapped cell.
double rounding_tolerance(const CellGrid& grid, const std::vector<Shift>& homes) {
  double scale = grid.cutoff;
  for (const Vec3& r : grid.structure.positions) {
    scale = std::max({scale, std::abs(r[0]), std::abs(r[1]), std::abs(r[2])});
  }
  for (Index k = 0; k < 3; ++k) {
    if (!grid.frame.periodic[k]) continue;
    double length = 0, axis = 0, of_cell = 0;
    for (Index c = 0; c < 3; ++c) length = std::max(length, std::abs(grid.structure.cell[k][c]));
    for (Index m = 0; m < 3; ++m) {
      axis += std::abs(grid.frame.axes[k][m]);
      const auto steps = static_cast<double>(grid.frame.lattice[m][k]);
      of_cell += std::abs(steps) * (grid.cutoff / grid.frame.height[m] + 2);
    }
    scale += axis + (largest(homes, k) + of_cell) * length;
  }
  return 256 * std::numeric_limits<double>::epsilon() * scale;
}

/// Chooses boxes at least half a cutoff wide and how many of them, and of the images, surround one.
void choose_boxes(CellGrid& grid, std::vector<Vec3>& s) {
  const double reach = grid.cutoff + grid.tolerance;
  double images = 1;
  for (Index k = 0; k < 3; ++k) {
    double extent = 1;
    if (!grid.frame.periodic[k]) {
      const auto by_axis = [k](const Vec3& a, const Vec3& b) { return a[k] < b[k]; };
      const auto [low, high] = std::minmax_element(s.begin(), s.end(), by_axis);
      const double origin = (*low)[k];
      extent = std::max((*high)[k] - origin, 1e-3 * reach);
      for (auto& coordinates : s) coordinates[k] = (coordinates[k] - origin) / extent;
    }
    const double height = grid.frame.height[k] * extent;
    const double wanted = std::floor(2 * height / (reach * (1 + 1e-12)));
    const double boxes = std::clamp(wanted, 1.0, kMostBoxes);
    const double span = std::ceil(reach * boxes / height);
    const double repeats = grid.frame.periodic[k] ? std::floor((boxes - 1 + span) / boxes) : 0.0;
    images *= 2 * repeats + 1;
    check(images <= kMostImages, ErrorCode::bad_input,
          "the cell is too small for a cutoff of {} Angstrom (more than {} periodic images), use "
          "a larger cell",
          grid.cutoff, kMostImages);
    grid.boxes[k] = static_cast<std::int64_t>(boxes);
    grid.reach[k] = static_cast<std::int64_t>(std::min(span, boxes * (repeats + 1)));
    grid.repeats[k] = static_cast<std::int64_t>(repeats);
  }
}

std::int64_t key_of(const CellGrid& grid, const Vec3& s) {
  std::int64_t key = 0;
  for (Index k = 0; k < 3; ++k) {
    const auto box = static_cast<std::int64_t>(s[k] * static_cast<double>(grid.boxes[k]));
    key = key * grid.boxes[k] + std::clamp<std::int64_t>(box, 0, grid.boxes[k] - 1);
  }
  return key;
}

/// Wrapped Cartesian coordinates, kept from the exact positions wherever nothing was wrapped.
Vec3 wrapped_position(const CellGrid& grid, std::int32_t atom, const Shift& home) {
  Vec3 p = grid.structure.positions[atom];
  for (Index c = 0; c < 3; ++c) {
    for (Index m = 0; m < 3; ++m) p[c] -= home[m] * grid.structure.cell[m][c];
  }
  return p;
}

void sort_into_boxes(CellGrid& grid, const std::vector<Vec3>& s, const std::vector<Shift>& homes) {
  struct Entry {
    std::int64_t key;
    std::int32_t atom;
    bool operator<(const Entry& other) const {
      return key != other.key ? key < other.key : atom < other.atom;
    }
  };
  std::vector<Entry> entries(s.size());
  for (Index i = 0; i < s.size(); ++i) {
    entries[i] = {key_of(grid, s[i]), static_cast<std::int32_t>(i)};
  }
  std::sort(entries.begin(), entries.end());
  for (auto* values : {&grid.x, &grid.y, &grid.z}) values->resize(s.size() + CellGrid::kPadding);
  grid.atom.resize(s.size());
  grid.home.resize(s.size());
  for (Index place = 0; place < entries.size(); ++place) {
    if (place == 0 || entries[place].key != entries[place - 1].key) {
      grid.box_key.push_back(entries[place].key);
      grid.box_first.push_back(static_cast<std::int64_t>(place));
    }
    const std::int32_t atom = entries[place].atom;
    grid.atom[place] = atom;
    grid.home[place] = homes[static_cast<Index>(atom)];
    const Vec3 p = wrapped_position(grid, atom, grid.home[place]);
    grid.x[place] = p[0];
    grid.y[place] = p[1];
    grid.z[place] = p[2];
  }
  grid.box_first.push_back(static_cast<std::int64_t>(s.size()));
}

/// Position of a translation in the dense table of all translations.
Index table_index(const CellGrid& grid, const LongShift& t) {
  std::int64_t index = 0;
  for (Index k = 0; k < 3; ++k) {
    index = index * (2 * grid.repeats[k] + 1) + t[k] + grid.repeats[k];
  }
  return static_cast<Index>(index);
}

Image image_at(const CellGrid& grid, const LongShift& translation) {
  const LongShift shift = to_cell_shift(grid.frame, translation);
  Image image{};
  for (Index k = 0; k < 3; ++k) {
    check(std::abs(static_cast<double>(shift[k])) < kLargestShift, ErrorCode::bad_input,
          "periodic cell vectors are too skewed for 32-bit cell shifts, use an equivalent cell "
          "with shorter vectors");
    image.shift[k] = static_cast<std::int32_t>(shift[k]);
    for (Index c = 0; c < 3; ++c) {
      image.vector[c] += static_cast<double>(translation[k]) * grid.frame.axes[k][c];
    }
  }
  return image;
}

void list_images(CellGrid& grid) {
  std::vector<Image> images;
  const auto& n = grid.repeats;
  for (std::int64_t a = -n[0]; a <= n[0]; ++a) {
    for (std::int64_t b = -n[1]; b <= n[1]; ++b) {
      for (std::int64_t c = -n[2]; c <= n[2]; ++c) images.push_back(image_at(grid, {a, b, c}));
    }
  }
  std::vector<std::uint32_t> order(images.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return images[a].shift < images[b].shift; });
  grid.image_index.resize(images.size());
  grid.images.resize(images.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
    grid.image_index[order[rank]] = rank;
    grid.images[rank] = images[order[rank]];
  }
}

}  // namespace

StructureView structure_view(const AtomBatch<MemSpace::host>& atoms, std::int64_t structure) {
  const std::int64_t first = atoms.first_atom[structure];
  const std::int64_t count = atoms.first_atom[structure + 1] - first;
  return {atoms.positions.slice(first, count), atoms.cells[structure], atoms.pbc[structure], first};
}

std::uint32_t CellGrid::image_of(const LongShift& translation) const {
  return image_index[table_index(*this, translation)];
}

CellGrid make_cell_grid(const StructureView& structure, double cutoff) {
  CellGrid grid;
  grid.structure = structure;
  grid.cutoff = cutoff;
  if (structure.positions.empty()) {
    grid.box_first.push_back(0);
    return grid;
  }
  grid.frame = make_search_frame(structure.cell, structure.pbc);
  std::vector<Vec3> s = frame_coordinates(grid);
  const std::vector<Shift> homes = wrap(grid, s);
  grid.tolerance = rounding_tolerance(grid, homes);
  choose_boxes(grid, s);
  sort_into_boxes(grid, s, homes);
  list_images(grid);
  return grid;
}

}  // namespace trine::cpu
