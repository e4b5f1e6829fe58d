// Which element each atom type of a LAMMPS data file is.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "atoms/line_reader.hpp"

namespace trine::atoms {

class LammpsTypes {
 public:
  explicit LammpsTypes(std::int64_t count) : count_(count) {}

  /// Reads the lines of the section `Masses`: "type mass # symbol".
  void read_masses(LineReader& reader);

  /// Reads the lines of the section `Atom Type Labels`: "type label".
  void read_labels(LineReader& reader);

  /// A type by number or label; fails if there is none.
  std::int64_t type_of(const LineReader& reader, std::string_view field) const;

  /// Atomic number of a type, used first in line `atom_line`. To be called at the end of the file,
  /// because sections come in any order; fails with the reason if the file does not tell.
  int element(const LineReader& reader, std::int64_t type, std::int64_t atom_line) const;

 private:
  struct Type {
    int from_label = 0;
    int from_mass = 0;  // or from the comment beside the mass
    double mass = 0;
    std::int64_t mass_line = 0;
  };

  std::int64_t count_;
  std::map<std::int64_t, Type> types_;
  std::map<std::string, std::int64_t, std::less<>> labels_;
};

}  // namespace trine::atoms
