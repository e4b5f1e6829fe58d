#include "validate/replicas.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace trine::validation {
namespace {

class Normal {
 public:
  explicit Normal(std::uint64_t seed) : bits_(seed) {}

  double operator()() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    second_ = radius * std::sin(angle);
    has_second_ = true;
    return radius * std::cos(angle);
  }

 private:
  /// In (0, 1): never 0, whose logarithm is infinite.
  double uniform() { return (static_cast<double>(bits_() >> 11) + 0.5) * 0x1p-53; }

  std::mt19937_64 bits_;
  bool has_second_ = false;
  double second_ = 0;
};

/// What else may stand in the column is for those to refuse who move atoms.
bool is_held(const Structure& structure, std::size_t atom) {
  for (const ExtraColumn& column : structure.extra_columns) {
    if (column.name != "move_mask" || column.width != 1) continue;
    return column.tokens.at(atom) == "F" || column.tokens.at(atom) == "0";
  }
  return false;
}

}  // namespace

Structure rattled(const Structure& structure, double sigma, std::uint64_t seed) {
  Structure moved = structure;
  Normal normal(seed);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const bool held = is_held(structure, i);
    for (double& x : moved.positions[i]) {
      const double deviate = normal();
      if (!held) x += sigma * deviate;
    }
  }
  return moved;
}

bool is_stalled(std::span<const double> history) {
  if (history.size() < 8) return false;
  const auto last = history.subspan(history.size() - history.size() / 4);
  const auto before = history.subspan(history.size() - 2 * last.size(), last.size());
  return !(*std::min_element(last.begin(), last.end()) <
           *std::min_element(before.begin(), before.end()) / 2);
}

}  // namespace trine::validation
