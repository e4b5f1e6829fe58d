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

  /// Pairs of the atom at a place of the current box: `neighbor << image_bits | image`, unsorted;
  /// ascending keys are ascending neighbours, then shifts. Valid until the next call.
  std::span<std::uint64_t> find(std::int64_t place);

  /// The same, sorted.
  std::span<const std::uint64_t> find_sorted(std::int64_t place);

  std::int32_t neighbor(std::uint64_t key) const {
    return static_cast<std::int32_t>(key >> image_bits_);
  }
  Shift shift(std::int32_t centre, std::uint64_t key) const;

 private:
  /// Atoms at consecutive places, all moved by the same translation.
  struct Segment {
    std::int64_t first, last;
    std::uint32_t image;
  };

  void add_column(std::int64_t a, std::int64_t b, std::int64_t centre_c, LongShift translation);
  void add_boxes(std::int64_t column, std::int64_t low, std::int64_t high, std::uint32_t image);
  void scan(const Segment& segment, const double* point);
  bool within_cutoff(std::int32_t centre, std::uint64_t key) const;
  void reserve(std::size_t hits);
  void sort(std::size_t hits);

  const CellGrid* grid_ = nullptr;
  std::int64_t box_ = -1;
  int image_bits_ = 0;
  int key_bits_ = 0;
  double surely_squared_ = 0;    ///< pairs below are within the cutoff whatever the rounding
  double possibly_squared_ = 0;  ///< pairs above are not
  std::vector<Segment> segments_;
  std::vector<double> squared_;
  std::size_t hits_ = 0;
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint64_t> other_keys_;  ///< the other half of the radix sort
  std::vector<double> key_squared_;
};

}  // namespace trine::cpu
