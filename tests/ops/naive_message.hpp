// Edge embedding, exchange of messages and readout as plain loops in double; see naive.hpp for what
// `magnitude` means.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/naive.hpp"

namespace trine::test::naive {

inline double embedded_distance(const Table& vector, std::int64_t e) {
  double square = 1e-15;
  for (std::int64_t k = 0; k < 3; ++k) square += vector(e, k) * vector(e, k);
  return std::sqrt(square);
}

struct EmbeddingInputs {
  Table vector;  ///< (E, 3)
  std::vector<std::int32_t> species;
  Table weight;    ///< (4, C)
  Table table;     ///< (species, C)
  Table d_pre;     ///< (E, C)
  Table d_vector;  ///< (E, 3) what the gradient is added to
};

inline Estimate edge_embedding(const EmbeddingInputs& in) {
  Estimate pre(in.vector.rows, in.table.cols);
  for (std::int64_t e = 0; e < in.vector.rows; ++e) {
    for (std::int64_t c = 0; c < in.table.cols; ++c) {
      double total = in.table(in.species[static_cast<std::size_t>(e)], c), size = std::abs(total);
      for (std::int64_t k = 0; k < 4; ++k) {
        const double term =
            in.weight(k, c) * (k < 3 ? in.vector(e, k) : embedded_distance(in.vector, e));
        total += term;
        size += std::abs(term);
      }
      pre.value(e, c) = total;
      pre.magnitude(e, c) = size;
    }
  }
  return pre;
}

inline Estimate silu(Estimate z) {
  for (std::size_t i = 0; i < z.value.values.size(); ++i) {
    double& value = z.value.values[i];
    double& size = z.magnitude.values[i];
    size = 1.1 * size + std::abs(value);
    value *= sigmoid(value);
  }
  return z;
}

/// d_vector + gradient through [v, d].
inline Estimate edge_embedding_backward(const EmbeddingInputs& in) {
  Estimate d(in.vector.rows, 3);
  for (std::int64_t e = 0; e < in.vector.rows; ++e) {
    for (std::int64_t c = 0; c < in.weight.cols; ++c) {
      const double dz = in.d_pre(e, c), size = std::abs(dz);
      for (std::int64_t k = 0; k < 3; ++k) {
        const double unit = in.vector(e, k) / embedded_distance(in.vector, e);
        d.value(e, k) += dz * (in.weight(k, c) + in.weight(3, c) * unit);
        d.magnitude(e, k) += size * (std::abs(in.weight(k, c)) + std::abs(in.weight(3, c) * unit));
      }
    }
  }
  return added_to(in.d_vector, d);
}

/// [message_e ; message_rev(e)] of every edge.
inline Table joined(const Table& message, const std::vector<std::int64_t>& reverse) {
  Table both(message.rows, 2 * message.cols);
  for (std::int64_t e = 0; e < message.rows; ++e) {
    for (std::int64_t c = 0; c < message.cols; ++c) {
      both(e, c) = message(e, c);
      both(e, message.cols + c) = message(reverse[static_cast<std::size_t>(e)], c);
    }
  }
  return both;
}

/// a x_r + b y_index(r)
inline Estimate sum_of_rows(double a, const Table& x, double b, const Table& y,
                            const std::vector<std::int64_t>& index) {
  Estimate sum(x.rows, x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const double first = a * x(r, c), second = b * y(index[static_cast<std::size_t>(r)], c);
      sum.value(r, c) = first + second;
      sum.magnitude(r, c) = std::abs(first) + std::abs(second);
    }
  }
  return sum;
}

struct ReadoutInputs {
  std::vector<std::int64_t> offsets;
  Table node_weight, edge_weight;  ///< (o, h)
  Table node_bias, edge_bias;      ///< (1, o)
  Table weight;                    ///< (1, E)
  Table node, edge;                ///< (N, h), (E, h)
  Table node_pre, edge_pre;        ///< what SiLU made node and edge of, for the gradient
  Table prediction;                ///< (N, o) what the result is added to
  double seed = 1;
  Table d_weight;  ///< (1, E) what the gradient is added to

