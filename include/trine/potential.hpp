// What a run or a relaxation needs of a model: energies and forces in the memory of a device.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "trine/structure.hpp"

namespace trine {

/// Where positions come from and results go to when nothing passes through the host: arrays of the
/// caller in the memory of the potential's device, which for a CPU is the host's. Dense and row by
/// row. N atoms of all B structures, end to end in the order of the call. A null pointer is not
/// given or not wanted.
struct DeviceArrays {
  const double* positions = nullptr;  ///< (N, 3) Angstrom; null: the structures' own
  const double* cells = nullptr;      ///< (B, 3, 3) rows are lattice vectors; null: their own
  double* energy = nullptr;           ///< [B] out, eV, `Result::energy`
  double* energies = nullptr;         ///< [N] out, eV
  double* forces = nullptr;           ///< (N, 3) out, eV/Angstrom
  double* strain_gradient = nullptr;  ///< (B, 3, 3) out, eV
  /// (N, 3) out, eV/Angstrom, raw output of a direct head (mean not removed). Alone it needs no
  /// gradient. Throws `Error(not_supported)` where there is no such head.
  double* direct_forces = nullptr;
  /// A cudaStream_t of the potential's GPU; null is the legacy default stream. Of a CPU: null.
  void* stream = nullptr;
};

/// Of an evaluation ahead: what may halt it, and what need not be done then.
enum class AheadPart { all, pairs, network };

/// A source of energies and forces. `Model` is one.
class Potential {
 public:
  virtual ~Potential() = default;

  /// The number of the GPU whose memory `DeviceArrays` are in, or -1 for the host's.
  virtual int gpu() const = 0;
  /// Evaluates many structures in one pass, from arrays to arrays, see `Model::evaluate_on_device`.
  virtual void evaluate_on_device(std::span<const Structure> structures,
                                  const DeviceArrays& arrays) = 0;
  /// The same without the host, see `Model::evaluate_ahead`. Potentials that cannot do that, which
  /// say so by `ahead_version`, make the ordinary evaluation and never halt.
  virtual void evaluate_ahead(std::span<const Structure> structures, const DeviceArrays& arrays,
                              int* halted, AheadPart part = AheadPart::all) {
    static_cast<void>(halted);
    if (part != AheadPart::pairs) evaluate_on_device(structures, arrays);
  }
  /// 0 where `evaluate_ahead` cannot do without the host, for now or at all. Otherwise a number
  /// that changes when recordings of it have to be made again, because atoms, numbers of rows or
  /// the place of arrays are others.
  virtual std::int64_t ahead_version() const { return 0; }
  bool can_evaluate_ahead() const { return ahead_version() != 0; }
  /// The smallest distance of two atoms in the last evaluation, periodic images included, Angstrom;
  /// infinite where the potential does not know. Waits for a GPU, but not for streams of the
  /// caller, on which recorded evaluations must have ended.
  virtual double closest_distance() { return std::numeric_limits<double>::infinity(); }

 protected:
  Potential() = default;
  Potential(const Potential&) = default;
  Potential& operator=(const Potential&) = default;
};

}  // namespace trine
