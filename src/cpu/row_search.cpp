#include "cpu/row_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "cpu/kernels/kernels.hpp"
#include "cpu/pair_geometry.hpp"

namespace trine::cpu {
namespace {

using Index = std::size_t;

struct Wrapped {
  std::int64_t image, box;
};

/// Box `k` counted from the home cell, as a box of the home cell and a translation.
Wrapped wrap_box(std::int64_t k, std::int64_t boxes) {
  std::int64_t image = k / boxes;
  if (k - image * boxes < 0) --image;
  return {image, k - image * boxes};
}

}  // namespace

void RowSearch::move_to(const CellGrid& grid, std::int64_t box) {
  if (grid_ == &grid && box_ == box) return;
  grid_ = &grid;
  box_ = box;
  image_bits_ = static_cast<int>(std::bit_width(grid.images.size() - 1));
  key_bits_ = image_bits_ + static_cast<int>(std::bit_width(grid.atom.size() - 1));
  const double inner = std::max(grid.cutoff - grid.tolerance, 0.0);
  const double outer = grid.cutoff + grid.tolerance;
  surely_squared_ = inner * inner;
  possibly_squared_ = outer * outer;
  segments_.clear();
  const std::int64_t key = grid.box_key[static_cast<Index>(box)];
  const std::int64_t c = key % grid.boxes[2];
  const std::int64_t b = key / grid.boxes[2] % grid.boxes[1];
  const std::int64_t a = key / grid.boxes[2] / grid.boxes[1];
  for (std::int64_t i = a - grid.reach[0]; i <= a + grid.reach[0]; ++i) {
    const auto [image_a, box_a] = wrap_box(i, grid.boxes[0]);
    if (image_a != 0 && !grid.frame.periodic[0]) continue;
    for (std::int64_t j = b - grid.reach[1]; j <= b + grid.reach[1]; ++j) {
      const auto [image_b, box_b] = wrap_box(j, grid.boxes[1]);
      if (image_b != 0 && !grid.frame.periodic[1]) continue;
      add_column(box_a, box_b, c, {image_a, image_b, 0});
    }
  }
}

/// Boxes of a column are neighbours in memory; the column is cut where it leaves the cell.
void RowSearch::add_column(std::int64_t a, std::int64_t b, std::int64_t centre_c,
                           LongShift translation) {
  const CellGrid& grid = *grid_;
  const std::int64_t boxes = grid.boxes[2];
  std::int64_t low = centre_c - grid.reach[2];
  std::int64_t high = centre_c + grid.reach[2];
  if (!grid.frame.periodic[2]) {
    low = std::max<std::int64_t>(low, 0);
    high = std::min(high, boxes - 1);
  }
  const std::int64_t column = (a * grid.boxes[1] + b) * boxes;
  const std::int64_t last_image = wrap_box(high, boxes).image;
  for (translation[2] = wrap_box(low, boxes).image; translation[2] <= last_image;
       ++translation[2]) {
    const std::int64_t start = translation[2] * boxes;
    add_boxes(column, std::max<std::int64_t>(low - start, 0), std::min(high - start, boxes - 1),
              grid.image_of(translation));
  }
}

void RowSearch::add_boxes(std::int64_t column, std::int64_t low, std::int64_t high,
                          std::uint32_t image) {
  const auto& keys = grid_->box_key;
  const auto first = std::lower_bound(keys.begin(), keys.end(), column + low);
  auto last = first;
  while (last != keys.end() && *last <= column + high) ++last;
  if (first == last) return;
  const auto place = [&](auto it) {
    return grid_->box_first[static_cast<Index>(it - keys.begin())];
  };
  segments_.push_back({place(first), place(last), image});
}

void RowSearch::reserve(std::size_t hits) {
  if (hits <= keys_.size()) return;
  const std::size_t size = 2 * hits;
  for (auto* keys : {&keys_, &other_keys_}) keys->resize(size);
  for (auto* values : {&key_squared_, &squared_}) values->resize(size);
}

void RowSearch::scan(const Segment& segment, const double* point) {
  const CellGrid& grid = *grid_;
  const std::int64_t count = segment.last - segment.first;
  const auto first = static_cast<Index>(segment.first);
  const std::int64_t padded = (count + CellGrid::kPadding - 1) & -CellGrid::kPadding;
  reserve(hits_ + static_cast<Index>(padded));
  geometry_kernels().squared_distances(padded, grid.x.data() + first, grid.y.data() + first,
                                       grid.z.data() + first, point, squared_.data());
  for (Index k = 0; k < static_cast<Index>(count); ++k) {
    const auto atom = static_cast<std::uint64_t>(grid.atom[first + k]);
    keys_[hits_] = atom << image_bits_ | segment.image;
    key_squared_[hits_] = squared_[k];
    hits_ += squared_[k] <= possibly_squared_ ? 1 : 0;
  }
}

std::span<std::uint64_t> RowSearch::find(std::int64_t place) {
  const CellGrid& grid = *grid_;
  const auto p = static_cast<Index>(place);
  hits_ = 0;
  for (const auto& segment : segments_) {
    const Vec3& t = grid.images[segment.image].vector;
    const double point[3] = {grid.x[p] - t[0], grid.y[p] - t[1], grid.z[p] - t[2]};
    scan(segment, point);
  }
  const std::int32_t centre = grid.atom[p];
  const std::uint64_t itself =
      static_cast<std::uint64_t>(centre) << image_bits_ | grid.image_of({0, 0, 0});
  Index kept = 0;
  for (Index h = 0; h < hits_; ++h) {
    if (keys_[h] == itself) continue;
    if (key_squared_[h] >= surely_squared_ && !within_cutoff(centre, keys_[h])) continue;
    keys_[kept++] = keys_[h];
  }
  return {keys_.data(), kept};
}

/// The test that counts, on the vector that users see.
bool RowSearch::within_cutoff(std::int32_t centre, std::uint64_t key) const {
  const StructureView& structure = grid_->structure;
  const Vec3 v = pair_vector(structure.positions[centre], structure.positions[neighbor(key)],
                             shift(centre, key), structure.cell);
  return squared_norm(v) <= grid_->cutoff * grid_->cutoff;
}

Shift RowSearch::shift(std::int32_t centre, std::uint64_t key) const {
  const auto image = static_cast<Index>(key & ((std::uint64_t{1} << image_bits_) - 1));
  const Shift& translation = grid_->images[image].shift;
  const Shift& home_i = grid_->home[static_cast<Index>(centre)];
  const Shift& home_j = grid_->home[static_cast<Index>(neighbor(key))];
  Shift s;
  for (Index k = 0; k < 3; ++k) s[k] = translation[k] + (home_i[k] - home_j[k]);
  return s;
}

std::span<const std::uint64_t> RowSearch::find_sorted(std::int64_t place) {
  const std::size_t hits = find(place).size();
  sort(hits);
  return {keys_.data(), hits};
}

/// Radix sort by bytes from the last; comparisons only where rows are short.
void RowSearch::sort(std::size_t hits) {
  if (hits < 48) {
    std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(hits));
    return;
  }
  for (int bit = 0; bit < key_bits_; bit += 8) {
    std::array<std::uint32_t, 256> start{};
    for (Index h = 0; h < hits; ++h) ++start[keys_[h] >> bit & 255];
    std::uint32_t total = 0;
    for (auto& s : start) total += std::exchange(s, total);
    for (Index h = 0; h < hits; ++h) other_keys_[start[keys_[h] >> bit & 255]++] = keys_[h];
    keys_.swap(other_keys_);
  }
}

}  // namespace trine::cpu