  std::int64_t atoms() const { return node.rows; }
  /// Edges of atom i, as rows of `edge`.
  std::pair<std::int64_t, std::int64_t> edges_of(std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    return {offsets[k] - offsets[0], offsets[k + 1] - offsets[0]};
  }
};

inline Estimate readout(const ReadoutInputs& in) {
  Estimate p(in.atoms(), in.node_weight.rows);
  for (std::int64_t i = 0; i < in.atoms(); ++i) {
    for (std::int64_t o = 0; o < p.value.cols; ++o) {
      const auto add = [&](double term) {
        p.value(i, o) += term;
        p.magnitude(i, o) += std::abs(term);
      };
      add(in.node_bias(0, o));
      for (std::int64_t c = 0; c < in.node.cols; ++c) add(in.node_weight(o, c) * in.node(i, c));
      const auto [first, last] = in.edges_of(i);
      for (std::int64_t e = first; e < last; ++e) {
        const double f = in.weight(0, e);
        add(f * in.edge_bias(0, o));
        for (std::int64_t c = 0; c < in.edge.cols; ++c) {
          add(f * in.edge_weight(o, c) * in.edge(e, c));
        }
      }
    }
  }
  return added_to(in.prediction, p);
}

/// [y_n ; sum_j f_ij y_e]
inline Estimate features(const ReadoutInputs& in) {
  const std::int64_t width = in.node.cols;
  Estimate f(in.atoms(), 2 * width);
  for (std::int64_t i = 0; i < in.atoms(); ++i) {
    const auto [first, last] = in.edges_of(i);
    for (std::int64_t c = 0; c < width; ++c) {
      f.value(i, c) = in.node(i, c);
      for (std::int64_t e = first; e < last; ++e) {
        f.value(i, width + c) += in.weight(0, e) * in.edge(e, c);
        f.magnitude(i, width + c) += std::abs(in.weight(0, e) * in.edge(e, c));
      }
    }
  }
  return f;
}

struct ReadoutGradient {
  Estimate d_node, d_edge, d_weight;
};

inline ReadoutGradient readout_backward(const ReadoutInputs& in) {
  const std::int64_t width = in.node.cols, edges = in.edge.rows;
  ReadoutGradient g{Estimate(in.atoms(), width), Estimate(edges, width), Estimate(1, edges)};
  const auto through_silu = [](double dy, double z, Estimate& d, std::int64_t r, std::int64_t c) {
    const double s = sigmoid(z);
    d.value(r, c) = dy * s * (1 + z * (1 - s));
    d.magnitude(r, c) = std::abs(dy) * s * (1 + std::abs(z));  // 1 - s has no more digits than 1
  };
  for (std::int64_t c = 0; c < width; ++c) {
    for (std::int64_t i = 0; i < in.atoms(); ++i) {
      through_silu(in.seed * in.node_weight(0, c), in.node_pre(i, c), g.d_node, i, c);
    }
    for (std::int64_t e = 0; e < edges; ++e) {
      through_silu(in.seed * in.weight(0, e) * in.edge_weight(0, c), in.edge_pre(e, c), g.d_edge, e,
                   c);
    }
  }
  for (std::int64_t e = 0; e < edges; ++e) {
    double total = in.edge_bias(0, 0), size = std::abs(total);
    for (std::int64_t c = 0; c < width; ++c) {
      total += in.edge_weight(0, c) * in.edge(e, c);
      size += std::abs(in.edge_weight(0, c) * in.edge(e, c));
    }
    g.d_weight.value(0, e) = in.seed * total;
    g.d_weight.magnitude(0, e) = std::abs(in.seed) * size;
  }
  g.d_weight = added_to(in.d_weight, g.d_weight);
  return g;
}

}  // namespace trine::test::naive
