#include "atoms/lammps_types.hpp"

#include "atoms/elements.hpp"
#include "atoms/lammps_header.hpp"
#include "atoms/number_text.hpp"

namespace trine::atoms {
namespace {

constexpr double kMassTolerance = 0.05;  // amu

/// A line of a section; blank lines in between are skipped.
void next_entry(LineReader& reader, std::string_view section) {
  do {
    reader.require_next(section);
  } while (trim(before_comment(reader.line())).empty());
}

/// The element that the first word of a comment or a label names, in its usual letter case: "CA" is
/// more often a carbon than calcium.
int element_from_word(std::string_view word) {
  const int z = element_from_symbol(word);
  return z != 0 && symbol_text(z) == word ? z : 0;
}

}  // namespace

void LammpsTypes::read_masses(LineReader& reader) {
  for (std::int64_t i = 0; i < count_; ++i) {
    next_entry(reader, "the mass of every atom type");
    Fields fields(before_comment(reader.line()));
    const std::string_view name = fields.next();
    const std::int64_t number = type_of(reader, name);
    Type& type = types_[number];
    const std::string_view field = fields.next();
    const double mass = read_real(reader, field, "a mass");
    const int by_comment = element_from_word(Fields(comment_of(reader.line())).next());
    const int by_mass = element_from_mass(mass, kMassTolerance);
    if (by_comment != 0 && by_mass != 0 && by_comment != by_mass) {
      reader.fail_at(field, "the mass {} is that of {} but the comment says {}, correct one", mass,
                     symbol_text(by_mass), symbol_text(by_comment));
    }
    type.from_mass = by_comment != 0 ? by_comment : by_mass;
    type.mass = mass;
    type.mass_line = reader.number();
  }
}

void LammpsTypes::read_labels(LineReader& reader) {
  for (std::int64_t i = 0; i < count_; ++i) {
    next_entry(reader, "the label of every atom type");
    Fields fields(before_comment(reader.line()));
    const std::int64_t number = type_of(reader, fields.next());
    const std::string_view label = fields.next();
    if (label.empty()) {
      reader.fail_at(label, "the label of atom type {} is missing, add it", number);
    }
    labels_.emplace(label, number);
    types_[number].from_label = element_from_word(label);
  }
}

std::int64_t LammpsTypes::type_of(const LineReader& reader, std::string_view field) const {
  const auto number = parse_integer(field);
  if (number && *number >= 1 && *number <= count_) return *number;
  const auto label = labels_.find(field);
  if (label != labels_.end()) return label->second;
  reader.fail_at(field, "\"{}\" is no atom type (they go from 1 to {}), correct it", excerpt(field),
                 count_);
}

int LammpsTypes::element(const LineReader& reader, std::int64_t type,
                         std::int64_t atom_line) const {
  const auto found = types_.find(type);
  const Type known = found != types_.end() ? found->second : Type{};
  if (known.from_label != 0) return known.from_label;
  if (known.from_mass != 0) return known.from_mass;
  if (known.mass_line > 0) {
    reader.fail_in_line(known.mass_line,
                        "the element of atom type {} is unknown (none has the mass {} within {} "
                        "amu), write its symbol as a comment: {} {} # Si",
                        type, known.mass, kMassTolerance, type, known.mass);
  }
  reader.fail_in_line(atom_line,
                      "the element of atom type {} is unknown (it has neither a mass nor a label), "
                      "add a section Masses with symbols as comments: {} 28.085 # Si",
                      type, type);
}

}  // namespace trine::atoms
