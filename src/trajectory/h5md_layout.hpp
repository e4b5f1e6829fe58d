// What is where in an H5MD file (H5MD 1.1, https://www.nongnu.org/h5md/h5md.html).
#pragma once

#include <array>
#include <vector>

#include "trajectory/frame.hpp"
#include "trajectory/hdf5.hpp"

namespace trine::trajectory {

/// What all frames of a file have in common.
struct H5mdContents {
  std::vector<int> species;  ///< [N]
  std::array<bool, 3> pbc{};
  bool velocities = false;
  bool forces = false;
  bool potential_energy = false;
  bool kinetic_energy = false;
  bool conserved_energy = false;
  bool stress = false;

  bool operator==(const H5mdContents&) const = default;
};

/// A quantity that every frame has: the dataset `value` in `group`, [F] of `shape`.
struct Series {
  const char* group;
  const char* unit;
  std::vector<hsize_t> shape;
  const double* (*data)(const StoredFrame&);
  double scale = 1;  ///< from trine's unit to that of the file
};

inline constexpr const char* kSpecies = "/particles/trajectory/species";
inline constexpr const char* kBox = "/particles/trajectory/box";
inline constexpr const char* kStep = "/particles/trajectory/position/step";  ///< [F] int64
inline constexpr const char* kTime = "/particles/trajectory/position/time";  ///< [F] fs

/// Step of a frame that is not there: what HDF5 shows where nothing was written.
inline constexpr std::int64_t kNoStep = INT64_MAX;

H5mdContents contents_of(const TrajectoryFrame& frame);

/// Every quantity of such a file.
std::vector<Series> series_of(const H5mdContents& contents);

/// Fills a new file: everything but the frames.
void create_h5md(const Handle& file, const H5mdContents& contents);

/// Reads what `create_h5md` wrote. Throws `Error(bad_input)` for other files.
H5mdContents read_contents(const Handle& file);

}  // namespace trine::trajectory
