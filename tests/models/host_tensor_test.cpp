#include "models/host_tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "models/support/expect_error.hpp"

namespace trine {
namespace {

template <class Stored>
HostTensor tensor_of(DType type, const std::vector<Stored>& values) {
  const std::size_t length = values.size() * sizeof(Stored);
  auto bytes = std::make_shared<std::byte[]>(length);
  std::memcpy(bytes.get(), values.data(), length);
  return {type, {static_cast<std::int64_t>(values.size())}, std::move(bytes)};
}

TEST(HostTensor, KnowsItsSizeAndShape) {
  const HostTensor matrix = make_tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(matrix.size(), 6);
  EXPECT_EQ(matrix.shape_text(), "(2, 3)");
  EXPECT_EQ((HostTensor{DType::float64, {}, nullptr}.shape_text()), "()");
  EXPECT_EQ((HostTensor{DType::float64, {}, nullptr}.size()), 1);
  EXPECT_EQ(element_size(DType::float64), 8U);
  EXPECT_EQ(element_size(DType::bfloat16), 2U);
  EXPECT_EQ(element_size(DType::boolean), 1U);
}

TEST(HostTensor, RefusesAWrongNumberOfValues) {
  testing::expect_error(ErrorCode::usage, "5 values do not fill a tensor of shape (2, 3)", [] {
    make_tensor<double>({2, 3}, {1, 2, 3, 4, 5});
  });
}

TEST(HostTensor, EmptyTensorsConvert) {
  EXPECT_TRUE(make_tensor<float>({0, 4}, {}).to_vector<double>().empty());
}

TEST(HostTensor, ConvertsHalfPrecision) {
  struct Case {
    std::uint16_t bits;
    double value;
  };
  const std::vector<Case> cases = {{0x0000, 0.0},         {0x3c00, 1.0},     {0xc000, -2.0},
                                   {0x3555, 0x1.554p-2},  {0x7bff, 65504.0}, {0x0400, 0x1p-14},
                                   {0x03ff, 0x1.ff8p-15}, {0x0001, 0x1p-24}, {0x8001, -0x1p-24}};
  for (const Case& c : cases) {
    const HostTensor tensor = tensor_of<std::uint16_t>(DType::float16, {c.bits});
    EXPECT_EQ(tensor.to_vector<double>()[0], c.value) << std::hex << c.bits;
    EXPECT_EQ(tensor.to_vector<float>()[0], static_cast<float>(c.value)) << std::hex << c.bits;
  }
  const auto special = tensor_of<std::uint16_t>(DType::float16, {0x7c00, 0xfc00, 0x7e00});
  const auto values = special.to_vector<double>();
  EXPECT_EQ(values[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(values[1], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_TRUE(
      std::signbit(tensor_of<std::uint16_t>(DType::float16, {0x8000}).to_vector<double>()[0]));
}

TEST(HostTensor, ConvertsBFloat16) {
  const auto tensor =
      tensor_of<std::uint16_t>(DType::bfloat16, {0x3f80, 0xc049, 0x0001, 0x7f7f, 0x7fc0});
  const auto values = tensor.to_vector<double>();
  EXPECT_EQ(values[0], 1.0);
  EXPECT_EQ(values[1], -3.140625);
  EXPECT_EQ(values[2], 0x1p-133);
  EXPECT_EQ(values[3], 0x1.fep127);
  EXPECT_TRUE(std::isnan(values[4]));
}

TEST(HostTensor, ConvertsEveryIntegerKind) {
  EXPECT_EQ((tensor_of<std::int64_t>(DType::int64, {-5, 1LL << 60}).to_vector<std::int64_t>()),
            (std::vector<std::int64_t>{-5, 1LL << 60}));
  EXPECT_EQ((tensor_of<std::int32_t>(DType::int32, {-7, 8}).to_vector<double>()),
            (std::vector<double>{-7, 8}));
  EXPECT_EQ((tensor_of<std::int16_t>(DType::int16, {-300}).to_vector<float>()),
            (std::vector<float>{-300}));
  EXPECT_EQ((tensor_of<std::int8_t>(DType::int8, {-1, 127}).to_vector<std::int64_t>()),
            (std::vector<std::int64_t>{-1, 127}));
  EXPECT_EQ((tensor_of<std::uint8_t>(DType::uint8, {255}).to_vector<std::int64_t>()),
            (std::vector<std::int64_t>{255}));
  EXPECT_EQ((tensor_of<std::uint8_t>(DType::boolean, {0, 1, 7}).to_vector<double>()),
            (std::vector<double>{0, 1, 1}));
}

TEST(HostTensor, RealsThatFitNoIntegerSaturate) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto tensor = tensor_of<double>(DType::float64, {-2.75, 1e300, -1e300, nan});
  EXPECT_EQ(tensor.to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{-2, std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min(), 0}));
}

TEST(HostTensor, CopiesShareTheBytes) {
  const HostTensor tensor = make_tensor<double>({2}, {1, 2});
  const HostTensor copy = tensor;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.bytes.get(), tensor.bytes.get());
}

}  // namespace
}  // namespace trine
