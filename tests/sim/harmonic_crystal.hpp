// A potential whose statistics are known: every atom on a spring of its own.
#pragma once

#include <cmath>
#include <vector>

#include "atoms/cell.hpp"
#include "trine/potential.hpp"

namespace trine::test {

/// E = sum over atoms of spring |r - r0|^2 / 2, with places r0 that stay where they are whatever
/// the cell does, + bulk V0 (V / V0 - 1)^2 / 2. On the host. The strain gradient is that of the
/// second term alone: springs are for ensembles of constant volume, and without them it is an ideal
/// gas in an elastic box. Structures have as many atoms as the one at rest.
class HarmonicCrystal final : public Potential {
 public:
  /// `spring` in eV/Angstrom^2, `bulk` in eV/Angstrom^3; no springs give an ideal gas.
  HarmonicCrystal(const Structure& at_rest, double spring, double bulk = 0)
      : rest_(at_rest), spring_(spring), bulk_(bulk) {}

  int gpu() const override { return -1; }

  void evaluate_on_device(std::span<const Structure> structures,
                          const DeviceArrays& arrays) override {
    std::size_t atom = 0;
    for (std::size_t b = 0; b < structures.size(); ++b) {
      evaluate(structures[b], b, atom, arrays);
      atom += structures[b].size();
    }
  }

 private:
  static Mat3 cell_of(const DeviceArrays& arrays, const Structure& s, std::size_t b) {
    if (!arrays.cells) return s.cell;
    Mat3 cell;
    for (std::size_t k = 0; k < 9; ++k) cell[k / 3][k % 3] = arrays.cells[9 * b + k];
    return cell;
  }

  void evaluate(const Structure& s, std::size_t b, std::size_t first, const DeviceArrays& a) const {
    double energy = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t place = 3 * (first + i) + c;
        const double x = a.positions ? a.positions[place] : s.positions[i][c];
        const double away = x - rest_.positions[i][c];
        energy += spring_ * away * away / 2;
        if (a.forces) a.forces[place] = -spring_ * away;
      }
    }
    const double volume0 = std::abs(atoms::determinant(rest_.cell));
    const double ratio = volume0 > 0 ? std::abs(atoms::determinant(cell_of(a, s, b))) / volume0 : 1;
    energy += bulk_ * volume0 * (ratio - 1) * (ratio - 1) / 2;
    if (a.energy) a.energy[b] = energy;
    if (!a.strain_gradient) return;
    for (std::size_t k = 0; k < 9; ++k) {
      a.strain_gradient[9 * b + k] = k % 4 == 0 ? bulk_ * volume0 * (ratio - 1) * ratio : 0;
    }
  }

  Structure rest_;
  double spring_, bulk_;
};

}  // namespace trine::test
