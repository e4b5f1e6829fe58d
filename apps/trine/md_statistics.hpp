// What is known of a run as a whole: means, and how far the conserved quantity has drifted.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "trine/dynamics.hpp"

namespace trine::app {

/// A mean and the sum of squared deviations from it (updated as Welford 1962).
struct Moments {
  double mean = 0;
  double squares = 0;

  /// The sample number `count`, from 1.
  void add(double value, std::int64_t count);
  double deviation(std::int64_t count) const;
};

/// Of one system, from samples at equal intervals.
class MdStatistics {
 public:
  MdStatistics() = default;
  MdStatistics(std::int64_t atoms, double first_conserved)
      : atoms_(atoms), first_conserved_(first_conserved) {}

  /// How far the conserved quantity is from where it began, meV/atom.
  double drift(const Observables& now) const;
  void add(const Observables& now);

  std::int64_t atoms() const { return atoms_; }
  std::int64_t samples() const { return samples_; }
  const Moments& temperature() const { return temperature_; }  ///< K
  const Moments& pressure() const { return pressure_; }        ///< GPa
  const Moments& volume() const { return volume_; }            ///< Angstrom^3
  const Moments& potential() const { return potential_; }      ///< eV
  double drift_slope() const;        ///< meV/atom/ps, of the line with the least squares
  double drift_fluctuation() const;  ///< meV/atom, root mean square distance from that line

  /// All of it, so that `from_json` gives the same object to the last bit.
  nlohmann::ordered_json to_json() const;
  static MdStatistics from_json(const nlohmann::ordered_json& json);

 private:
  template <class Self, class Visit>
  static void visit(Self& self, const Visit& visit);

  std::int64_t atoms_ = 0;
  double first_conserved_ = 0;  ///< eV
  std::int64_t samples_ = 0;
  Moments time_;   ///< ps
  Moments drift_;  ///< meV/atom
  double time_drift_ = 0;
  Moments temperature_, pressure_, volume_, potential_;
};

/// The numbers of a log's line, with their units in the names.
nlohmann::ordered_json observables_json(const Observables& now, double drift);

/// {"samples", means and deviations, "drift_slope_mev_per_atom_ps", ...}
nlohmann::ordered_json statistics_json(const MdStatistics& statistics, bool has_volume);

}  // namespace trine::app
