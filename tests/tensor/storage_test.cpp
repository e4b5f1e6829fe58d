#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "tensor/arena.hpp"
#include "tensor/buffer.hpp"
#include "tensor/view.hpp"

namespace trine {
namespace {

TEST(Buffer, IsAlignedGrowsAndNeverShrinks) {
  Buffer<float> buffer(3);
  ASSERT_EQ(buffer.size(), 3);
  const float* first = buffer.data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % kAlignment, 0U);
  buffer.resize(1);
  EXPECT_EQ(buffer.size(), 1);
  EXPECT_EQ(buffer.data(), first);
  buffer.resize(3);
  EXPECT_EQ(buffer.data(), first);
  buffer.resize(100'000);
  EXPECT_EQ(buffer.size(), 100'000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kAlignment, 0U);
  buffer[99'999] = 2.0F;
  EXPECT_EQ(buffer.view()[99'999], 2.0F);
}

TEST(Buffer, MovesItsMemory) {
  Buffer<int> from(4);
  from[2] = 7;
  const int* memory = from.data();
  const Buffer<int> to = std::move(from);
  EXPECT_EQ(to.data(), memory);
  EXPECT_EQ(to[2], 7);
}

TEST(Arena, TakesRoomWhereLittleIsMissing) {
  Arena<MemSpace::host> arena;
  const auto capacity_after = [&](std::size_t bytes, std::size_t most = SIZE_MAX) {
    arena.reserve(bytes, most);
    return arena.capacity();
  };
  EXPECT_EQ(capacity_after(1600), 1600U) << "the first time";
  EXPECT_EQ(capacity_after(1616), 1717U) << "a sixteenth more";
  const std::byte* data = arena.data();
  EXPECT_EQ(capacity_after(1717), 1717U);
  EXPECT_EQ(arena.data(), data);
  EXPECT_EQ(capacity_after(1720, 1730), 1730U) << "within a limit";
  EXPECT_EQ(capacity_after(1740, 1730), 1740U) << "beyond it";
  EXPECT_EQ(capacity_after(3200), 3200U) << "another system";
  EXPECT_EQ(capacity_after(1), 3200U);
}

TEST(Buffer, IsPoisonedWithEveryResizeIfAsked) {
  Buffer<float> buffer(4);
  buffer[0] = 1;
  poison_scratch(true);
  buffer.resize(2);
  poison_scratch(false);
  EXPECT_TRUE(buffer[0] != buffer[0]) << "NaN";
  EXPECT_TRUE(buffer.data()[3] != buffer.data()[3]) << "all of it, not the two in use alone";
  buffer[0] = 1;
  buffer.resize(3);
  EXPECT_EQ(buffer[0], 1);
}

TEST(Arena, OverlaysGroupsInTheSpaceOfTheLargest) {
  const auto sequence = [](Arena<MemSpace::host>& arena, std::vector<double*>& taken) {
    const auto take = [&](std::int64_t size) { taken.push_back(arena.vector<double>(size).data); };
    take(8);
    arena.overlay([&] { take(8); },
                  [&] {
                    take(8);
                    arena.overlay([&] { take(16); }, [&] { take(8); });
                  },
                  [&] { take(1); });
    take(8);
  };
  Arena<MemSpace::host> measure, arena;
  std::vector<double*> none, taken;
  sequence(measure, none);
  EXPECT_EQ(measure.peak(), 64U * (1 + 3 + 1));
  arena.reserve(measure.peak());
  sequence(arena, taken);
  const std::vector<std::ptrdiff_t> places = {0, 8, 8, 16, 16, 8, 32};
  for (std::size_t k = 0; k < places.size(); ++k) EXPECT_EQ(taken[k] - taken[0], places[k]) << k;
  EXPECT_EQ(arena.peak(), arena.capacity());
  arena.release();
  EXPECT_EQ(arena.capacity(), 0U);
}

TEST(Vector, SlicesAndReadsAsConst) {
  Buffer<int> buffer(5);
  std::iota(buffer.view().begin(), buffer.view().end(), 10);
  const Vector<int> middle = buffer.view().slice(1, 3);
  EXPECT_EQ(middle.size, 3);
  EXPECT_EQ(middle[0], 11);
  const Vector<const int> reading = middle;
  EXPECT_EQ(std::accumulate(reading.begin(), reading.end(), 0), 36);
  EXPECT_TRUE(Vector<int>{}.empty());
}

TEST(Matrix, SlicesKeepTheStride) {
  Buffer<int> buffer(12);
  std::iota(buffer.view().begin(), buffer.view().end(), 0);
  const Matrix<int> matrix(buffer.data(), 3, 4);
  EXPECT_EQ(matrix.stride, 4);
  const Matrix<const int> block = matrix.slice_rows(1, 2).slice_cols(1, 2);
  EXPECT_EQ(block.rows, 2);
  EXPECT_EQ(block.cols, 2);
  EXPECT_EQ(block.row(0)[0], 5);
  EXPECT_EQ(block.row(1)[1], 10);
  EXPECT_FALSE(block.empty());
  EXPECT_TRUE(Matrix<int>{}.empty());
}

}  // namespace
}  // namespace trine
