// Attention over the tokens of one atom, and its gradient.
//
// Per head: L = scale Q K^T + log max(f, 1e-15), P = softmax over keys, O = P V. The scores of one
// head fit in the cache (tokens^2), so they are formed again in the backward pass instead of being
// kept.
#pragma once

#include "cpu/kernels/kernels.hpp"
#include "cpu/kernels/simd.hpp"

namespace trine::cpu::TRINE_ISA {

template <class Real>
inline constexpr std::int64_t round_up(std::int64_t n) {
  return (n + kLanes<Real> - 1) / kLanes<Real> * kLanes<Real>;
}

inline float log_of(float x) {
  return __builtin_logf(x);
}
inline double log_of(double x) {
  return __builtin_log(x);
}

/// Scratch of one head; `padded` rows and columns are multiples of the register.
template <class Real>
struct HeadScratch {
  std::int64_t tokens, padded_tokens, width, padded_width;
  Real* keys;      ///< K^T (width, padded_tokens); in the backward pass also V^T
  Real* rows_a;    ///< (tokens, padded_width): V, later K
  Real* rows_b;    ///< (tokens, padded_width): dO, later Q
  Real* scores;    ///< P (tokens, padded_tokens)
  Real* d_scores;  ///< dP, then dL
  Real* mask;      ///< (padded_tokens) log f; very negative past the last token
  Real* column;    ///< (padded_tokens) sum over heads and queries of dL

  HeadScratch(Real* memory, std::int64_t tokens_, std::int64_t width_)
      : tokens(tokens_),
        padded_tokens(round_up<Real>(tokens_)),
        width(width_),
        padded_width(round_up<Real>(width_)) {
    keys = memory;
    rows_a = keys + width * padded_tokens;
    rows_b = rows_a + tokens * padded_width;
    scores = rows_b + tokens * padded_width;
    d_scores = scores + tokens * padded_tokens;
    mask = d_scores + tokens * padded_tokens;
    column = mask + padded_tokens;
  }
};

/// Rows of one head's columns inside node and edge matrices.
template <class Real>
struct TokenRows {
  const Real* node;
  const Real* edges;
  std::int64_t stride;
  const Real* operator[](std::int64_t t) const { return t == 0 ? node : edges + (t - 1) * stride; }
};

/// columns (width, padded_tokens) = rows^T, zero past the last token.
template <class Real>
inline void transpose_rows(const HeadScratch<Real>& s, TokenRows<Real> rows, Real* columns) {
  for (std::int64_t t = 0; t < s.tokens; ++t) {
    const Real* row = rows[t];
    for (std::int64_t c = 0; c < s.width; ++c) columns[c * s.padded_tokens + t] = row[c];
  }
  for (std::int64_t c = 0; c < s.width; ++c) {
    for (std::int64_t t = s.tokens; t < s.padded_tokens; ++t) columns[c * s.padded_tokens + t] = 0;
  }
}

/// dense (tokens, padded_width) = rows, zero past the head's width.
template <class Real>
inline void copy_rows(const HeadScratch<Real>& s, TokenRows<Real> rows, Real* dense) {
  for (std::int64_t t = 0; t < s.tokens; ++t) {
    const Real* row = rows[t];
    Real* out = dense + t * s.padded_width;
    for_each_vector<Real>(s.width, [&](auto at) { store(out + at.offset, at.load(row)); });
  }
}

/// out[p][q block] = sum_c left[p][c] columns[c][q block], for kRows queries at a time.
template <class Real, int kRows, int kVectors>
inline void score_block(const HeadScratch<Real>& s, TokenRows<Real> left, std::int64_t p,
                        const Real* columns, std::int64_t q, Real* out) {
  const Real* row[kRows];
  for (int r = 0; r < kRows; ++r) row[r] = left[p + r];
  Vec<Real> total[kRows][kVectors] = {};
  for (std::int64_t c = 0; c < s.width; ++c) {
    Vec<Real> column[kVectors];
    for (int v = 0; v < kVectors; ++v)
      column[v] = load(columns + c * s.padded_tokens + q + v * kLanes<Real>);
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) total[r][v] += row[r][c] * column[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      store(out + (p + r) * s.padded_tokens + q + v * kLanes<Real>, total[r][v]);
    }
  }
}

