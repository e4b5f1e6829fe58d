// The format of split matrices, replayed on the host: what every lane of an epilogue stores must
// lie where the format says, and where the Tensor Core then looks for it.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "cuda/gemm/operand.hpp"

namespace trine::cuda {
namespace {

constexpr int kElementBytes[] = {2, 4};

int columns_of_slice(int element_bytes) {
  return 128 / element_bytes;
}

/// Offset in its group of 16 of the column that the packed weight has at position `p`.
int weight_offset(int p, int element_bytes) {
  return element_bytes == 4 ? tf32_offset_of_position(p) : offset_of_position(p);
}

TEST(PlanesIndices, PositionsAndRowsAreInverse) {
  std::set<int> positions;
  for (int row = 0; row < kBlock; ++row) {
    EXPECT_EQ(plane_row(plane_position(row)), row);
    EXPECT_EQ(plane_position(row) / 16, row / 16) << "a warp keeps its 16 rows";
    positions.insert(plane_position(row));
  }
  EXPECT_EQ(positions.size(), 64U);
  EXPECT_EQ(*positions.rbegin(), 63);
  constexpr std::array kFirst = {0, 4, 1, 5, 2, 6, 3, 7};
  for (int p = 0; p < 8; ++p) EXPECT_EQ(plane_row(p), kFirst[static_cast<std::size_t>(p)]);
}

TEST(PlanesIndices, EveryNumberHasBytesOfItsOwn) {
  for (const int size : kElementBytes) {
    std::vector<int> owners(kBlockBytes);
    for (int row = 0; row < kBlock; ++row) {
      for (int column = 0; column < columns_of_slice(size); ++column) {
        const int byte = plane_byte(row, column, size);
        ASSERT_EQ(byte % size, 0);
        for (int i = 0; i < size; ++i) ++owners.at(static_cast<std::size_t>(byte + i));
      }
    }
    for (const int count : owners) ASSERT_EQ(count, 1);
  }
}

// wgmma takes rows of 128 bytes in the 128-byte swizzle; its row r is a result's row r, and its
// inner index k meets the weight's inner position k.
TEST(PlanesIndices, TheTensorCorePairsTheSameColumns) {
  for (const int size : kElementBytes) {
    for (int r = 0; r < kBlock; ++r) {
      for (int k = 0; k < columns_of_slice(size); ++k) {
        const int linear = k * size;
        const int read = r * 128 + ((linear / 16 ^ r % 8) * 16) + linear % 16;
        const int column = k / 16 * 16 + weight_offset(k % 16, size);
        ASSERT_EQ(read, plane_byte(plane_row(r), column, size)) << r << " " << k;
      }
    }
  }
}

// A lane holds columns 4 (lane % 4) to + 3 of each group of 16, in rows plane_row(lane / 4) and 8
// below. For 16-bit words two neighbours share a register.
TEST(PlanesIndices, LanesStoreWhereTheFormatSays) {
  for (const int size : kElementBytes) {
    std::vector<int> stored(kBlockBytes);
    for (int warp = 0; warp < 4; ++warp) {
      for (int lane = 0; lane < 32; ++lane) {
        for (int half = 0; half < 2; ++half) {
          const int row = 16 * warp + plane_row(lane / 4) + 8 * half;
          for (int piece = 0; piece < 8; ++piece) {
            const int group = piece / size, first = piece % size * (4 / size);
            const int byte = 16 * 128 * warp + plane_lane_byte(lane, half, piece);
            for (int i = 0; i < 4 / size; ++i) {
              const int column = 16 * group + 4 * (lane % 4) + first + i;
              ASSERT_EQ(byte + i * size, plane_byte(row, column, size));
              ++stored.at(static_cast<std::size_t>(byte + i * size));
            }
          }
        }
      }
    }
    for (int byte = 0; byte < kBlockBytes; byte += size) {
      ASSERT_EQ(stored[static_cast<std::size_t>(byte)], 1);
    }
  }
}

TEST(PlanesIndices, LanesStoreToAllBanks) {
  for (int piece = 0; piece < 8; ++piece) {
    std::set<int> banks;
    for (int lane = 0; lane < 32; ++lane) banks.insert(plane_lane_byte(lane, 0, piece) / 4 % 32);
    EXPECT_EQ(banks.size(), 32U);
  }
}

TEST(PlanesIndices, GatedColumnsAlternate) {
  for (const int half : {1, 20, 32, 33, 64, 100}) {
    const int packed = (half + 31) / 32 * 64;
    std::set<int> seen;
    for (int p = 0; p < packed; ++p) {
      const int column = gated_column(p, half);
      if (column < 0) continue;
      seen.insert(column);
      const bool gate = p % 64 >= 32;
      EXPECT_EQ(column >= half, gate);
      EXPECT_EQ(column - (gate ? half : 0), p / 64 * 32 + p % 32);
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(2 * half)) << "each column once";
    EXPECT_EQ(*seen.begin(), 0);
    EXPECT_EQ(*seen.rbegin(), 2 * half - 1);
    EXPECT_EQ((2 * half + 63) / 64 * 64, packed) << "as many chunks as in natural order";
  }
}

TEST(PlanesIndices, PiecesFollowOneAnother) {
  for (const int words : {1, 2, 3}) {
    SplitOperand x;
    x.row_blocks = 3;
    x.slices = 5;
    x.words_per_number = words;
    x.slices_per_chunk = 1;
    std::ptrdiff_t at = 0;
    for (int block = 0; block < x.row_blocks; ++block) {
      for (int slice = 0; slice < x.slices; ++slice, ++at) {
        EXPECT_EQ(x.words_offset(block, slice), at * words * kBlockBytes);
        EXPECT_EQ(x.exponents_offset(block, slice), at * kBlock);
      }
    }
  }
}

}  // namespace
}  // namespace trine::cuda
