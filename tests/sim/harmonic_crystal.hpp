// A potential whose statistics are known: every atom on a spring of its own, and an elastic cell.
#pragma once

#include <cmath>
#include <vector>

#include "atoms/cell.hpp"
#include "trine/error.hpp"
#include "trine/potential.hpp"

namespace trine::test {

/// E = sum over atoms of spring |r - r0|^2 / 2, with places r0 that stay where they are whatever
/// the cell does, + bulk V0 (V / V0 - 1)^2 / 2 + shear V0 (tr(F F^T) (V / V0)^(-2/3) - 3) / 2,
/// where F takes the cell at rest to the cell. On the host. Without springs it is an ideal gas in
/// an elastic box. Structures have as many atoms as the one at rest.
class HarmonicCrystal final : public Potential {
 public:
  /// `spring` in eV/Angstrom^2, moduli in eV/Angstrom^3; no springs give an ideal gas.
  HarmonicCrystal(const Structure& at_rest, double spring, double bulk = 0, double shear = 0)
      : rest_(at_rest), spring_(spring), bulk_(bulk), shear_(shear) {}

  /// Gives it a direct head: -spring (r - r0), and 0.3 eV/Angstrom along x that are to be removed.
  void set_direct(double spring) { direct_spring_ = spring; }

  int conservative_evaluations() const { return conservative_evaluations_; }

  int gpu() const override { return -1; }

  void evaluate_on_device(std::span<const Structure> structures,
                          const DeviceArrays& arrays) override {
    if (arrays.direct_forces && std::isnan(direct_spring_)) {
      throw Error(ErrorCode::not_supported, "no direct head");
    }
    if (arrays.energy) ++conservative_evaluations_;
    std::size_t atom = 0;
    for (std::size_t b = 0; b < structures.size(); ++b) {
      double* const gradient = arrays.strain_gradient ? arrays.strain_gradient + 9 * b : nullptr;
      const double energy = strain_cell(cell_of(arrays, structures[b], b), gradient) +
                            stretch_springs(structures[b], atom, arrays, gradient);
      if (arrays.energy) arrays.energy[b] = energy;
      atom += structures[b].size();
    }
  }

  /// tr(F F^T) (V / V0)^(-2/3) of a cell: 3 without shear.
  double shape(const Mat3& cell) const {
    const Mat3 f = deformation(cell);
    double trace = 0;
    for (const Vec3& row : f) trace += row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    return trace * std::pow(std::abs(atoms::determinant(f)), -2.0 / 3);
  }

 private:
  static Mat3 cell_of(const DeviceArrays& arrays, const Structure& s, std::size_t b) {
    if (!arrays.cells) return s.cell;
    Mat3 cell;
    for (std::size_t k = 0; k < 9; ++k) cell[k / 3][k % 3] = arrays.cells[9 * b + k];
    return cell;
  }

  /// Adds what a strain that takes the atoms along changes to `gradient`.
  double stretch_springs(const Structure& s, std::size_t first, const DeviceArrays& a,
                         double* gradient) const {
    double energy = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double* const r = a.positions ? a.positions + 3 * (first + i) : s.positions[i].data();
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t place = 3 * (first + i) + c;
        const double away = r[c] - rest_.positions[i][c];
        for (std::size_t d = 0; gradient && d < 3; ++d) {
          gradient[3 * c + d] += spring_ * away * r[d];
        }
        energy += spring_ * away * away / 2;
        if (a.forces) a.forces[place] = -spring_ * away;
        if (a.direct_forces) a.direct_forces[place] = -direct_spring_ * away + (c == 0 ? 0.3 : 0);
      }
    }
    return energy;
  }

  /// F, whose columns are what unit vectors become; rows of cells are lattice vectors. A diagonal
  /// cell at rest is enough here.
  Mat3 deformation(const Mat3& cell) const {
    Mat3 f{};
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) f[r][c] = cell[c][r] / rest_.cell[c][c];
    }
    return f;
  }

  double strain_cell(const Mat3& cell, double* gradient) const {
    const double volume0 = std::abs(atoms::determinant(rest_.cell));
    if (gradient) std::fill(gradient, gradient + 9, 0.0);
    if (!(volume0 > 0)) return 0;
    const Mat3 f = deformation(cell);
    const double ratio = std::abs(atoms::determinant(f)), first = shape(cell);
    for (std::size_t k = 0; gradient && k < 9; ++k) {
      const std::size_t r = k / 3, c = k % 3;
      const double square = f[r][0] * f[c][0] + f[r][1] * f[c][1] + f[r][2] * f[c][2];
      gradient[k] = shear_ * volume0 * square * std::pow(ratio, -2.0 / 3);
      if (r != c) continue;
      gradient[k] += volume0 * (bulk_ * (ratio - 1) * ratio - shear_ * first / 3);
    }
    return volume0 * (bulk_ * (ratio - 1) * (ratio - 1) + shear_ * (first - 3)) / 2;
  }

  Structure rest_;
  double spring_, bulk_, shear_;
  double direct_spring_ = std::numeric_limits<double>::quiet_NaN();
  int conservative_evaluations_ = 0;
};

}  // namespace trine::test
