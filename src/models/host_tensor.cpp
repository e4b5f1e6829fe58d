#include "models/host_tensor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/check.hpp"

namespace trine {
namespace {

struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
struct Boolean {
  std::uint8_t bits;
};

float value_of(BFloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

float value_of(Half x) {
  const int exponent = (x.bits >> 10) & 0x1f;
  const int fraction = x.bits & 0x3ff;
  float magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (x.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::int64_t value_of(Boolean x) {
  return x.bits != 0 ? 1 : 0;
}

template <class Stored>
Stored value_of(Stored x) {
  return x;
}

/// Conversions that the language leaves undefined (NaN or a large real to an integer) saturate.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    if (value >= 0x1p63) return std::numeric_limits<To>::max();
    if (value < -0x1p63) return std::numeric_limits<To>::min();
  }
  return static_cast<To>(value);
}

template <class Stored, class T>
void convert_all(const std::byte* bytes, std::vector<T>& out) {
  if constexpr (std::is_same_v<Stored, T>) {
    if (!out.empty()) std::memcpy(out.data(), bytes, out.size() * sizeof(T));
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) {
      Stored stored;
      std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof(Stored));
      out[i] = convert<T>(value_of(stored));
    }
  }
}

}  // namespace

std::size_t element_size(DType type) {
  static constexpr std::array<std::size_t, 10> kSizes = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};
  static_assert(kSizes.size() == static_cast<std::size_t>(DType::size_));
  return kSizes[static_cast<std::size_t>(type)];
}

std::int64_t HostTensor::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::string HostTensor::shape_text() const {
  return fmt::format("({})", fmt::join(shape, ", "));
}

template <class T>
std::vector<T> HostTensor::to_vector() const {
  std::vector<T> out(static_cast<std::size_t>(size()));
  const std::byte* data = bytes.get();
  switch (type) {
    case DType::float64:
      convert_all<double>(data, out);
      break;
    case DType::float32:
      convert_all<float>(data, out);
      break;
    case DType::float16:
      convert_all<Half>(data, out);
      break;
    case DType::bfloat16:
      convert_all<BFloat16>(data, out);
      break;
    case DType::int64:
      convert_all<std::int64_t>(data, out);
      break;
    case DType::int32:
      convert_all<std::int32_t>(data, out);
      break;
    case DType::int16:
      convert_all<std::int16_t>(data, out);
      break;
    case DType::int8:
      convert_all<std::int8_t>(data, out);
      break;
    case DType::uint8:
      convert_all<std::uint8_t>(data, out);
      break;
    case DType::boolean:
      convert_all<Boolean>(data, out);
      break;
    case DType::size_:
      break;
  }
  return out;
}

template std::vector<float> HostTensor::to_vector<float>() const;
template std::vector<double> HostTensor::to_vector<double>() const;
template std::vector<std::int64_t> HostTensor::to_vector<std::int64_t>() const;

template <class T>
HostTensor make_tensor(std::vector<std::int64_t> shape, const std::vector<T>& values) {
  HostTensor tensor;
  tensor.type = std::is_same_v<T, double> ? DType::float64 : DType::float32;
  tensor.shape = std::move(shape);
  check(tensor.size() == static_cast<std::int64_t>(values.size()), ErrorCode::usage,
        "{} values do not fill a tensor of shape {}, pass one value per element", values.size(),
        tensor.shape_text());
  const std::size_t length = values.size() * sizeof(T);
  auto bytes = std::make_shared_for_overwrite<std::byte[]>(length);
  if (length > 0) std::memcpy(bytes.get(), values.data(), length);
  tensor.bytes = std::move(bytes);
  return tensor;
}

template HostTensor make_tensor<float>(std::vector<std::int64_t>, const std::vector<float>&);
template HostTensor make_tensor<double>(std::vector<std::int64_t>, const std::vector<double>&);

}  // namespace trine
