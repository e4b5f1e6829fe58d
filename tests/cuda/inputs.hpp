// Operands that products find easy and hard.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <tuple>

#include "cuda/host_matrix.hpp"

namespace trine::test {

/// The same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  /// In [low, high).
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
    return radius * std::cos(2 * std::numbers::pi * uniform(0, 1));
  }
  /// In [0, count).
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(count));
  }

 private:
  std::mt19937_64 bits_;
};

template <class Function>
HostMatrix generate(std::int64_t rows, std::int64_t cols, Function f) {
  HostMatrix m(rows, cols);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) m(r, c) = static_cast<float>(f(r, c));
  }
  return m;
}

/// make(), once for each key; every `make` has a table of its own. Methods and kernels meet the
/// same numbers, and drawing them takes longer than what is done with them.
template <class Key, class Make>
const auto& remembered(const Key& key, Make make) {
  static std::map<Key, decltype(make())> known;
  const auto at = known.find(key);
  return at != known.end() ? at->second : known.emplace(key, make()).first->second;
}

inline const HostMatrix& normal_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed,
                                       double scale = 1) {
  return remembered(std::tuple(rows, cols, seed, scale), [=] {
    Random random(seed);
    return generate(rows, cols, [&](auto, auto) { return scale * random.normal(); });
  });
}

enum class Input {
  normal,       ///< N(0, 1)
  positive,     ///< U(0, 1), both operands: truncation shows as a mean error
  activations,  ///< v sigmoid(g) times weights as they are initialised
  wide,         ///< each element times 2^U(-24, 0)
  scaled_rows,  ///< each row times 2^U(-60, 60)
  cancelling,   ///< the second half of the sum takes away the first, but for a little
  swept,        ///< rows from 2^-120 to 2^120
  adverse,      ///< one element of each row 2^24 times the others, on a weight of 0
  size_
};
inline constexpr std::array<std::string_view, 8> kInputNames = {
    "normal", "positive", "activations", "wide", "scaled_rows", "cancelling", "swept", "adverse"};
inline std::string name_of(Input input) {
  return std::string(kInputNames.at(static_cast<std::size_t>(input)));
}

/// x (m, k) and w (n, k).
struct Operands {
  HostMatrix x, w;
};

namespace detail {

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

inline void scale_rows(HostMatrix& x, const auto& exponent_of_row) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const double factor = std::exp2(exponent_of_row(r));
    for (std::int64_t c = 0; c < x.cols; ++c) x(r, c) = static_cast<float>(x(r, c) * factor);
  }
}

inline void cancel_halves(Operands& o, Random& random) {
  const std::int64_t half = o.x.cols / 2;
  for (std::int64_t c = 0; c < half; ++c) {
    for (std::int64_t r = 0; r < o.x.rows; ++r) {
      o.x(r, half + c) = static_cast<float>(-o.x(r, c) * (1 + 1e-4 * random.normal()));
    }
    for (std::int64_t r = 0; r < o.w.rows; ++r) o.w(r, half + c) = o.w(r, c);
  }
}

inline void make_adverse(Operands& o, Random& random) {
  const std::int64_t zero = o.x.cols / 3;
  for (std::int64_t r = 0; r < o.x.rows; ++r) {
    o.x(r, zero) = static_cast<float>(0x1p24 * random.normal());
  }
  for (std::int64_t r = 0; r < o.w.rows; ++r) o.w(r, zero) = 0;
}

}  // namespace detail

inline Operands draw_operands(Input input, std::int64_t m, std::int64_t n, std::int64_t k,
                              std::uint64_t seed) {
  Random random(100 * seed + static_cast<std::uint64_t>(input));
  const auto wide = [&](auto, auto) { return random.normal() * std::exp2(random.uniform(-24, 0)); };
  const auto positive = [&](auto, auto) { return random.uniform(0, 1); };
  const auto gated = [&](auto, auto) { return random.normal() * detail::sigmoid(random.normal()); };
  if (input == Input::positive) return {generate(m, k, positive), generate(n, k, positive)};
  if (input == Input::wide) return {generate(m, k, wide), generate(n, k, wide)};
  const double spread = 1 / std::sqrt(static_cast<double>(k));
  if (input == Input::activations) {
    return {generate(m, k, gated),
            generate(n, k, [&](auto, auto) { return random.uniform(-spread, spread); })};
  }
  Operands o{normal_matrix(m, k, seed + 1),
             normal_matrix(n, k, seed + 2, input == Input::swept ? spread : 1)};
  if (input == Input::scaled_rows) {
    detail::scale_rows(o.x, [&](auto) { return random.uniform(-60, 60); });
  } else if (input == Input::swept) {
    const double step = 240 / static_cast<double>(std::max<std::int64_t>(1, m - 1));
    detail::scale_rows(o.x, [&](auto r) { return -120 + step * static_cast<double>(r); });
  } else if (input == Input::cancelling) {
    detail::cancel_halves(o, random);
  } else if (input == Input::adverse) {
    detail::make_adverse(o, random);
  }
  return o;
}

inline const Operands& make_operands(Input input, std::int64_t m, std::int64_t n, std::int64_t k,
                                     std::uint64_t seed = 1) {
  return remembered(std::tuple(input, m, n, k, seed),
                    [=] { return draw_operands(input, m, n, k, seed); });
}

inline HostMatrix draw_mixed_rows(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  constexpr int kKinds = 9;
  Random random(seed);
  std::array<double, kKinds> factor{};
  return generate(rows, cols, [&](std::int64_t r, std::int64_t c) {
    if (c == 0) {
      factor = {1,
                1,
                std::exp2(random.uniform(-60, 60)),
                std::exp2(random.uniform(-120, 100)),
                0x1p-140,
                0,
                -0.0,
                1,
                1};
    }
    const auto kind = static_cast<std::size_t>(r % kKinds);
    const double value = factor[kind] * random.normal();
    if (kind == 1) return value * std::exp2(random.uniform(-24, 0));
    if (kind == 6) return random.below(4) == 0 ? random.normal() : -0.0;
    if (kind == 7) return std::exp2(std::floor(random.uniform(-20, 20)));
    if (kind == 8) return value * std::exp2(24.0 * static_cast<double>(c / 32 % 5));
    return value;
  });
}

/// Rows of every kind in turn: plain, wide, far from 1, subnormal, zero, -0, powers of two.
inline const HostMatrix& mixed_rows(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  return remembered(std::tuple(rows, cols, seed),
                    [=] { return draw_mixed_rows(rows, cols, seed); });
}

inline HostMatrix draw_mixed_weight(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Random random(seed);
  constexpr std::array kScales = {1.0, 0.0625, 300.0, 1.0, 0.0, 0x1p-30, 1.5};
  return generate(rows, cols, [&](std::int64_t r, std::int64_t c) {
    const auto block = static_cast<std::size_t>(r / 64 + 2 * (c / 64));
    const double wide = (r + c) % 11 == 0 ? std::exp2(random.uniform(-24, 0)) : 1;
    return kScales[block % kScales.size()] * wide * random.normal();
  });
}

/// Blocks of a weight that differ in size, some of them zero.
inline const HostMatrix& mixed_weight(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  return remembered(std::tuple(rows, cols, seed),
                    [=] { return draw_mixed_weight(rows, cols, seed); });
}

}  // namespace trine::test
