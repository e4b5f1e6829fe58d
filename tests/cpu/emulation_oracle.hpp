// The arithmetic of the emulated products once more, straight from docs/gemm.md: one element at a
// time in wide integers, no vectors, no tables shared with the code under test.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "trine/gemm.hpp"

namespace trine::oracle {

/// Row-major.
struct Matrix {
  std::int64_t rows, cols;
  std::vector<float> values;
  Matrix(std::int64_t r, std::int64_t c)
      : rows(r), cols(c), values(static_cast<std::size_t>(r * c)) {}
  float& at(std::int64_t r, std::int64_t c) {
    return values[static_cast<std::size_t>(r * cols + c)];
  }
  float at(std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>(r * cols + c)];
  }
};

/// significand * 2^(exponent - fraction): a number as an adder of the hardware sees it.
struct Term {
  std::int64_t significand;
  int exponent, fraction;
};

struct Format {
  int precision, smallest_exponent;
};

inline Term as_term(double value, Format format) {
  const int fraction = format.precision - 1;
  if (value == 0) return {0, -126, fraction};
  const int e = std::max(std::ilogb(value), format.smallest_exponent);
  return {static_cast<std::int64_t>(std::ldexp(value, fraction - e)), e, fraction};
}

/// t + terms, each aligned to the largest exponent and truncated to `bits` fraction bits. The terms
/// are used up.
inline float hardware_step(float t, std::vector<Term>& terms, int bits) {
  terms.push_back(as_term(t, {24, -126}));
  int top = std::numeric_limits<int>::min();
  for (const Term& term : terms) top = std::max(top, term.exponent);
  __extension__ using Wide = __int128;
  Wide sum = 0;
  for (const Term& term : terms) {
    const int shift = bits - term.fraction - (top - term.exponent);
    if (shift >= 0) sum += static_cast<Wide>(term.significand) << shift;
    if (shift < 0 && shift > -63) sum += term.significand / (std::int64_t{1} << -shift);
  }
  int unit = top - bits;
  constexpr Wide kLimit = Wide{1} << 24;
  for (; sum >= kLimit || sum <= -kLimit || unit < -149; ++unit) sum /= 2;
  terms.clear();
  return std::ldexp(static_cast<float>(static_cast<std::int64_t>(sum)), unit);
}

enum class WordType { tf32, bf16, fp16 };

struct Recipe {
  WordType type;
  Format format;
  int words;
  std::vector<std::pair<int, int>> products;
};

inline Recipe recipe_of(const std::string& name) {
  const WordType type = name[0] == 't'   ? WordType::tf32
                        : name[0] == 'b' ? WordType::bf16
                                         : WordType::fp16;
  const Format format = type == WordType::tf32   ? Format{11, -126}
                        : type == WordType::bf16 ? Format{8, -126}
                                                 : Format{11, -14};
  const auto x = name.find('x');
  const int count = x == std::string::npos ? 1 : name[x + 1] - '0';
  const int words = count == 1 ? 1 : count == 3 ? 2 : 3;
  std::vector<std::pair<int, int>> products = {{1, 0}, {0, 1}, {0, 0}};
  if (count == 1) products = {{0, 0}};
  if (count >= 6) products.insert(products.begin(), {{2, 0}, {1, 1}, {0, 2}});
  if (count == 9) products.insert(products.begin(), {{2, 2}, {1, 2}, {2, 1}});
  return {type, format, words, products};
}

inline std::vector<Term> words_of(float scaled, const Recipe& recipe) {
  std::vector<Term> words;
  double rest = scaled;
  for (int a = 0; a < recipe.words; ++a) {
    double word = 0;
    if (rest != 0) {
      const int e = std::max(std::ilogb(rest), recipe.format.smallest_exponent);
      const double units = std::ldexp(rest, recipe.format.precision - 1 - e);
      const double rounded =
          recipe.type == WordType::tf32 ? std::round(units) : std::nearbyint(units);
      word = std::ldexp(rounded, e - (recipe.format.precision - 1));
    }
    words.push_back(as_term(word, recipe.format));
    rest -= word;
  }
  return words;
}

inline int clamped_exponent(float largest) {
  if (!std::isfinite(largest)) return 255;
  const int biased = largest < std::numeric_limits<float>::min() ? 0 : std::ilogb(largest) + 127;
  return std::max(15, biased);
}

/// Elements of each step of 16 consecutive ones, as the MMA instruction takes them.
inline std::vector<std::vector<int>> steps_of_sixteen(WordType type, bool ampere) {
  std::vector<std::vector<int>> steps;
  if (type != WordType::tf32) {
    if (ampere) return {{0, 1, 4, 5, 8, 9, 12, 13}, {2, 3, 6, 7, 10, 11, 14, 15}};
    for (int k = 0; k < 16; ++k) {
      if (k == 0) steps.emplace_back();
      steps.back().push_back(k);
    }
    return steps;
  }
  for (int s = 0; s < 2; ++s) {
    for (int h = 0; h < 2; ++h) {
      if (h == 0 || ampere) steps.emplace_back();
      for (int t = 0; t < 4; ++t) steps.back().push_back(4 * t + 2 * s + h);
    }
  }
  return steps;
}

