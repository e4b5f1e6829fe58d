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
  // Images are sorted by shift, so the hits of one atom come in the order of their shifts, and rows
  // need sorting by neighbour only.
  const auto by_image = [](const Segment& s, const Segment& t) { return s.image < t.image; };
  if (!std::is_sorted(segments_.begin(), segments_.end(), by_image)) {
    std::stable_sort(segments_.begin(), segments_.end(), by_image);
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
  if (hits <= hits_.size()) return;
  const std::size_t size = 2 * hits;
  hits_.resize(size);
  inside_.resize(size);
  for (auto* values : {&hit_squared_, &squared_}) values->resize(size);
  for (auto* pairs : {&pairs_, &other_pairs_}) pairs->resize(size);
}

void RowSearch::scan(const Segment& segment) {
  const CellGrid& grid = *grid_;
  const Vec3& t = grid.images[segment.image].vector;
  const double point[3] = {grid.x[centre_] - t[0], grid.y[centre_] - t[1], grid.z[centre_] - t[2]};
  const std::int64_t count = segment.last - segment.first;
  const std::int64_t padded = (count + CellGrid::kPadding - 1) & -CellGrid::kPadding;
  const auto first = static_cast<Index>(segment.first);
  reserve(hit_count_ + static_cast<Index>(padded));
  geometry_kernels().squared_distances(padded, grid.x.data() + first, grid.y.data() + first,
                                       grid.z.data() + first, point, squared_.data());
  Index inside = 0;
  for (std::uint32_t k = 0; k < static_cast<std::uint32_t>(count); ++k) {
    inside_[inside] = k;  // without a branch: which are close enough is hard to foresee
    inside += squared_[k] <= possibly_squared_ ? 1 : 0;
  }
  for (Index n = 0; n < inside; ++n) {
    const std::uint32_t k = inside_[n];
    hits_[hit_count_] = {static_cast<std::int32_t>(segment.first + k), segment.image};
    hit_squared_[hit_count_] = squared_[k];
    ++hit_count_;
  }
}

std::size_t RowSearch::count(std::int64_t place) {
  centre_ = static_cast<Index>(place);
  hit_count_ = 0;
  for (const auto& segment : segments_) scan(segment);
  const Hit itself{static_cast<std::int32_t>(place), grid_->image_of({0, 0, 0})};
  Index kept = 0;
  for (Index h = 0; h < hit_count_; ++h) {
    const Hit hit = hits_[h];
    if (hit_squared_[h] >= surely_squared_ && !within_cutoff(hit)) continue;
    if (hit.place == itself.place && hit.image == itself.image) continue;
    hits_[kept++] = hit;
  }
  hit_count_ = kept;
  return kept;
}

/// The test that counts, on the vector that users see.
bool RowSearch::within_cutoff(const Hit& hit) const {
  const StructureView& structure = grid_->structure;
  const Vec3& r_i = structure.positions[grid_->atom[centre_]];
  const Vec3& r_j = structure.positions[grid_->atom[static_cast<Index>(hit.place)]];
  const Vec3 v = pair_vector(r_i, r_j, shift(hit), structure.cell);
  return squared_norm(v) <= grid_->cutoff * grid_->cutoff;
}

Shift RowSearch::shift(const Hit& hit) const {
  const Shift& translation = grid_->images[hit.image].shift;
  const Shift& home_i = grid_->home[centre_];
  const Shift& home_j = grid_->home[static_cast<Index>(hit.place)];
  Shift s;
  for (Index k = 0; k < 3; ++k) s[k] = translation[k] + (home_i[k] - home_j[k]);
  return s;
}

std::span<const std::uint64_t> RowSearch::find(std::int64_t place) {
  const Index pairs = count(place);
  for (Index h = 0; h < pairs; ++h) {
    const std::int32_t atom = grid_->atom[static_cast<Index>(hits_[h].place)];
    pairs_[h] = static_cast<std::uint64_t>(atom) << kHitBits | h;
  }
  sort();
  return {pairs_.data(), pairs};
}

/// Stable radix sort by neighbour from the last digit; comparisons only where rows are short.
/// Digits are short because a row of a few hundred pairs does not pay for clearing more counters.
void RowSearch::sort() {
  const Index pairs = hit_count_;
  constexpr int kDigitBits = 7;
  constexpr std::uint64_t kDigit = (1 << kDigitBits) - 1;
  if (pairs < 48) {
    std::sort(pairs_.begin(), pairs_.begin() + static_cast<std::ptrdiff_t>(pairs));
    return;
  }
  const int end = kHitBits + static_cast<int>(std::bit_width(grid_->atom.size() - 1));
  for (int bit = kHitBits; bit < end; bit += kDigitBits) {
    std::array<std::uint32_t, kDigit + 1> start{};
    for (Index p = 0; p < pairs; ++p) ++start[pairs_[p] >> bit & kDigit];
    std::uint32_t total = 0;
    for (auto& s : start) total += std::exchange(s, total);
    for (Index p = 0; p < pairs; ++p) other_pairs_[start[pairs_[p] >> bit & kDigit]++] = pairs_[p];
    pairs_.swap(other_pairs_);
  }
}

}  // namespace trine::cpu
