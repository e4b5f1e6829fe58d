// The network operations as plain loops in double, straight from their formulas, each with the size
// of what it is made of: rounding errors of a correct implementation are small multiples of the
// machine epsilon times `magnitude`.
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/kinds.hpp"
#include "ops/linear.hpp"
#include "ops/table.hpp"

namespace trine::test {

struct Estimate {
  Table value, magnitude;

  Estimate() = default;
  Estimate(std::int64_t rows, std::int64_t cols) : value(rows, cols), magnitude(rows, cols) {}
};

namespace naive {

/// The same result added to what was there.
inline Estimate added_to(const Table& before, Estimate e) {
  for (std::size_t i = 0; i < e.value.values.size(); ++i) {
    e.value.values[i] += before.values[i];
    e.magnitude.values[i] += std::abs(before.values[i]);
  }
  return e;
}

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// z = x W^T + b + addend. Empty tables are left out.
inline Estimate product(const Table& x, const Table& weight, const Table& bias,
                        const Table& addend) {
  Estimate z(x.rows, weight.rows);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    for (std::int64_t o = 0; o < weight.rows; ++o) {
      double total = bias.empty() ? 0 : bias(0, o);
      double size = std::abs(total);
      if (!addend.empty()) {
        total += addend(r, o);
        size += std::abs(addend(r, o));
      }
      const double* a = &x.values[static_cast<std::size_t>(r * x.cols)];
      const double* b = &weight.values[static_cast<std::size_t>(o * x.cols)];
      for (std::int64_t k = 0; k < x.cols; ++k) {
        total += a[k] * b[k];
        size += std::abs(a[k] * b[k]);
      }
      z.value(r, o) = total;
      z.magnitude(r, o) = size;
    }
  }
  return z;
}

struct LinearInputs {
  LinearActivation activation = LinearActivation::none;
  Table weight, bias, x, addend, residual[2];
  Table dy, dx;  ///< gradient that comes in; what the result is added to

  std::int64_t pre() const { return weight.rows; }
  std::int64_t out() const {
    return activation == LinearActivation::swiglu ? weight.rows / 2 : weight.rows;
  }
};

inline Estimate linear(const LinearInputs& in) {
  const Estimate z = product(in.x, in.weight, in.bias, in.addend);
  const std::int64_t width = in.out();
  Estimate y(in.x.rows, width);
  for (std::int64_t r = 0; r < in.x.rows; ++r) {
    for (std::int64_t c = 0; c < width; ++c) {
      double value = z.value(r, c), size = z.magnitude(r, c);
      if (in.activation == LinearActivation::silu) {
        size = 1.1 * size + std::abs(value);  // |silu'| <= 1.1
        value *= sigmoid(value);
      }
      if (in.activation == LinearActivation::swiglu) {
        const double gate = z.value(r, width + c);
        size += std::abs(value) * (1 + 0.25 * z.magnitude(r, width + c));  // |sigmoid'| <= 1/4
        value *= sigmoid(gate);
      }
      for (const Table& residual : in.residual) {
        if (residual.empty()) continue;
        value += residual(r, c);
        size += std::abs(residual(r, c));
      }
      y.value(r, c) = value;
      y.magnitude(r, c) = size;
    }
  }
  return y;
}

/// dy times the activation's derivative at z.
inline Estimate through_activation(const LinearInputs& in) {
  const Estimate z = product(in.x, in.weight, in.bias, in.addend);
  Estimate dz(in.x.rows, in.pre());
  const std::int64_t width = in.out();
  for (std::int64_t r = 0; r < in.x.rows; ++r) {
    for (std::int64_t c = 0; c < width; ++c) {
      const double dy = in.dy(r, c), value = z.value(r, c), size = z.magnitude(r, c);
      dz.value(r, c) = dy;
      dz.magnitude(r, c) = std::abs(dy);
      if (in.activation == LinearActivation::silu) {
        const double s = sigmoid(value);
        dz.value(r, c) *= s * (1 + value * (1 - s));
        dz.magnitude(r, c) *= 1.5 + 0.5 * size;  // |silu''| <= 1/2
      }
      if (in.activation == LinearActivation::swiglu) {
        const double s = sigmoid(z.value(r, width + c)), gate_size = z.magnitude(r, width + c);
        dz.value(r, c) *= s;
        dz.magnitude(r, c) *= 1 + 0.25 * gate_size;
        dz.value(r, width + c) = dy * value * s * (1 - s);
        dz.magnitude(r, width + c) = std::abs(dy) * (size + std::abs(value) * (1 + gate_size));
      }
    }
  }
  return dz;
}

/// dz W
inline Estimate linear_backward(const LinearInputs& in) {
  const Estimate dz = through_activation(in);
  Estimate dx(in.x.rows, in.x.cols);
  for (std::int64_t r = 0; r < in.x.rows; ++r) {
    for (std::int64_t o = 0; o < in.pre(); ++o) {
      for (std::int64_t k = 0; k < in.x.cols; ++k) {
        dx.value(r, k) += dz.value(r, o) * in.weight(o, k);
        dx.magnitude(r, k) += dz.magnitude(r, o) * std::abs(in.weight(o, k));
      }
    }
  }
  return dx;
}

struct Norm {
  Normalization kind = Normalization::rms_norm;
  double epsilon = 0;
  Table weight, bias;
};

/// One row, normalised: xh = (x - mean) inverse, with error sizes.
struct NormalisedRow {
  double inverse = 0, inverse_size = 0;  ///< inverse_size: relative
  std::vector<double> xh, xh_size;

