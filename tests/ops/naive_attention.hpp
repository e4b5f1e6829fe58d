// Attention as plain loops in double; see naive.hpp for what `magnitude` means.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/naive.hpp"

namespace trine::test::naive {

struct AttentionInputs {
  std::vector<std::int64_t> offsets;
  std::int64_t heads = 1;
  double temperature = 1;
  double least_weight = 1e-15;  ///< in the precision under test
  Table weight;                 ///< (1, E)
  Table qkv;                    ///< (N + E, 3C)
  Table d_out;                  ///< (N + E, C)
  Table d_weight;               ///< (1, E) what the gradient is added to

  std::int64_t atoms() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t edges() const { return weight.cols; }
  std::int64_t width() const { return qkv.cols / 3; }
  /// Tokens of atom i: rows of qkv, the node first.
  std::vector<std::int64_t> rows_of(std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    std::vector<std::int64_t> rows{i};
    for (std::int64_t e = offsets[k]; e < offsets[k + 1]; ++e) {
      rows.push_back(atoms() + e - offsets[0]);
    }
    return rows;
  }
  double weight_of(std::int64_t row) const { return row < atoms() ? 1 : weight(0, row - atoms()); }
};

/// One head of one atom.
struct Head {
  const AttentionInputs& in;
  std::vector<std::int64_t> rows;
  std::int64_t first;  ///< column
  std::int64_t width;
  double scale;
  Table probability;              ///< (query, key)
  std::vector<double> row_error;  ///< per query: how far errors of the scores are magnified

  Head(const AttentionInputs& in_, std::int64_t atom, std::int64_t head)
      : in(in_),
        rows(in.rows_of(atom)),
        width(in.width() / in.heads),
        scale(1 / (std::sqrt(static_cast<double>(width)) * in.temperature)) {
    first = head * width;
    probability = Table(tokens(), tokens());
    for (std::int64_t p = 0; p < tokens(); ++p) fill_row(p);
  }

  std::int64_t tokens() const { return static_cast<std::int64_t>(rows.size()); }
  std::int64_t row(std::int64_t token) const { return rows[static_cast<std::size_t>(token)]; }
  double q(std::int64_t t, std::int64_t c) const { return in.qkv(row(t), first + c); }
  double k(std::int64_t t, std::int64_t c) const { return in.qkv(row(t), in.width() + first + c); }
  double v(std::int64_t t, std::int64_t c) const {
    return in.qkv(row(t), 2 * in.width() + first + c);
  }
  double d_out(std::int64_t t, std::int64_t c) const { return in.d_out(row(t), first + c); }

 private:
  void fill_row(std::int64_t p) {
    std::vector<double> score;
    double size = 0, total = 0;
    for (std::int64_t t = 0; t < tokens(); ++t) {
      const double mask = std::log(std::max(in.weight_of(row(t)), in.least_weight));
      double dot = 0, dot_size = 0;
      for (std::int64_t c = 0; c < width; ++c) {
        dot += q(p, c) * k(t, c);
        dot_size += std::abs(q(p, c) * k(t, c));
      }
      score.push_back(scale * dot + mask);
      size = std::max(size, scale * dot_size + std::abs(mask));
    }
    const double top = *std::max_element(score.begin(), score.end());
    for (double& s : score) total += s = std::exp(s - top);
    for (std::int64_t t = 0; t < tokens(); ++t) {
      probability(p, t) = score[static_cast<std::size_t>(t)] / total;
    }
    row_error.push_back(2 * size + 2);
  }
};

inline Estimate attention(const AttentionInputs& in) {
  Estimate out(in.qkv.rows, in.width());
  for (std::int64_t i = 0; i < in.atoms(); ++i) {
    for (std::int64_t m = 0; m < in.heads; ++m) {
      const Head h(in, i, m);
      for (std::int64_t p = 0; p < h.tokens(); ++p) {
        for (std::int64_t c = 0; c < h.width; ++c) {
          const std::int64_t r = h.row(p), column = h.first + c;
          for (std::int64_t t = 0; t < h.tokens(); ++t) {
            const double term = h.probability(p, t) * h.v(t, c);
            out.value(r, column) += term;
            out.magnitude(r, column) += h.row_error[static_cast<std::size_t>(p)] * std::abs(term);
          }
        }
      }
    }
  }
  return out;
}

struct AttentionGradient {
  Estimate d_qkv, d_weight;
};

/// dL/dL_pq of one head, before the scale.
inline Estimate score_gradient(const Head& h) {
  Estimate d(h.tokens(), h.tokens());
  for (std::int64_t p = 0; p < h.tokens(); ++p) {
    double mean = 0, mean_size = 0;
    for (std::int64_t t = 0; t < h.tokens(); ++t) {
      for (std::int64_t c = 0; c < h.width; ++c) {
        d.value(p, t) += h.d_out(p, c) * h.v(t, c);
        d.magnitude(p, t) += std::abs(h.d_out(p, c) * h.v(t, c));
      }
      mean += h.probability(p, t) * d.value(p, t);
      mean_size += h.probability(p, t) * d.magnitude(p, t);
    }
    for (std::int64_t t = 0; t < h.tokens(); ++t) {
      d.value(p, t) = h.probability(p, t) * (d.value(p, t) - mean);
      d.magnitude(p, t) = h.row_error[static_cast<std::size_t>(p)] * h.probability(p, t) *
                          (d.magnitude(p, t) + mean_size);
    }
  }
  return d;
}

/// Adds what query p and key t of one head contribute.
inline void add_pair(const Head& h, const Estimate& d, std::int64_t p, std::int64_t t,
                     AttentionGradient& g) {
  const auto add = [](Estimate& e, std::int64_t r, std::int64_t c, double value, double size) {
    e.value(r, c) += value;
    e.magnitude(r, c) += std::abs(size);
  };
  const std::int64_t width = h.in.width(), rp = h.row(p), rt = h.row(t);
  const double dl = h.scale * d.value(p, t), dl_size = h.scale * d.magnitude(p, t);
  const double probability = h.probability(p, t);
  for (std::int64_t c = 0; c < h.width; ++c) {
    const std::int64_t column = h.first + c;
    add(g.d_qkv, rp, column, dl * h.k(t, c), dl_size * h.k(t, c));
    add(g.d_qkv, rt, width + column, dl * h.q(p, c), dl_size * h.q(p, c));
    add(g.d_qkv, rt, 2 * width + column, probability * h.d_out(p, c),
        h.row_error[static_cast<std::size_t>(p)] * probability * h.d_out(p, c));
  }
  const double f = h.in.weight_of(rt);
  if (t > 0 && f >= h.in.least_weight) {
    add(g.d_weight, 0, rt - h.in.atoms(), d.value(p, t) / f, d.magnitude(p, t) / f);
  }
}

inline AttentionGradient attention_backward(const AttentionInputs& in) {
  AttentionGradient g{Estimate(in.qkv.rows, in.qkv.cols), Estimate(1, in.edges())};
  for (std::int64_t i = 0; i < in.atoms(); ++i) {
    for (std::int64_t m = 0; m < in.heads; ++m) {
      const Head h(in, i, m);
      const Estimate d = score_gradient(h);
      for (std::int64_t p = 0; p < h.tokens(); ++p) {
        for (std::int64_t t = 0; t < h.tokens(); ++t) add_pair(h, d, p, t, g);
      }
    }
  }
  g.d_weight = added_to(in.d_weight, g.d_weight);
  return g;
}

}  // namespace trine::test::naive
