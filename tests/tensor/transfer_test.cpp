// Copies that the host does not wait for; programs compiled with TRINE_TEST_ON_GPU test those to a
// GPU, all others those within the host's memory.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ops/devices.hpp"
#include "tensor/transfer.hpp"

namespace trine {
namespace {

#ifdef TRINE_TEST_ON_GPU
constexpr MemSpace kSpace = MemSpace::device;
#else
constexpr MemSpace kSpace = MemSpace::host;
#endif

std::vector<double> numbers(std::size_t size, double first) {
  std::vector<double> all;
  for (std::size_t n = 0; n < size; ++n) all.push_back(first + static_cast<double>(n));
  return all;
}

TEST(Transfer, ReplicasFollowEveryChangeSmall) {
  auto& device = test::first_device();
  const auto used = device.use();
  Replica<double, kSpace> replica;
  Fetched<double, kSpace> fetched;
  auto last = numbers(1000, 3);
  last[500] = 0;
  auto negative_zero = last;
  negative_zero[500] = -0.0;
  for (const auto& values : {numbers(3, 1), numbers(3, 1), numbers(3, 2), numbers(0, 0),
                             numbers(0, 0), numbers(1000, 2), numbers(5, 2), last, negative_zero}) {
    replica.set(values);
    ASSERT_EQ(replica.size(), std::ssize(values));
    EXPECT_EQ(download(replica.const_view()), values);
    fetched.start(replica.const_view());
    device.wait();
    ASSERT_EQ(fetched.values(), values);
  }
  EXPECT_TRUE(std::signbit(fetched.values()[500]));
}

TEST(Transfer, WhatIsFetchedIsOfTheTimeWhenItWasStartedSmall) {
  auto& device = test::first_device();
  const auto used = device.use();
  Replica<double, kSpace> replica;
  Fetched<double, kSpace> before, after;
  replica.set(numbers(100'000, 1));
  before.start(replica.const_view());
  replica.set(numbers(100'000, 2));
  after.start(replica.const_view());
  device.wait();
  EXPECT_EQ(before.values(), numbers(100'000, 1));
  EXPECT_EQ(after.values(), numbers(100'000, 2));
}

}  // namespace
}  // namespace trine
