// Stochastic cell rescaling (Bernetti, Bussi, J. Chem. Phys. 153, 114107 (2020); of all of the
// cell: Del Tatto, Raiteri, Bernetti, Bussi, Appl. Sci. 12, 1139 (2022)). A step strains the cell
// by a symmetric tensor e, so that nothing is turned round but by what is of second order:
//   e = -M (V (P0 + stress) - k T) dt + sqrt(2 k T M dt) R,
// positions and cell vectors are multiplied by exp(e), velocities by exp(-e). The stress (tension
// positive) has the atoms' motion in it; R has a standard normal number per direction of strain. It
// leaves the density V exp(-(U + K + P0 V) / k T) alone, with respect to the invariant measure of
// cells of one volume, and so volumes the density V^(n/3) exp(-(U + P0 V) / k T), n degrees of
// freedom.
//
// M = compressibility / (3 V0 relaxation time) with the volume V0 at the beginning of the run,
// where the papers have the present one: the density is the same, and noise that does not depend on
// the volume makes the conserved quantity one of higher order (which is why the first paper changes
// to the square root of the volume).
//
// Tensors are six numbers in which a sum of squares is the square of the norm: xx, yy, zz, and
// sqrt(2) times yz, xz, xy.
#pragma once

#include "motion/launch.hpp"
#include "motion/matrix3.hpp"
#include "motion/random.hpp"
#include "motion/units.hpp"

namespace trine::motion {

struct Barostat {
  bool isotropic;      ///< strain is a multiple of the unit tensor
  double temperature;  ///< K
  double pressure;     ///< eV/Angstrom^3
  double pace;         ///< compressibility / (3 relaxation time), Angstrom^3/eV/fs
  double time_step;    ///< fs
  int steps;           ///< that one stress serves
};

/// Variables of a system beside the thermostat's one.
struct CellVariables {
  double heat;       ///< the thermostat's, eV
  double work;       ///< eV, see CellEnergy
  double mobility;   ///< M, 1/(eV fs)
  double rate[6];    ///< 1/fs, when the stress was known
  double strain[6];  ///< since then: the sum of the steps' strains
};

inline constexpr std::int64_t kCellVariables = sizeof(CellVariables) / sizeof(double);

TRINE_HOST_DEVICE inline CellVariables& cell_variables(const Atoms& a, std::int64_t b) {
  return reinterpret_cast<CellVariables*>(a.variables)[b];
}

TRINE_HOST_DEVICE inline double volume_of(const Atoms& a, std::int64_t b) {
  const double* h = a.cell + 9 * b;
  const double volume =
      determinant(Matrix3{{{h[0], h[1], h[2]}, {h[3], h[4], h[5]}, {h[6], h[7], h[8]}}});
  return volume < 0 ? -volume : volume;
}

/// Takes a strain's part that changes the shape away, if it has to stay.
TRINE_HOST_DEVICE inline void keep_shape(const Barostat& barostat, double* strain) {
  if (!barostat.isotropic) return;
  const double mean = (strain[0] + strain[1] + strain[2]) / 3;
  for (int k = 0; k < 6; ++k) strain[k] = k < 3 ? mean : 0;
}

/// Of a run that begins, for one system.
struct SetMobility {
  Atoms a;
  Barostat barostat;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    cell_variables(a, b).mobility = barostat.pace / volume_of(a, b);
  }
};

/// rate = -M (V (P0 + stress) - k T), 1/fs, from strain gradient and m v v^T (`kinetic`, six
/// numbers as KineticTensor gives them).
TRINE_HOST_DEVICE inline void strain_rate(const Atoms& a, const Barostat& barostat,
                                          const double* kinetic, std::int64_t b, double* rate) {
  const double kRoot2 = 1.41421356237309505;
  const double* g = a.strain_gradient + 9 * b;
  const double gradient[] = {
      g[0], g[4], g[8], (g[5] + g[7]) / 2, (g[2] + g[6]) / 2, (g[1] + g[3]) / 2};
  const double outside = barostat.pressure * volume_of(a, b) - kBoltzmann * barostat.temperature;
  const double mobility = cell_variables(a, b).mobility;
  for (int k = 0; k < 6; ++k) {
    const double inside = gradient[k] - kinetic[k];
    rate[k] = -mobility * (k < 3 ? inside + outside : kRoot2 * inside);
  }
  keep_shape(barostat, rate);
}