/// Parts of 2^-23 that promotion adds, by type of word and device: the table of docs/gemm.md.
inline int gain_units(WordType type, GemmArch arch) {
  static const std::map<WordType, std::map<GemmArch, int>> table = {
      {WordType::tf32, {{GemmArch::sm_80, 2}, {GemmArch::sm_90, 1}, {GemmArch::sm_100, 1}}},
      {WordType::fp16, {{GemmArch::sm_80, 1}, {GemmArch::sm_90, 1}, {GemmArch::sm_100, 1}}},
      {WordType::bf16, {{GemmArch::sm_80, 0}, {GemmArch::sm_90, 1}, {GemmArch::sm_100, 0}}}};
  return table.at(type).at(arch);
}

inline std::int64_t padded(std::int64_t n, std::int64_t to = 64) {
  return (n + to - 1) / to * to;
}

/// The weight in packed order and padded, with the natural row of each packed one.
struct PackedWeight {
  Matrix values;
  std::vector<std::int64_t> natural_row;
};

inline PackedWeight pack(const Matrix& w, GemmActivation activation) {
  std::vector<std::int64_t> natural;
  if (activation == GemmActivation::swiglu) {
    for (std::int64_t p = 0; p < 2 * padded(w.rows / 2, 32); ++p) {
      const std::int64_t i = p / 64 * 32 + p % 32;
      const bool gate = p % 64 >= 32;
      natural.push_back(i >= w.rows / 2 ? -1 : i + (gate ? w.rows / 2 : 0));
    }
  } else {
    for (std::int64_t p = 0; p < padded(w.rows); ++p) natural.push_back(p < w.rows ? p : -1);
  }
  PackedWeight packed{Matrix(static_cast<std::int64_t>(natural.size()), padded(w.cols)), natural};
  for (std::size_t p = 0; p < natural.size(); ++p) {
    for (std::int64_t c = 0; c < w.cols && natural[p] >= 0; ++c) {
      packed.values.at(static_cast<std::int64_t>(p), c) = w.at(natural[p], c);
    }
  }
  return packed;
}

/// y = x w^T, or y = x w with `backward`.
class Product {
 public:
  Product(GemmMethod method, GemmArch arch, const Matrix& w, bool backward,
          GemmActivation activation)
      : recipe_(recipe_of(std::string(gemm_method_info(method).name))),
        ampere_(arch == GemmArch::sm_80),
        backward_(backward),
        chunk_(arch != GemmArch::sm_90 || recipe_.type == WordType::tf32 ? 32 : 64),
        gain_units_(gain_units(recipe_.type, arch)),
        steps_(steps_of_sixteen(recipe_.type, ampere_)),
        packed_(pack(w, activation)),
        k_(w.cols) {
    const Matrix& p = packed_.values;
    for (std::int64_t r = 0; r < p.rows; r += 64) {
      for (std::int64_t c = 0; c < p.cols; c += 64) {
        block_exponents_.push_back(measured_exponent(r, c));
        top_ = std::max(top_, block_exponents_.back());
      }
    }
    for (std::int64_t r = 0; r < p.rows; ++r) {
      for (std::int64_t c = 0; c < p.cols; ++c) {
        const int e = block_exponent(r / 64, c / 64);
        words_.push_back(words_of(p.at(r, c) * std::ldexp(1.0F, 141 - e), recipe_));
      }
    }
    for (std::int64_t r = 0; r < p.rows / 64; ++r) {
      for (std::int64_t c = 0; c < p.cols / 64; ++c) gains_.push_back(measured_gain(r, c));
    }
  }