  NormalisedRow(const Norm& n, const Table& x, std::int64_t r) {
    const auto width = static_cast<double>(x.cols);
    double mean = 0, mean_size = 0, variance = 0, variance_size = 0;
    if (n.kind == Normalization::layer_norm) {
      for (std::int64_t c = 0; c < x.cols; ++c) {
        mean += x(r, c) / width;
        mean_size += std::abs(x(r, c)) / width;
      }
    }
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const double d = x(r, c) - mean;
      xh.push_back(d);
      xh_size.push_back(std::abs(x(r, c)) + mean_size);
      variance += d * d / width;
      variance_size += std::abs(d) * xh_size.back() / width;
    }
    inverse = 1 / std::sqrt(variance + n.epsilon);
    inverse_size = 1 + variance_size * inverse * inverse;
    for (std::size_t c = 0; c < xh.size(); ++c) {
      xh[c] *= inverse;
      xh_size[c] = inverse * xh_size[c] + std::abs(xh[c]) * inverse_size;
    }
  }
};

inline Estimate norm(const Norm& n, const Table& x) {
  Estimate y(x.rows, x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const NormalisedRow row(n, x, r);
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const double bias = n.bias.empty() ? 0 : n.bias(0, c);
      y.value(r, c) = row.xh[k] * n.weight(0, c) + bias;
      y.magnitude(r, c) = row.xh_size[k] * std::abs(n.weight(0, c)) + std::abs(bias);
    }
  }
  return y;
}

/// inverse (g - mean(g) - xh mean(g xh)), g = dy weight, without mean(g) for RMSNorm.
inline Estimate norm_backward(const Norm& n, const Table& x, const Table& dy) {
  Estimate dx(x.rows, x.cols);
  const auto width = static_cast<double>(x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const NormalisedRow row(n, x, r);
    double g_mean = 0, g_size = 0, gx_mean = 0, gx_size = 0;
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const double g = dy(r, c) * n.weight(0, c);
      gx_mean += g * row.xh[k] / width;
      gx_size += std::abs(g) * (std::abs(row.xh[k]) + row.xh_size[k]) / width;
      if (n.kind == Normalization::rms_norm) continue;
      g_mean += g / width;
      g_size += std::abs(g) / width;
    }
    for (std::int64_t c = 0; c < x.cols; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const double g = dy(r, c) * n.weight(0, c);
      dx.value(r, c) = row.inverse * (g - g_mean - row.xh[k] * gx_mean);
      dx.magnitude(r, c) =
          row.inverse *
          ((1 + row.inverse_size) * (std::abs(g) + g_size + std::abs(row.xh[k]) * gx_size) +
           row.xh_size[k] * std::abs(gx_mean));
    }
  }
  return dx;
}

}  // namespace naive
}  // namespace trine::test
