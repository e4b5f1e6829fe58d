// The path along which `trine validate` looks whether energies are smooth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trine/certificate.hpp"

namespace CLI {
class App;
}

namespace trine::app {

/// Options that say where atoms go.
class PathFlags {
 public:
  void declare(CLI::App& app);

  /// The option that was typed, or null: the path is then the library's own.
  const char* typed() const;

  /// Atoms of `frame` that are pulled, or the frames of a file; nothing if neither was typed.
  /// Throws `Error(usage)` for options that mean nothing together and atoms that are not there, and
  /// `Error(bad_input)` for files whose frames are no path.
  std::optional<Path> resolve(const Structure& frame) const;

 private:
  Path pulled(const Structure& frame) const;
  std::size_t origin(const Structure& frame, const std::vector<std::int64_t>& pulled) const;

  std::string pull_, range_, file_;
  std::size_t from_ = 0;  ///< the atom's number; 0: the nearest
};

/// "1.2:6.0:60": so many numbers from the first to the second, ascending. Throws `Error(usage)`.
std::vector<double> parse_distances(const std::string& range);

/// From atom `i` to the image of atom `j` that is nearest to it, Angstrom.
Vec3 to_nearest_image(const Structure& frame, std::size_t i, std::size_t j);

/// Frames of the same atoms in the same cell as a path. Coordinate: the length of the way, the root
/// of the sum of the squares of what all atoms move by. Throws `Error(bad_input)`.
Path path_of_frames(std::vector<Structure> frames, const std::string& file);

}  // namespace trine::app