  Matrix operator()(const Matrix& x) const {
    const auto natural = [&](bool rows_of_w, std::int64_t p) {
      return rows_of_w ? packed_.natural_row[static_cast<std::size_t>(p)] : (p < k_ ? p : -1);
    };
    const Matrix& p = packed_.values;
    const std::int64_t inner = backward_ ? p.rows : p.cols, outer = backward_ ? p.cols : p.rows;
    std::int64_t columns = 0;
    for (std::int64_t c = 0; c < outer; ++c) columns += natural(!backward_, c) >= 0 ? 1 : 0;
    Matrix y(x.rows, columns);
    for (std::int64_t r = 0; r < x.rows; ++r) {
      std::vector<float> row;
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t from = natural(backward_, i);
        row.push_back(from < 0 ? 0.0F : x.at(r, from));
      }
      const auto sums = row_of_sums(row, outer);
      for (std::int64_t c = 0; c < outer; ++c) {
        const std::int64_t to = natural(!backward_, c);
        if (to >= 0) y.at(r, to) = sums[static_cast<std::size_t>(c)] * std::ldexp(1.0F, top_ - 127);
      }
    }
    return y;
  }

 private:
  int measured_exponent(std::int64_t row, std::int64_t column) const {
    float largest = 0;
    for (std::int64_t r = row; r < row + 64; ++r) {
      for (std::int64_t c = column; c < column + 64; ++c) {
        largest = std::max(largest, std::abs(packed_.values.at(r, c)));
      }
    }
    return clamped_exponent(largest);
  }

  std::size_t block(std::int64_t row_block, std::int64_t column_block) const {
    return static_cast<std::size_t>(row_block * (packed_.values.cols / 64) + column_block);
  }
  int block_exponent(std::int64_t row_block, std::int64_t column_block) const {
    return block_exponents_[block(row_block, column_block)];
  }

  /// Makes up for truncation where the weight has more than 11 bits.
  float measured_gain(std::int64_t row_block, std::int64_t column_block) const {
    for (std::int64_t r = 64 * row_block; r < 64 * row_block + 64; ++r) {
      for (std::int64_t c = 64 * column_block; c < 64 * column_block + 64; ++c) {
        int exponent = 0;
        const float eleven_bits = std::ldexp(std::frexp(packed_.values.at(r, c), &exponent), 11);
        if (eleven_bits != std::trunc(eleven_bits)) {
          return 1 + static_cast<float>(gain_units_) * 0x1p-23F;
        }
      }
    }
    return 1;
  }

  std::vector<float> row_of_sums(const std::vector<float>& row, std::int64_t outer) const {
    std::vector<float> sums(static_cast<std::size_t>(outer), 0.0F);
    for (std::int64_t first = 0; first < static_cast<std::int64_t>(row.size()); first += chunk_) {
      float largest = 0;
      bool finite = true;
      for (std::int64_t i = first; i < first + chunk_; ++i) {
        const float size = std::abs(row[static_cast<std::size_t>(i)]);
        finite = finite && std::isfinite(size);
        largest = std::max(largest, size);
      }
      if (!finite) {
        return std::vector<float>(sums.size(), std::numeric_limits<float>::quiet_NaN());
      }
      const int e = clamped_exponent(largest);
      std::vector<std::vector<Term>> x;
      for (std::int64_t i = first; i < first + chunk_; ++i) {
        x.push_back(
            words_of(row[static_cast<std::size_t>(i)] * std::ldexp(1.0F, 141 - e), recipe_));
      }
      for (std::int64_t c = 0; c < outer; c += 64) {
        const int e_b =
            backward_ ? block_exponent(first / 64, c / 64) : block_exponent(c / 64, first / 64);
        const float gain =
            gains_[backward_ ? block(first / 64, c / 64) : block(c / 64, first / 64)];
        const float scale = std::ldexp(1.0F, e - 141) * (std::ldexp(1.0F, e_b - top_ - 14) * gain);
        for (std::int64_t j = c; j < c + 64; ++j) {
          float& sum = sums[static_cast<std::size_t>(j)];
          sum = std::fma(chunk_sum(x, first, j), scale, sum);
        }
      }
    }
    return sums;
  }

  float chunk_sum(const std::vector<std::vector<Term>>& x, std::int64_t first,
                  std::int64_t column) const {
    float t = 0;
    std::vector<Term> terms;
    terms.reserve(17);
    for (const auto& [a, b] : recipe_.products) {
      for (int k = 0; k < chunk_; k += 16) {
        for (const auto& step : steps_) {
          for (int offset : step) {
            const Term& u = x[static_cast<std::size_t>(k + offset)][static_cast<std::size_t>(a)];
            const Term& v = weight_word(first + k + offset, column, b);
            terms.push_back(
                {u.significand * v.significand, u.exponent + v.exponent, u.fraction + v.fraction});
          }
          t = hardware_step(t, terms, ampere_ ? 24 : 25);
        }
      }
    }
    return t;
  }

  const Term& weight_word(std::int64_t inner, std::int64_t outer, int word) const {
    const std::int64_t row = backward_ ? inner : outer, column = backward_ ? outer : inner;
    return words_[static_cast<std::size_t>(row * packed_.values.cols + column)]
                 [static_cast<std::size_t>(word)];
  }

  Recipe recipe_;
  bool ampere_, backward_;
  int chunk_, gain_units_;
  std::vector<std::vector<int>> steps_;
  PackedWeight packed_;
  std::int64_t k_;
  std::vector<int> block_exponents_;
  std::vector<float> gains_;  ///< of blocks
  int top_ = 15;
  std::vector<std::vector<Term>> words_;
};

}  // namespace trine::oracle
