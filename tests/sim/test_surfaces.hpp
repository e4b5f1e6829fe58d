// Potentials whose minima are known.
#pragma once

#include <cmath>
#include <functional>
#include <utility>

#include "trine/error.hpp"
#include "trine/potential.hpp"

namespace trine::test {

/// Atoms of one element, without a cell.
inline Structure atoms_at(std::vector<Vec3> positions) {
  Structure s;
  s.species.assign(positions.size(), 18);
  s.positions = std::move(positions);
  return s;
}

/// Energy, forces and strain gradient of one structure.
struct Surface {
  double energy = 0;
  std::vector<Vec3> forces;
  Mat3 strain_gradient{};
};

/// Any function of one structure, on the host.
class SurfacePotential final : public Potential {
 public:
  using Function = std::function<Surface(const Structure&)>;
  explicit SurfacePotential(Function function) : function_(std::move(function)) {}

  int gpu() const override { return -1; }

  void evaluate_on_device(std::span<const Structure> structures, const DeviceArrays& a) override {
    std::size_t atom = 0;
    for (std::size_t b = 0; b < structures.size(); ++b) {
      Structure s = structures[b];
      for (std::size_t k = 0; k < 9; ++k) s.cell[k / 3][k % 3] = a.cells[9 * b + k];
      for (std::size_t i = 0; i < 3 * s.size(); ++i) {
        s.positions[i / 3][i % 3] = a.positions[3 * atom + i];
      }
      const Surface result = function_(s);
      a.energy[b] = result.energy;
      for (std::size_t i = 0; i < 3 * s.size(); ++i) {
        a.forces[3 * atom + i] = result.forces[i / 3][i % 3];
      }
      for (std::size_t k = 0; k < 9; ++k) {
        a.strain_gradient[9 * b + k] = result.strain_gradient[k / 3][k % 3];
      }
      atom += s.size();
    }
  }

 private:
  Function function_;
};

/// sum over atoms of sum over c of stiffness[c] (r - place)[c]^2 / 2.
inline SurfacePotential::Function springs(Vec3 place, Vec3 stiffness) {
  return [=](const Structure& s) {
    Surface result;
    for (const Vec3& r : s.positions) {
      Vec3 force{};
      for (std::size_t c = 0; c < 3; ++c) {
        const double away = r[c] - place[c];
        result.energy += stiffness[c] * away * away / 2;
        force[c] = -stiffness[c] * away;
      }
      result.forces.push_back(force);
    }
    return result;
  };
}

/// (1 - x)^2 + 10 (y - x^2)^2 + z^2 of every atom: a bent valley with the minimum at (1, 1, 0).
inline Surface valley(const Structure& s) {
  Surface result;
  for (const auto& [x, y, z] : s.positions) {
    const double out = y - x * x;
    result.energy += (1 - x) * (1 - x) + 10 * out * out + z * z;
    result.forces.push_back({2 * (1 - x) + 40 * out * x, -20 * out, -2 * z});
  }
  return result;
}

/// An elastic crystal: E = V0 (bulk / 2 tr(e)^2 + shear |e|^2), e = (F F^T - 1) / 2 of the
/// deformation F of a cubic cell of length `length`, in the cell's own axes; atoms feel nothing.
/// Energies do not change when all is turned.
inline SurfacePotential::Function elastic(double length, double bulk, double shear) {
  return [=](const Structure& s) {
    // Rows of f: lattice vectors over their length at rest; e = (f f^T - 1) / 2 (Green's strain).
    Mat3 e{}, f = s.cell;
    for (auto& row : f) {
      for (double& x : row) x /= length;
    }
    const double volume = length * length * length;
    double trace = 0, square = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t k = 0; k < 3; ++k) e[i][j] += f[i][k] * f[j][k] / 2;
      }
      e[i][i] -= 0.5;
      trace += e[i][i];
    }
    for (const auto& row : e) {
      for (const double x : row) square += x * x;
    }
    Surface result{
        volume * (bulk / 2 * trace * trace + shear * square), std::vector<Vec3>(s.size()), {}};
    // dE/dstrain = f^T S f, S = dE/de.
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) {
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t j = 0; j < 3; ++j) {
            const double stress = volume * (2 * shear * e[i][j] + (i == j ? bulk * trace : 0));
            result.strain_gradient[a][b] += f[i][a] * stress * f[j][b];
          }
        }
      }
    }
    return result;
  };
}

/// Adds springs between all atoms, stiffness (distance - length)^2 / 2, without periodic images.
inline void add_bonds(const Structure& s, double stiffness, double length, Surface& sum) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      Vec3 d{};
      for (std::size_t c = 0; c < 3; ++c) d[c] = s.positions[j][c] - s.positions[i][c];
      const double distance = std::hypot(d[0], d[1], d[2]), longer = distance - length;
      sum.energy += stiffness * longer * longer / 2;
      for (std::size_t a = 0; a < 3; ++a) {
        const double pull = stiffness * longer * d[a] / distance;
        sum.forces[i][a] += pull;
        sum.forces[j][a] -= pull;
        for (std::size_t b = 0; b < 3; ++b) sum.strain_gradient[a][b] += pull * d[b];
      }
    }
  }
}

}  // namespace trine::test
