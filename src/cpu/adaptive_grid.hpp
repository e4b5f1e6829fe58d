// Adaptive radius of one atom by the "grid" method (pet-spec 2.4).
#pragma once

#include <cstdint>
#include <vector>

#include "ops/edges.hpp"

namespace trine::cpu {

/// Probe radii, a quarter of the taper apart, from 0.5 Angstrom to below the cutoff. Arrays over
/// probes have kMargin unused entries on either side, so that a pair at any distance has its four
/// probes in the array.
struct Probes {
  static constexpr std::int64_t kMargin = 6;

  std::int64_t count;
  double width;  ///< of the taper, Angstrom

  /// Throws `Error(bad_input)` when the cutoff leaves no room for a probe.
  explicit Probes(const AdaptiveCutoffArgs<MemSpace::host>& args);

  double radius(std::int64_t p) const { return 0.5 + static_cast<double>(p) * (width / 4); }
  std::int64_t array_size() const { return count + 2 * kMargin; }
};

/// The bump step of every pair of a row at the only probes where it is neither 0 nor 1: the four
/// whose radius lies between d and d + width.
class ProbeTaper {
 public:
  void evaluate(const Probes& probes, Vector<const double> distance);

  /// Place in an array over probes of the first of the four probes of pair k.
  std::int64_t place(std::int64_t k) const { return place_[static_cast<std::size_t>(k)]; }
  const double* values(std::int64_t k) const { return value_.data() + 4 * k; }
  /// db/du
  const double* slopes(std::int64_t k) const { return slope_.data() + 4 * k; }

 private:
  std::vector<std::int64_t> place_;
  std::vector<double> step_, value_, slope_;
};

/// An open interval of distances, Angstrom; empty by default.
struct DistanceRange {
  double low = 0, high = 0;
  bool holds(double d) const { return low < d && d < high; }
};

/// Works on rows of the list, one atom at a time; one object per thread.
class GridRow {
 public:
  /// R, the mean of the probe radii with the weights of pet-spec 2.4 (maximum taken per atom).
  double radius(const Probes& probes, double num_neighbors, Vector<const double> distance);

  /// out[kMargin + p] = d_radius dR/dn_p, with n_p the number of neighbours that probe p counts;
  /// zero in the margins and at probes whose weight is too small to matter. Returns the distances
  /// of the pairs that can have a gradient.
  DistanceRange gradient(const Probes& probes, double num_neighbors, Vector<const double> distance,
                         double d_radius, Vector<double> out);

 private:
  void count(const Probes& probes, Vector<const double> distance);
  void weigh(double num_neighbors);
  double mean(const Probes& probes) const;

  ProbeTaper taper_;
  std::vector<double> partial_;  ///< array over probes: terms inside the taper
  std::vector<double> whole_;    ///< array over probes: pairs that count 1 from here on
  std::vector<double> excess_;   ///< n_p, then q_p
  std::vector<double> slope_;    ///< g_p, central differences of q
  std::vector<double> spread_;   ///< s_p
  std::vector<double> weight_;   ///< omega_p
};

}  // namespace trine::cpu
