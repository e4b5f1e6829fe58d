// The degrees of freedom of relaxing systems, as rows of three numbers that optimisers move: of
// each system the atoms' places in its cell as it came, and three rows for the cell.
// docs/relaxation.md has the formulas.
#pragma once

#include "motion/launch.hpp"
#include "motion/matrix3.hpp"

namespace trine::motion {

/// What is kept of one system.
struct RelaxingSystem {
  Matrix3 reference{};                                     ///< the cell as it came, Angstrom
  Matrix3 deformation{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  ///< exp(u), symmetric
  std::int64_t step = 0;                                   ///< of the next evaluation
  std::int64_t is_done = 0;                                ///< it stays where it is
  double best_fmax = INFINITY;                             ///< eV/Angstrom
  double best_energy = 0;                                  ///< eV
  std::int64_t best_step = 0;
};

/// B systems in the memory of the device. R = N + 3 B rows: of every system first its atoms, then
/// the cell's three: (number of atoms) u, u the logarithm of the deformation.
struct Relaxing {
  Atoms atoms;                ///< as the potential sees them
  Atoms rows;                 ///< position: (R, 3) places; velocity, force likewise
  RelaxingSystem* of_system;  ///< [B]
  double* best_place;         ///< (R, 3) positions and cells of the best step
  double* best_force;         ///< (R, 3) forces and strain gradients of the best step
  double* fmax;               ///< [B] eV/Angstrom
  bool cell_moves = false;
  bool is_isotropic = false;
  double pressure = 0;  ///< eV/Angstrom^3

  TRINE_HOST_DEVICE std::int64_t size(std::int64_t b) const {
    return atoms.first[b + 1] - atoms.first[b];
  }
  /// Of a row, the place of its three numbers in an array over atoms or, after all atoms of the
  /// system, cells.
  struct Place {
    std::int64_t system;
    std::int64_t atom;  ///< -1: a row of the cell
    std::int64_t cell;  ///< first number in (B, 3, 3)
  };
  TRINE_HOST_DEVICE Place place(std::int64_t row) const {
    const std::int64_t b = rows.system[row], local = row - rows.first[b], n = size(b);
    if (local < n) return {b, atoms.first[b] + local, 0};
    return {b, -1, 9 * b + 3 * (local - n)};
  }
  TRINE_HOST_DEVICE double* cell_rows(double* array, std::int64_t b) const {
    return array + 3 * (rows.first[b] + size(b));
  }
  TRINE_HOST_DEVICE Matrix3 logarithm(std::int64_t b) const {
    const double* u = cell_rows(rows.position, b);
    const auto n = static_cast<double>(size(b));
    Matrix3 m{};
    for (int k = 0; k < 9; ++k) m.at[k / 3][k % 3] = u[k] / n;
    return m;
  }
};

/// Force on the row of an atom: F exp(u), zero if it is held. On a row of the cell: zero.
struct ForceOnRow {
  Relaxing r;

  TRINE_HOST_DEVICE void operator()(std::int64_t row) const {
    const auto [b, atom, cell] = r.place(row);
    double* out = r.rows.force + 3 * row;
    const Matrix3& d = r.of_system[b].deformation;
    for (int c = 0; c < 3; ++c) {
      out[c] = 0;
      if (atom < 0 || !r.atoms.moves[atom]) continue;
      const double* f = r.atoms.force + 3 * atom;
      out[c] = f[0] * d.at[0][c] + f[1] * d.at[1][c] + f[2] * d.at[2][c];
    }
  }
};

/// Force on the rows of a system's cell: -dH/du / (number of atoms), H = E + pressure volume.
struct ForceOnCell {
  Relaxing r;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    const double* strain = r.atoms.strain_gradient + 9 * b;
    const double* cell = r.atoms.cell + 9 * b;
    Matrix3 now{}, g{};
    for (int k = 0; k < 9; ++k) now.at[k / 3][k % 3] = cell[k];
    const double volume = std::fabs(determinant(now));
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) g.at[i][j] = strain[3 * i + j];
      g.at[i][i] += r.pressure * volume;
    }
    if (r.is_isotropic) {
      const double mean = (g.at[0][0] + g.at[1][1] + g.at[2][2]) / 3;
      g = {{{mean, 0, 0}, {0, mean, 0}, {0, 0, mean}}};
    }
    const Matrix3 gradient = gradient_to_logarithm(r.logarithm(b), g);
    double* out = r.cell_rows(r.rows.force, b);
    const auto n = static_cast<double>(r.size(b));
    for (int k = 0; k < 9; ++k) out[k] = -gradient.at[k / 3][k % 3] / n;
  }
};

/// The norm of one row's three numbers.
struct RowNorm {
  static constexpr int kCount = 1;
  const double* rows;

  TRINE_HOST_DEVICE Values<kCount> operator()(std::int64_t row) const {
    const double* x = rows + 3 * row;
    return {{std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])}};
  }
};

/// Keeps what belongs to one row, if the step is its system's best.
struct KeepBestRow {
  Relaxing r;

  TRINE_HOST_DEVICE void operator()(std::int64_t row) const {
    const auto [b, atom, cell] = r.place(row);
    const RelaxingSystem& s = r.of_system[b];
    if (s.is_done || !(r.fmax[b] < s.best_fmax)) return;
    const double* place = atom < 0 ? r.atoms.cell + cell : r.atoms.position + 3 * atom;
    const double* force = atom < 0 ? r.atoms.strain_gradient + cell : r.atoms.force + 3 * atom;
    for (int c = 0; c < 3; ++c) {
      r.best_place[3 * row + c] = place[c];
      r.best_force[3 * row + c] = force[c];
    }
  }
};

/// The same for what belongs to a system, after its rows; counts the step.
struct KeepBestSystem {
  Relaxing r;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    RelaxingSystem& s = r.of_system[b];
    if (s.is_done) return;
    if (r.fmax[b] < s.best_fmax) {
      s.best_fmax = r.fmax[b];
      s.best_energy = r.atoms.energy[b];
      s.best_step = s.step;
    }
    ++s.step;
  }
};

/// The system stays where it is from now on: those whose number is not zero.
struct Finish {
  RelaxingSystem* of_system;
  const std::int64_t* is_done;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const { of_system[b].is_done = is_done[b]; }
};

/// The deformation and the cell of one system from the rows of its cell.
struct DeformCell {
  Relaxing r;

  TRINE_HOST_DEVICE void operator()(std::int64_t b) const {
    RelaxingSystem& s = r.of_system[b];
    if (s.is_done) return;
    s.deformation = exponential(r.logarithm(b));
    const Matrix3 cell = product(s.reference, s.deformation);
    for (int k = 0; k < 9; ++k) r.atoms.cell[9 * b + k] = cell.at[k / 3][k % 3];
  }
};

/// The position of one atom from its row.
struct PlaceAtom {
  Relaxing r;

  TRINE_HOST_DEVICE void operator()(std::int64_t row) const {
    const auto [b, atom, cell] = r.place(row);
    const RelaxingSystem& s = r.of_system[b];
    if (atom < 0 || s.is_done) return;
    const double* z = r.rows.position + 3 * row;
    const Matrix3& d = s.deformation;
    for (int c = 0; c < 3; ++c) {
      r.atoms.position[3 * atom + c] = z[0] * d.at[0][c] + z[1] * d.at[1][c] + z[2] * d.at[2][c];
    }
  }
};

}  // namespace trine::motion
