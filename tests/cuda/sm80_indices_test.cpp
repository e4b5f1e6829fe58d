// Where the Ampere kernels find numbers in shared memory, replayed on the host: packed blocks that
// hold their own coordinates go through the copies and fragment reads of every lane, and each
// product of the Tensor Core must pair the x and w of the same inner index.
#include "cuda/gemm/indices_sm80.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <vector>

namespace trine::cuda::sm80 {
namespace {

constexpr int kOutside = -1;

/// Result column and inner index of a number, in the natural order of its block.
struct Place {
  int column = kOutside, inner = kOutside;
  bool operator==(const Place&) const = default;
};

int element_bytes(Layout layout) {
  return layout == Layout::rows ? 4 : 2;
}
int step_length(Layout layout) {
  return 32 / element_bytes(layout);
}

/// Inverse of offset_of_position for a whole index.
int position(int index, bool tf32) {
  for (int p = 0; p < 16; ++p) {
    if ((tf32 ? tf32_offset_of_position(p) : offset_of_position(p)) == index % 16) {
      return index / 16 * 16 + p;
    }
  }
  return kOutside;
}

/// Byte of a number inside one word of a packed (block, chunk), by the description in operand.hpp.
int packed_byte(Layout layout, const Place& at) {
  const bool tf32 = layout == Layout::rows;
  const bool across = layout == Layout::transposed;
  const int row = position(across ? at.inner : at.column, false);
  const int byte = position(across ? at.column : at.inner, tf32) * element_bytes(layout);
  return byte / 128 * kBlockBytes + row * 128 + (((byte % 128 / 16) ^ (row & 7)) << 4) + byte % 16;
}

/// Half a block in shared memory, an entry per number.
std::vector<Place> stage(Layout layout, int half) {
  const int size = element_bytes(layout);
  std::vector<Place> packed(static_cast<std::size_t>(64 * 64));
  for (int column = 0; column < 64; ++column) {
    for (int inner = 0; inner < 64; ++inner) {
      const Place at{column, inner};
      packed[static_cast<std::size_t>(packed_byte(layout, at) / size)] = at;
    }
  }
  std::vector<Place> staged(static_cast<std::size_t>(half_bytes(layout) / size));
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int i = 0; i < half_bytes(layout) / (16 * kThreads); ++i) {
      for (int byte = 0; byte < 16; byte += size) {
        const int from = packed_source(layout, half, thread, i) + byte;
        const int to = staged_target(layout, thread, i) + byte;
        Place& target = staged.at(static_cast<std::size_t>(to / size));
        EXPECT_EQ(target, Place{}) << "two copies to byte " << to;
        target = packed.at(static_cast<std::size_t>(from / size));
      }
    }
  }
  return staged;
}

/// Registers b0 and b1 of both 8-column halves of a group: for each lane and matrix the places of
/// its numbers (two of 16 bits, or one of 32).
using Registers = std::array<std::array<std::vector<Place>, 4>, 32>;

Registers load_matrices(Layout layout, const std::vector<Place>& staged, int step, int group) {
  const int size = element_bytes(layout);
  const auto at = [&](int matrix, int row, int byte) {
    const int address = weight_fragment(layout, matrix * 8 + row, step, group) + byte;
    return staged.at(static_cast<std::size_t>(address / size));
  };
  Registers registers;
  for (int lane = 0; lane < 32; ++lane) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      auto& numbers = registers[static_cast<std::size_t>(lane)][static_cast<std::size_t>(matrix)];
      const int g = lane / 4, t = lane % 4;
      if (layout == Layout::transposed) {
        numbers = {at(matrix, 2 * t, 2 * g), at(matrix, 2 * t + 1, 2 * g)};
      } else if (size == 2) {
        numbers = {at(matrix, g, 4 * t), at(matrix, g, 4 * t + 2)};
      } else {
        numbers = {at(matrix, g, 4 * t)};
      }
    }
  }
  return registers;
}

