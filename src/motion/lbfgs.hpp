// Limited-memory BFGS: the two loops over what steps and changes of the gradient have told
// (Nocedal, Math. Comput. 35 (1980) 773), every system with a history of its own.
#pragma once

#include <cmath>

#include "motion/launch.hpp"

namespace trine::motion {

/// Where the variables are. A row has its place and force before the last step, the vector q that
/// the loops work on, and the history's s (change of places) and y (change of gradients); a system
/// has the number of steps and 1/(y.s) of every entry. An entry is overwritten by the `memory`th
/// after it.
struct LbfgsHistory {
  Atoms rows;
  std::int64_t memory;

  static constexpr std::int64_t row_values(std::int64_t memory) { return 9 + 6 * memory; }
  static constexpr std::int64_t system_values(std::int64_t memory) { return 1 + memory; }

  TRINE_HOST_DEVICE double* row(std::int64_t i) const {
    return rows.atom_variables + i * rows.atom_values;
  }
  TRINE_HOST_DEVICE double* old_place(std::int64_t i) const { return row(i); }
  TRINE_HOST_DEVICE double* old_force(std::int64_t i) const { return row(i) + 3; }
  TRINE_HOST_DEVICE double* q(std::int64_t i) const { return row(i) + 6; }
  TRINE_HOST_DEVICE double* s(std::int64_t i, std::int64_t entry) const {
    return row(i) + 9 + 6 * entry;
  }
  TRINE_HOST_DEVICE double* y(std::int64_t i, std::int64_t entry) const { return s(i, entry) + 3; }
  TRINE_HOST_DEVICE double& steps(std::int64_t b) const {
    return rows.variables[b * rows.system_values];
  }
  TRINE_HOST_DEVICE double& inverse_of_ys(std::int64_t b, std::int64_t entry) const {
    return rows.variables[b * rows.system_values + 1 + entry];
  }
  /// The entry of `age` steps ago (0: the newest), or -1 if a system has none.
  TRINE_HOST_DEVICE std::int64_t entry(std::int64_t b, std::int64_t age) const {
    const auto pairs = static_cast<std::int64_t>(steps(b));
    return age >= 0 && age < memory && age < pairs ? (pairs - 1 - age) % memory : -1;
  }
};

TRINE_HOST_DEVICE inline double dot3(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Notes the newest s and y of one row and begins with q = f; gives y.s. To be called when `steps`
/// counts the step that has been made.
struct LbfgsRemember {
  static constexpr int kCount = 1;
  LbfgsHistory h;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    const double* x = h.rows.position + 3 * i;
    const double* f = h.rows.force + 3 * i;
    const std::int64_t newest = h.entry(h.rows.system[i], 0);
    double ys = 0;
    if (newest >= 0) {
      double* s = h.s(i, newest);
      double* y = h.y(i, newest);
      for (int c = 0; c < 3; ++c) {
        s[c] = x[c] - h.old_place(i)[c];
        y[c] = h.old_force(i)[c] - f[c];
      }
      ys = dot3(y, s);
    }
    for (int c = 0; c < 3; ++c) {
      h.old_place(i)[c] = x[c];
      h.old_force(i)[c] = f[c];
      h.q(i)[c] = f[c];
    }
    return {{ys}};
  }
};

/// 1/(y.s) of a system's newest entry; 0, which leaves it without effect, where the curvature along
/// the step was not positive.
struct LbfgsCurvature {
  LbfgsHistory h;
  const double* ys;  ///< [B]

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    const std::int64_t newest = h.entry(b, 0);
    if (newest >= 0) h.inverse_of_ys(b, newest) = ys[b] > 0 ? 1 / ys[b] : 0;
  }
};

/// The first loop, from the newest entry to the oldest: q -= a y of the entry before, a = s.q /
/// y.s; then gives s.q of this entry.
struct LbfgsBackward {
  static constexpr int kCount = 1;
  LbfgsHistory h;
  std::int64_t age;
  std::int64_t systems;
  const double* sq;  ///< (memory, B) s.q, by age

  TRINE_HOST_DEVICE double a(std::int64_t b, std::int64_t its_age, std::int64_t entry) const {
    return h.inverse_of_ys(b, entry) * sq[its_age * systems + b];
  }

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    const std::int64_t b = h.rows.system[i], before = h.entry(b, age - 1), now = h.entry(b, age);
    double* q = h.q(i);
    if (before >= 0) {
      const double factor = a(b, age - 1, before);
      const double* y = h.y(i, before);
      for (int c = 0; c < 3; ++c) q[c] -= factor * y[c];
    }
    return {{now < 0 ? 0 : dot3(h.s(i, now), q)}};
  }
};

/// Times the inverse of the initial curvature.
struct LbfgsScale {
  LbfgsHistory h;
  double factor;

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    for (int c = 0; c < 3; ++c) h.q(i)[c] *= factor;
  }
};

/// The second loop, from the oldest entry to the newest: q += (a - y.q / y.s) s of the entry
/// before; then gives y.q of this entry. `age` -1 only does the former.
struct LbfgsForward {
  static constexpr int kCount = 1;
  LbfgsBackward backward;
  const double* yq;  ///< (memory, B) y.q, by age

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    const LbfgsHistory& h = backward.h;
    const std::int64_t age = backward.age, b = h.rows.system[i];
    const std::int64_t before = h.entry(b, age + 1), now = h.entry(b, age);
    double* q = h.q(i);
    if (before >= 0) {
      const double factor = backward.a(b, age + 1, before) -
                            h.inverse_of_ys(b, before) * yq[(age + 1) * backward.systems + b];
      const double* s = h.s(i, before);
      for (int c = 0; c < 3; ++c) q[c] += factor * s[c];
    }
    return {{now < 0 ? 0 : dot3(h.y(i, now), q)}};
  }
};

/// The length of one row's step.
struct LbfgsLength {
  static constexpr int kCount = 1;
  LbfgsHistory h;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t i) const {
    return {{std::sqrt(dot3(h.q(i), h.q(i)))}};
  }
};

/// Moves one row, none further than `max_step`.
struct LbfgsMove {
  LbfgsHistory h;
  double max_step;
  const double* longest;  ///< [B]

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    const double length = longest[h.rows.system[i]];
    const double factor = length > max_step ? max_step / length : 1;
    for (int c = 0; c < 3; ++c) h.rows.position[3 * i + c] += factor * h.q(i)[c];
  }
};

/// A step more, of one system.
struct LbfgsCount {
  LbfgsHistory h;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const { h.steps(b) += 1; }
};

}  // namespace trine::motion