template <class Real, int kRows>
inline void score_rows(const HeadScratch<Real>& s, TokenRows<Real> left, std::int64_t p,
                       const Real* columns, Real* out) {
  std::int64_t q = 0;
  for (; q + 3 * kLanes<Real> <= s.padded_tokens; q += 3 * kLanes<Real>) {
    score_block<Real, kRows, 3>(s, left, p, columns, q, out);
  }
  for (; q < s.padded_tokens; q += kLanes<Real>) {
    score_block<Real, kRows, 1>(s, left, p, columns, q, out);
  }
}

/// out (tokens, padded_tokens) = left (tokens, width) columns (width, padded_tokens)
template <class Real>
inline void score_product(const HeadScratch<Real>& s, TokenRows<Real> left, const Real* columns,
                          Real* out) {
  std::int64_t p = 0;
  for (; p + 4 <= s.tokens; p += 4) score_rows<Real, 4>(s, left, p, columns, out);
  for (; p < s.tokens; ++p) score_rows<Real, 1>(s, left, p, columns, out);
}

/// Element (row, column) of a coefficient matrix at `data[row * row_stride + column *
/// column_stride]`.
template <class Real>
struct Coefficients {
  const Real* data;
  std::int64_t row_stride, column_stride;
};

template <class Real>
struct OutputRows {
  Real* node;
  Real* edges;
  std::int64_t stride;
  Real* operator[](std::int64_t t) const { return t == 0 ? node : edges + (t - 1) * stride; }
};

/// out[r .. r+kRows)[:] = factor sum_k coefficient(r, k) rows[k][:], over all tokens k.
template <class Real, int kRows>
inline void weighted_rows_block(const HeadScratch<Real>& s, Coefficients<Real> a,
                                std::int64_t first, const Real* rows, Real factor,
                                OutputRows<Real> out) {
  for_each_vector<Real>(s.width, [&](auto at) {
    Vec<Real> total[kRows] = {};
    for (std::int64_t k = 0; k < s.tokens; ++k) {
      const Vec<Real> row = load(rows + k * s.padded_width + at.offset);
      const Real* coefficient = a.data + first * a.row_stride + k * a.column_stride;
      for (int r = 0; r < kRows; ++r) total[r] += coefficient[r * a.row_stride] * row;
    }
    for (int r = 0; r < kRows; ++r) at.store(out[first + r], factor * total[r]);
  });
}

template <class Real>
inline void weighted_rows(const HeadScratch<Real>& s, Coefficients<Real> a, const Real* rows,
                          Real factor, OutputRows<Real> out) {
  std::int64_t r = 0;
  for (; r + 8 <= s.tokens; r += 8) weighted_rows_block<Real, 8>(s, a, r, rows, factor, out);
  for (; r < s.tokens; ++r) weighted_rows_block<Real, 1>(s, a, r, rows, factor, out);
}

/// scores = softmax over keys of (scale scores + mask), row by row.
template <class Real>
inline void softmax_rows(const HeadScratch<Real>& s, Real scale) {
  for (std::int64_t p = 0; p < s.tokens; ++p) {
    Real* row = s.scores + p * s.padded_tokens;
    Vec<Real> largest = splat(Real(-1e30));
    for (std::int64_t q = 0; q < s.padded_tokens; q += kLanes<Real>) {
      const Vec<Real> x = scale * load(row + q) + load(s.mask + q);
      store(row + q, x);
      largest = x > largest ? x : largest;
    }
    const Real top = max<Real>(largest);
    Vec<Real> total{};
    for (std::int64_t q = 0; q < s.padded_tokens; q += kLanes<Real>) {
      Vec<Real> x = load(row + q) - top;
      x = exp(x);
      const std::int64_t left = s.tokens - q;
      if (left < kLanes<Real>) {
        for (std::int64_t i = left; i < kLanes<Real>; ++i) x[i] = 0;
      }
      store(row + q, x);
      total += x;
    }
    const Real inverse = 1 / sum<Real>(total);
    for (std::int64_t q = 0; q < s.padded_tokens; q += kLanes<Real>) {
      store(row + q, load(row + q) * inverse);
    }
  }
}