/// Inner index, inside the interval, that lane t of a quad puts into number `r` of register a[2 h]
/// (and a[2 h + 1]) of step `step`: the kernel splits its four neighbours .x .y .z .w in this
/// order.
int inner_of_x(Layout layout, int step, int t, int h, int r) {
  if (layout == Layout::rows) return step / 2 * 16 + 4 * t + 2 * (step % 2) + h;
  return step * 16 + 4 * t + 2 * h + r;
}

class Sm80Indices : public testing::TestWithParam<Layout> {};

TEST_P(Sm80Indices, EveryProductPairsTheSameInnerIndex) {
  const Layout layout = GetParam();
  for (int half = 0; half < 2; ++half) {
    const std::vector<Place> staged = stage(layout, half);
    std::set<std::pair<int, int>> seen;
    for (int group = 0; group < 4; ++group) {
      for (int step = 0; step < kInterval / step_length(layout); ++step) {
        const Registers b = load_matrices(layout, staged, step, group);
        for (int lane = 0; lane < 32; ++lane) {
          const int g = lane / 4, t = lane % 4;
          for (int matrix = 0; matrix < 4; ++matrix) {
            const int side = matrix / 2, h = matrix % 2;
            const auto& numbers =
                b[static_cast<std::size_t>(lane)][static_cast<std::size_t>(matrix)];
            for (int r = 0; r < static_cast<int>(numbers.size()); ++r) {
              // Column g of the 8; the epilogue takes position 8 side + g for this offset.
              const Place expected{16 * group + offset_of_position(8 * side + g),
                                   32 * half + inner_of_x(layout, step, t, h, r)};
              const Place& found = numbers[static_cast<std::size_t>(r)];
              ASSERT_EQ(found.column, expected.column);
              ASSERT_EQ(found.inner, expected.inner);
              seen.emplace(found.column, found.inner);
            }
          }
        }
      }
    }
    EXPECT_EQ(seen.size(), 64U * 32U);
  }
}

TEST_P(Sm80Indices, MatricesOfWeightsMeetAllBanks) {
  const Layout layout = GetParam();
  for (int group = 0; group < 4; ++group) {
    for (int step = 0; step < kInterval / step_length(layout); ++step) {
      for (int matrix = 0; matrix < 4; ++matrix) {
        std::set<int> banks;
        for (int row = 0; row < 8; ++row) {
          const int address = weight_fragment(layout, 8 * matrix + row, step, group);
          EXPECT_EQ(address % 16, 0);
          banks.insert(address % 128);
        }
        EXPECT_EQ(banks.size(), 8U);
      }
    }
  }
}

TEST_P(Sm80Indices, CopiesOfWeightsMeetAllBanks) {
  for (int first = 0; first < kThreads; first += 8) {
    std::set<int> banks;
    for (int i = 0; i < 8; ++i) banks.insert(staged_target(GetParam(), first + i, 0) % 128);
    EXPECT_EQ(banks.size(), 8U);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Sm80Indices,
                         testing::Values(Layout::half_rows, Layout::rows, Layout::transposed));

TEST(Sm80Rows, LanesReadTheirOwnFourNeighbours) {
  for (int group = 0; group < 2; ++group) {
    std::set<int> rows;
    for (int lane = 0; lane < 32; ++lane) {
      const int row = row_in_group(lane), piece = 4 * group + lane % 4;
      EXPECT_EQ(x_fragment(lane, group), swizzled(row, piece));
      EXPECT_EQ(x_fragment(lane, group) + 8 * 128, swizzled(row + 8, piece));
      EXPECT_EQ(row_in_group(lane / 4 * 4), row) << "one row for the four lanes of a quad";
      rows.insert(row);
    }
    EXPECT_EQ(rows.size(), 8U);
    for (int first = 0; first < 32; first += 8) {
      std::set<int> banks;
      for (int i = 0; i < 8; ++i) banks.insert(x_fragment(first + i, group) % 128);
      EXPECT_EQ(banks.size(), 8U);
    }
  }
}

}  // namespace
}  // namespace trine::cuda::sm80
