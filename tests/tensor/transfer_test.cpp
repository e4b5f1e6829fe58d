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
    Fetch<kSpace> fetch;
    fetch.add(replica.const_view(), fetched);
    fetch.start();
    device.wait();
    ASSERT_EQ(fetched.values(), values);
  }
  EXPECT_TRUE(std::signbit(fetched.values()[500]));
}

TEST(Transfer, WhatIsUploadedIsThereAndNoMoreSmall) {
  const auto used = test::first_device().use();
  Buffer<double, kSpace> buffer;
  upload(numbers(10, 1), buffer);
  upload(numbers(4, 50), buffer.view().slice(3, 4));
  upload(std::vector<double>{}, buffer.view().slice(10, 0));
  EXPECT_EQ(download(buffer.const_view()),
            (std::vector<double>{1, 2, 3, 50, 51, 52, 53, 8, 9, 10}));
}

TEST(Transfer, WhatIsFetchedIsOfTheTimeWhenItWasStartedSmall) {
  auto& device = test::first_device();
  const auto used = device.use();
  for (std::size_t size : {std::size_t{1000}, std::size_t{100'000}}) {
    Replica<double, kSpace> replica;
    Fetched<double, kSpace> before, after;
    Fetch<kSpace> first, second;
    replica.set(numbers(size, 1));
    first.add(replica.const_view(), before);
    first.start();
    replica.set(numbers(size, 2));
    second.add(replica.const_view(), after);
    second.start();
    device.wait();
    EXPECT_EQ(before.values(), numbers(size, 1));
    EXPECT_EQ(after.values(), numbers(size, 2));
  }
}

TEST(Transfer, ManyArraysAreFetchedTogetherSmall) {
  auto& device = test::first_device();
  const auto used = device.use();
  constexpr std::size_t kArrays = 40;
  std::vector<Replica<double, kSpace>> replicas(kArrays);
  std::vector<Fetched<double, kSpace>> fetched(kArrays);
  const auto expected = [](std::size_t n) {
    return numbers(n % 7 == 3 ? 0 : n * n * n, static_cast<double>(n));
  };
  Fetch<kSpace> fetch;
  for (std::size_t n = 0; n < kArrays; ++n) {
    replicas[n].set(expected(n));
    fetch.add(replicas[n].const_view(), fetched[n]);
  }
  fetch.start();
  device.wait();
  for (std::size_t n = 0; n < kArrays; ++n) EXPECT_EQ(fetched[n].values(), expected(n));
}

}  // namespace
}  // namespace trine
