// The neighbours of one atom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu/cell_grid.hpp"

namespace trine::cpu {

/// Looks through the boxes around an atom. One object per thread; it keeps what the atoms of a box
/// share.
class RowSearch {
 public:
  /// Moves to a box; its atoms can then be asked for.
  void move_to(const CellGrid& grid, std::int64_t box);

  /// Number of pairs of the atom at a place of the current box.
  std::size_t count(std::int64_t place);

  /// Its pairs by neighbour and then by shift. Valid until the next call.
  std::span<const std::uint64_t> find(std::int64_t place);

  /// Index in the structure.
  std::int32_t neighbor(std::uint64_t pair) const {
    return static_cast<std::int32_t>(pair >> kHitBits);
  }
  Shift shift(std::uint64_t pair) const {
    return shift(hits_[static_cast<std::size_t>(pair & ((std::uint64_t{1} << kHitBits) - 1))]);
  }

 private:
  /// A pair is a number: neighbour << kHitBits | index of its hit.
  static constexpr int kHitBits = 32;

  /// Atoms at consecutive places, all moved by the same translation.
  struct Segment {
    std::int64_t first, last;
    std::uint32_t image;
  };

  /// An atom close to the centre.
  struct Hit {
    std::int32_t place;
    std::uint32_t image;
  };

  void add_column(std::int64_t a, std::int64_t b, std::int64_t centre_c, LongShift translation);
  void add_boxes(std::int64_t column, std::int64_t low, std::int64_t high, std::uint32_t image);
  void reserve(std::size_t hits);
  void scan(const Segment& segment);
  bool within_cutoff(const Hit& hit) const;
  Shift shift(const Hit& hit) const;
  void sort();

  const CellGrid* grid_ = nullptr;
  std::int64_t box_ = -1;
  std::size_t centre_ = 0;         ///< place of the atom whose pairs are looked for
  double surely_squared_ = 0;      ///< pairs below are within the cutoff whatever the rounding
  double possibly_squared_ = 0;    ///< pairs above are not
  std::vector<Segment> segments_;  ///< by image
  std::size_t hit_count_ = 0;
  std::vector<Hit> hits_;
  std::vector<double> hit_squared_;
  std::vector<double> squared_;        ///< of the atoms of a segment
  std::vector<std::uint32_t> inside_;  ///< which of them are hits
  std::vector<std::uint64_t> pairs_;
  std::vector<std::uint64_t> other_pairs_;  ///< the other half of the radix sort
};

}  // namespace trine::cpu
