#include "atoms/lammps_data.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "atoms/lammps_header.hpp"
#include "atoms/lammps_types.hpp"

namespace trine::atoms {
namespace {

/// Where a style keeps its fields; image flags may add three at the end.
struct AtomStyle {
  std::string_view name;
  std::size_t type;
  std::size_t position;
  std::size_t fields;
};

constexpr std::array<AtomStyle, 6> kStyles = {{{"atomic", 1, 2, 5},
                                               {"charge", 1, 3, 6},
                                               {"bond", 2, 3, 6},
                                               {"angle", 2, 3, 6},
                                               {"molecular", 2, 3, 6},
                                               {"full", 2, 4, 7}}};
constexpr std::string_view kStyleNames = "atomic, charge, bond, angle, molecular, full";

struct Atom {
  std::int64_t id = 0;
  std::int64_t type = 0;
  std::int64_t line = 0;
  Vec3 position{};
};

class DataReader {
 public:
  explicit DataReader(LineReader& reader)
      : reader_(reader), header_(read_lammps_header(reader)), types_(header_.types) {}

  Structure read() {
    do {
      const std::string section = section_name(reader_.line());
      if (section == "Masses") types_.read_masses(reader_);
      if (section == "Atom Type Labels") types_.read_labels(reader_);
      if (section == "Atoms") read_atoms();
    } while (next_section());
    if (!has_atoms_ && header_.atoms > 0) {
      reader_.fail_at(reader_.line(), "the file has no section Atoms (the head counts {}), add it",
                      header_.atoms);
    }
    return finish();
  }

 private:
  /// Lines of sections that are not read pass by here.
  bool next_section() {
    while (reader_.next_filled()) {
      if (opens_section(reader_.line())) {
        after_atoms_ = false;
        return true;
      }
      if (after_atoms_ && !trim(before_comment(reader_.line())).empty()) {
        reader_.fail_at(trim(reader_.line()),
                        "more atoms than the head counts ({}), correct the head", header_.atoms);
      }
    }
    return false;
  }

  void read_atoms() {
    if (has_atoms_) reader_.fail_at(reader_.line(), "a second section Atoms, remove one");
    has_atoms_ = after_atoms_ = true;
    const std::string_view hint = Fields(comment_of(reader_.line())).next();
    std::optional<AtomStyle> style = hint.empty() ? std::nullopt : named_style(hint);
    while (static_cast<std::int64_t>(atoms_.size()) < header_.atoms) {
      reader_.require_next(fmt::format("atom {} of {}", atoms_.size() + 1, header_.atoms));
      const auto fields = split_fields(before_comment(reader_.line()));
      if (fields.empty()) continue;
      if (!style) style = guessed_style(fields);
      read_atom(*style, fields);
    }
  }

  std::optional<AtomStyle> named_style(std::string_view name) const {
    for (const AtomStyle& style : kStyles) {
      if (style.name == name) return style;
    }
    reader_.fail_at(name,
                    "atom style \"{}\" is not read (known: {}), write the file with one of "
                    "these",
                    excerpt(name), kStyleNames);
  }

  AtomStyle guessed_style(const std::vector<std::string_view>& fields) const {
    switch (fields.size()) {
      case 5:
      case 8:
        return kStyles.front();
      case 7:
      case 10:
        return kStyles.back();
      default:
        reader_.fail_at(fields[0],
                        "the atom style is not clear from {} columns, name it in the line of the "
                        "section: Atoms # charge (known: {})",
                        fields.size(), kStyleNames);
    }
  }

  void read_atom(const AtomStyle& style, const std::vector<std::string_view>& fields) {
    if (opens_section(reader_.line())) {
      reader_.fail_at(fields[0],
                      "the section Atoms ends after {} of {} atoms, correct the head or "
                      "add the missing ones",
                      atoms_.size(), header_.atoms);
    }
    if (fields.size() != style.fields && fields.size() != style.fields + 3) {
      reader_.fail_at(fields[0],
                      "{} columns do not fit atom style {} ({}, or {} with image flags), correct "
                      "the line or the style",
                      fields.size(), style.name, style.fields, style.fields + 3);
    }
    Atom atom;
    atom.line = reader_.number();
    atom.id = read_integer(reader_, fields[0], "the id of an atom");
    atom.type = types_.type_of(reader_, fields[style.type]);
    for (std::size_t k = 0; k < 3; ++k) {
      atom.position[k] = read_real(reader_, fields[style.position + k], "a coordinate");
    }
    if (fields.size() == style.fields + 3) {
      for (std::size_t r = 0; r < 3; ++r) {
        const auto image =
            static_cast<double>(read_integer(reader_, fields[style.fields + r], "an image flag"));
        for (std::size_t k = 0; k < 3; ++k) atom.position[k] += image * header_.cell[r][k];
      }
    }
    atoms_.push_back(atom);
  }

  Structure finish() {
    const auto by_id = [](const Atom& a, const Atom& b) { return a.id < b.id; };
    std::sort(atoms_.begin(), atoms_.end(), by_id);
    Structure structure;
    structure.cell = header_.cell;
    structure.pbc = {true, true, true};
    structure.source = reader_.name();
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      if (i > 0 && atoms_[i].id == atoms_[i - 1].id) {
        reader_.fail_in_line(std::max(atoms_[i].line, atoms_[i - 1].line),
                             "a second atom has the id {} (the first is in line {}), correct one",
                             atoms_[i].id, std::min(atoms_[i].line, atoms_[i - 1].line));
      }
      structure.species.push_back(types_.element(reader_, atoms_[i].type, atoms_[i].line));
      structure.positions.push_back(atoms_[i].position);
    }
    return structure;
  }

  LineReader& reader_;
  LammpsHeader header_;
  LammpsTypes types_;
  bool has_atoms_ = false;
  bool after_atoms_ = false;
  std::vector<Atom> atoms_;
};

}  // namespace

Structure read_lammps_data(LineReader& reader) {
  return DataReader(reader).read();
}

}  // namespace trine::atoms