template <class Real>
inline void fill_mask(const HeadScratch<Real>& s, const AttentionAtom<Real>& a) {
  s.mask[0] = 0;
  for (std::int64_t q = 1; q < s.tokens; ++q) {
    const Real f = a.weight[q - 1];
    s.mask[q] = log_of(f > Real(1e-15) ? f : Real(1e-15));
  }
  for (std::int64_t q = s.tokens; q < s.padded_tokens; ++q) s.mask[q] = Real(-1e30);
}

/// Columns [part * width + head ...) of the query, key (part 1) or value (part 2) matrices.
template <class Real>
inline TokenRows<Real> qkv_rows(const AttentionAtom<Real>& a, std::int64_t part,
                                std::int64_t column) {
  const std::int64_t offset = part * a.width + column;
  return {a.qkv_node + offset, a.qkv_edges + offset, 3 * a.width};
}

template <class Real>
inline void head_probabilities(const HeadScratch<Real>& s, const AttentionAtom<Real>& a,
                               std::int64_t column) {
  transpose_rows(s, qkv_rows(a, 1, column), s.keys);
  score_product(s, qkv_rows(a, 0, column), s.keys, s.scores);
  softmax_rows(s, a.scale);
}

template <class Real>
void attention(const AttentionAtom<Real>& a) {
  const std::int64_t width = a.width / a.heads;
  const HeadScratch<Real> s(a.scratch, a.edges + 1, width);
  fill_mask(s, a);
  for (std::int64_t column = 0; column < a.width; column += width) {
    head_probabilities(s, a, column);
    copy_rows(s, qkv_rows(a, 2, column), s.rows_a);
    weighted_rows<Real>(s, {s.scores, s.padded_tokens, 1}, s.rows_a, Real(1),
                        {a.out_node + column, a.out_edges + column, a.width});
  }
}

/// d_scores = P (dP - sum_q P dP), and its columns are added up for the gradient of the mask.
template <class Real>
inline void softmax_backward(const HeadScratch<Real>& s) {
  for (std::int64_t p = 0; p < s.tokens; ++p) {
    const Real* probability = s.scores + p * s.padded_tokens;
    Real* d = s.d_scores + p * s.padded_tokens;
    Vec<Real> total{};
    for (std::int64_t q = 0; q < s.padded_tokens; q += kLanes<Real>) {
      total += load(probability + q) * load(d + q);
    }
    const Real mean = sum<Real>(total);
    for (std::int64_t q = 0; q < s.padded_tokens; q += kLanes<Real>) {
      const Vec<Real> x = load(probability + q) * (load(d + q) - mean);
      store(d + q, x);
      store(s.column + q, load(s.column + q) + x);
    }
  }
}

template <class Real>
void attention_backward(const AttentionAtom<Real>& a) {
  const std::int64_t width = a.width / a.heads;
  const HeadScratch<Real> s(a.scratch, a.edges + 1, width);
  fill_mask(s, a);
  for (std::int64_t q = 0; q < s.padded_tokens; ++q) s.column[q] = 0;
  for (std::int64_t column = 0; column < a.width; column += width) {
    const auto d_part = [&](std::int64_t part) {
      const std::int64_t offset = part * a.width + column;
      return OutputRows<Real>{a.d_qkv_node + offset, a.d_qkv_edges + offset, 3 * a.width};
    };
    const TokenRows<Real> d_out{a.d_out_node + column, a.d_out_edges + column, a.width};
    head_probabilities(s, a, column);
    transpose_rows(s, qkv_rows(a, 2, column), s.keys);
    score_product(s, d_out, s.keys, s.d_scores);
    copy_rows(s, d_out, s.rows_a);
    weighted_rows<Real>(s, {s.scores, 1, s.padded_tokens}, s.rows_a, Real(1), d_part(2));
    softmax_backward(s);
    copy_rows(s, qkv_rows(a, 1, column), s.rows_a);
    copy_rows(s, qkv_rows(a, 0, column), s.rows_b);
    weighted_rows<Real>(s, {s.d_scores, s.padded_tokens, 1}, s.rows_a, a.scale, d_part(0));
    weighted_rows<Real>(s, {s.d_scores, 1, s.padded_tokens}, s.rows_b, a.scale, d_part(1));
  }
  for (std::int64_t e = 0; e < a.edges; ++e) {
    if (a.weight[e] >= Real(1e-15)) a.d_weight[e] += s.column[e + 1] / a.weight[e];
  }
}

}  // namespace trine::cpu::TRINE_ISA