/// For one system where the stress is known and the next strains begin.
struct BeginStrain {
  Atoms a;
  Barostat barostat;
  const double* kinetic;  ///< (B, 6) sums of KineticTensor

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    CellVariables& v = cell_variables(a, b);
    strain_rate(a, barostat, kinetic + 6 * b, b, v.rate);
    for (double& e : v.strain) e = 0;
  }
};

/// y = m y
TRINE_HOST_DEVICE inline void transform(const Matrix3& m, double* y) {
  const double x[] = {y[0], y[1], y[2]};
  for (int r = 0; r < 3; ++r) y[r] = m.at[r][0] * x[0] + m.at[r][1] * x[1] + m.at[r][2] * x[2];
}

/// What a strain multiplies by.
struct StrainFactors {
  Matrix3 positions, velocities;
};

/// Draws the strain of a time step for one system and strains its cell.
struct StrainCell {
  Atoms a;
  Barostat barostat;
  StrainFactors* factors;  ///< [B] out

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    CellVariables& v = cell_variables(a, b);
    const std::uint64_t stream = random_stream(RandomUse::barostat, *a.step);
    const Normals first = normal_numbers(a.seed[b], stream, 0),
                  second = normal_numbers(a.seed[b], stream, 1);
    const double time = barostat.time_step;
    const double width = std::sqrt(2 * kBoltzmann * barostat.temperature * v.mobility * time);
    double strain[6];
    for (int k = 0; k < 6; ++k) strain[k] = width * (k < 4 ? first.value[k] : second.value[k - 4]);
    keep_shape(barostat, strain);
    for (int k = 0; k < 6; ++k) {
      strain[k] += v.rate[k] * time;
      v.strain[k] += strain[k];
    }
    apply(strain, factors[b], a.cell + 9 * b);
  }

 private:
  TRINE_HOST_DEVICE static void apply(const double* strain, StrainFactors& factors, double* cell) {
    const double kHalfRoot = 0.70710678118654752;
    const double yz = strain[3] * kHalfRoot, xz = strain[4] * kHalfRoot, xy = strain[5] * kHalfRoot;
    factors.positions =
        exponential(Matrix3{{{strain[0], xy, xz}, {xy, strain[1], yz}, {xz, yz, strain[2]}}});
    factors.velocities = exponential(
        Matrix3{{{-strain[0], -xy, -xz}, {-xy, -strain[1], -yz}, {-xz, -yz, -strain[2]}}});
    for (int row = 0; row < 3; ++row) transform(factors.positions, cell + 3 * row);
  }
};

/// Position and velocity of one atom follow the cell.
struct StrainAtom {
  Atoms a;
  const StrainFactors* factors;  ///< [B]

  TRINE_HOST_DEVICE void operator()(std::int64_t i) const {
    const StrainFactors& f = factors[a.system[i]];
    transform(f.positions, a.position + 3 * i);
    transform(f.velocities, a.velocity + 3 * i);
  }
};

/// For one system where the stress is known again: what its steps were to be weighed with. The
/// probability of the steps' strains e from a state with rate f is that of normal numbers about f
/// dt with variance 2 k T M dt; that of going back by -e has f' in its place. The logarithm of the
/// first over the second, times k T, is added to `work`.
struct EndStrain {
  Atoms a;
  Barostat barostat;
  const double* kinetic;  ///< (B, 6) sums of KineticTensor

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    CellVariables& v = cell_variables(a, b);
    double now[6];
    strain_rate(a, barostat, kinetic + 6 * b, b, now);
    // (|e + f' dt|^2 - |e - f dt|^2) / (4 M dt), summed over the steps.
    const double time = barostat.time_step * barostat.steps;
    double sum = 0;
    for (int k = 0; k < 6; ++k) {
      sum +=
          2 * (now[k] + v.rate[k]) * v.strain[k] + time * (now[k] * now[k] - v.rate[k] * v.rate[k]);
    }
    v.work += sum / (4 * v.mobility);
  }
};

/// out[b] = P0 V - k T ln(V / Angstrom^3) + work - heat. With potential and kinetic energy it is -k
/// T times the logarithm of a run's probability over that of the same run backwards: constant but
/// for the error of the integration.
struct CellEnergy {
  Atoms a;
  Barostat barostat;
  double* out;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    const CellVariables& v = cell_variables(a, b);
    const double volume = volume_of(a, b);
    out[b] = barostat.pressure * volume -
             kBoltzmann * barostat.temperature * natural_logarithm(volume) + v.work - v.heat;
  }
};

}  // namespace trine::motion
