// Operands that are easy and hard for products of words.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string_view>

#include "cpu/emulation_oracle.hpp"

namespace trine::oracle {

struct Operands {
  Matrix x, w;
};

/// Fills x (m, k) and w (n, k).
struct Input {
  std::string_view name;
  void (*fill)(Operands&, std::mt19937&);
};

inline void fill_normal(Matrix& a, std::mt19937& random) {
  std::normal_distribution<float> normal;
  for (float& v : a.values) v = normal(random);
}

inline void fill_normal(Operands& o, std::mt19937& random) {
  fill_normal(o.x, random);
  fill_normal(o.w, random);
}

inline void fill_same_sign(Operands& o, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(0, 1);
  for (float& v : o.x.values) v = uniform(random);
  for (float& v : o.w.values) v = uniform(random);
}

/// Every element times 2^U(low, high).
inline void spread(Matrix& a, float low, float high, std::mt19937& random) {
  std::uniform_real_distribution<float> exponent(low, high);
  for (float& v : a.values) v *= std::exp2(exponent(random));
}

/// Every row times 2^U(low, high).
inline void spread_rows(Matrix& a, float low, float high, std::mt19937& random) {
  std::uniform_real_distribution<float> exponent(low, high);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const float factor = std::exp2(exponent(random));
    for (std::int64_t c = 0; c < a.cols; ++c) a.at(r, c) *= factor;
  }
}

inline void fill_cancelling(Operands& o, std::mt19937& random) {
  fill_normal(o, random);
  const std::int64_t half = o.x.cols / 2;
  std::normal_distribution<float> normal;
  for (std::int64_t k = 0; k < half; ++k) {
    for (std::int64_t r = 0; r < o.x.rows; ++r) o.x.at(r, half + k) = -o.x.at(r, k);
    for (std::int64_t r = 0; r < o.w.rows; ++r) {
      o.w.at(r, half + k) = o.w.at(r, k) * (1 + 1e-5F * normal(random));
    }
  }
}

/// Zeros of both signs, subnormal numbers, whole rows of either.
inline void fill_zeros(Operands& o, std::mt19937& random) {
  fill_normal(o, random);
  for (Matrix* a : {&o.x, &o.w}) {
    for (float& v : a->values) {
      const auto kind = random() % 4;
      if (kind == 0) v = 0;
      if (kind == 1) v = -0.0F;
      if (kind == 2) v *= 0x1p-140F;
    }
    for (std::int64_t c = 0; c < a->cols; ++c) {
      a->at(0, c) = -0.0F;
      if (a->rows > 1) a->at(1, c) *= 0x1p-149F;
    }
  }
}

/// Sums that need all 33 bits of the adder: the products of the first words are as large as words
/// of `bits` bits allow, and the others push the sum over the next power of two.
template <int bits>
void fill_nearly_two(Operands& o, std::mt19937&) {
  const float value = 2 - std::ldexp(1.0F, 1 - bits) + std::ldexp(0.998F, -bits);
  std::fill(o.x.values.begin(), o.x.values.end(), value);
  std::fill(o.w.values.begin(), o.w.values.end(), value);
  for (std::int64_t r = 0; r < o.x.rows; r += 2) {
    for (std::int64_t c = 0; c < o.x.cols; ++c) o.x.at(r, c) = -value;
  }
}

/// Sums that end among FP32's subnormal numbers: every block has one huge element, which meets
/// zeros, and the products of the others are near 2^-126 after scaling.
inline void fill_tiny_beside_huge(Operands& o, std::mt19937& random) {
  fill_normal(o, random);
  spread(o.x, 44, 48, random);
  spread(o.w, -20, -16, random);
  for (std::int64_t k = 0; k < o.x.cols; k += 64) {
    for (std::int64_t r = 0; r < o.x.rows; ++r) o.x.at(r, k) = 0x1p126F;
    for (std::int64_t r = 0; r < o.w.rows; ++r) o.w.at(r, k) = 0;
  }
  for (std::int64_t r = 0; r < o.w.rows; r += 64) {
    for (std::int64_t k = 1; k < o.w.cols; k += 64) o.w.at(r, k) = 0x1p60F;
  }
}

inline constexpr std::array<Input, 12> kInputs = {{
    {"normal", fill_normal},
    {"same sign", fill_same_sign},
    {"wide exponents",
     [](Operands& o, std::mt19937& random) {
       fill_normal(o, random);
       spread(o.x, -24, 0, random);
     }},
    {"scaled rows",
     [](Operands& o, std::mt19937& random) {
       fill_normal(o, random);
       spread_rows(o.x, -60, 60, random);
       spread_rows(o.w, -12, 12, random);
     }},
    {"magnitudes",
     [](Operands& o, std::mt19937& random) {
       fill_normal(o, random);
       spread_rows(o.x, -120, 120, random);
     }},
    {"any exponent",
     [](Operands& o, std::mt19937& random) {
       fill_normal(o, random);
       spread(o.x, -149, 60, random);
       spread(o.w, -149, 60, random);
     }},
    {"far apart blocks",
     [](Operands& o, std::mt19937& random) {
       fill_normal(o, random);
       for (std::int64_t r = 0; r < o.w.rows; ++r) {
         for (std::int64_t c = 0; c < o.w.cols; ++c) {
           o.w.at(r, c) *= std::exp2(static_cast<float>(-50 * (r / 64 + c / 64)));
         }
       }
       spread_rows(o.x, -120, 100, random);
     }},
    {"cancelling", fill_cancelling},
    {"zeros", fill_zeros},
    {"nearly two in 11 bits", fill_nearly_two<11>},
    {"nearly two in 8 bits", fill_nearly_two<8>},
    {"tiny beside huge", fill_tiny_beside_huge},
}};

inline Operands make_operands(const Input& input, std::int64_t m, std::int64_t n, std::int64_t k) {
  Operands o{Matrix(m, k), Matrix(n, k)};
  std::mt19937 random(static_cast<unsigned>(7 + m + 1000 * n + 1000000 * k));
  input.fill(o, random);
  return o;
}

}  // namespace trine::oracle
