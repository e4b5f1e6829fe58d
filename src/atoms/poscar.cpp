#include "atoms/poscar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "atoms/cell.hpp"
#include "atoms/elements.hpp"
#include "atoms/number_text.hpp"

namespace trine::atoms {
namespace {

constexpr std::int64_t kMostAtoms = 1'000'000'000;

/// Symbol in its usual letter case only, because comments hold words such as "in" or "as".
int element_from_exact_symbol(std::string_view text) {
  const int z = element_from_symbol(text);
  return z != 0 && symbol_text(z) == text ? z : 0;
}

struct Group {
  int species = 0;
  std::int64_t count = 0;
};

class PoscarReader {
 public:
  explicit PoscarReader(LineReader& reader) : reader_(reader) {}

  Structure read() {
    reader_.require_next("the comment line");
    comment_ = std::string(reader_.line());
    read_scale();
    read_cell();
    read_groups();
    read_mode();
    for (const Group& group : groups_) {
      for (std::int64_t i = 0; i < group.count; ++i) read_atom(group.species);
    }
    check_end();
    keep_flags();
    frame_.pbc = {true, true, true};
    frame_.source = reader_.name();
    return std::move(frame_);
  }

 private:
  void read_scale() {
    reader_.require_next("the scale factor");
    const auto fields = split_fields(reader_.line());
    std::size_t count = 0;
    while (count < fields.size() && count < 4 && parse_real(fields[count])) ++count;
    if (count != 1 && count != 3) {
      reader_.fail_at(trim(reader_.line()),
                      "line 2 has {} numbers (one scale factor or three are needed), check that "
                      "this is a POSCAR",
                      count);
    }
    for (std::size_t k = 0; k < 3; ++k) {
      scale_[k] = read_real(reader_, fields[count == 3 ? k : 0], "a scale factor");
      if (scale_[k] == 0 || (count == 3 && scale_[k] < 0)) {
        reader_.fail_at(fields[count == 3 ? k : 0],
                        "a scale factor is {} (one factor must not be zero, three must be "
                        "positive), correct it",
                        scale_[k]);
      }
    }
  }

  void read_cell() {
    for (Vec3& row : frame_.cell) {
      reader_.require_next("the three lattice vectors");
      Fields fields(reader_.line());
      for (double& entry : row) entry = read_real(reader_, fields.next(), "a lattice vector");
    }
    const std::string problem = cell_problem(frame_.cell, {true, true, true});
    if (!problem.empty()) {
      reader_.fail_at(reader_.line(), "the cell cannot be used ({}), correct the lattice vectors",
                      problem);
    }
    if (scale_[0] < 0) {  // minus the volume
      scale_.fill(std::cbrt(-scale_[0] / std::abs(determinant(frame_.cell))));
    }
    for (Vec3& row : frame_.cell) {
      for (std::size_t k = 0; k < 3; ++k) row[k] *= scale_[k];
    }
  }

  void read_groups() {
    reader_.require_next("the elements and their counts");
    auto fields = split_fields(reader_.line());
    std::vector<int> species;
    if (!fields.empty() && !parse_integer(fields[0])) {
      species = species_of_symbol_line(fields);
      reader_.require_next("the counts of the elements");
      fields = split_fields(reader_.line());
    }
    std::int64_t total = 0;
    for (const std::string_view field : fields) {
      if (field.starts_with('!') || field.starts_with('#')) break;
      const std::int64_t count = read_integer(reader_, field, "the number of atoms of an element");
      if (count < 0 || count > kMostAtoms || (total += count) > kMostAtoms) {
        reader_.fail_at(field, "{} atoms of one element are out of range, correct the count",
                        count);
      }
      groups_.push_back({0, count});
    }
    if (species.empty()) species = species_of_comment();
    if (species.size() != groups_.size() || groups_.empty()) {
      reader_.fail_at(trim(reader_.line()),
                      "{} counts for {} elements (one each is needed), correct the lines of "
                      "elements and counts",
                      groups_.size(), species.size());
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].species = species[g];
  }

  /// "Na_pv/6a2f Cl ! remark": potentials' names are cut down to the element.
  std::vector<int> species_of_symbol_line(const std::vector<std::string_view>& fields) const {
    std::vector<int> species;
    for (const std::string_view field : fields) {
      if (field.starts_with('!') || field.starts_with('#')) break;
      const int z = element_from_symbol(field.substr(0, field.find_first_of("_/")));
      if (z == 0) {
        reader_.fail_at(field,
                        "\"{}\" is no element (the line before the counts names them), "
                        "correct it",
                        excerpt(field));
      }
      species.push_back(z);
    }
    return species;
  }

  /// VASP 4 files name their elements nowhere, but many keep them in the comment line.
  std::vector<int> species_of_comment() const {
    std::vector<int> species;
    for (const std::string_view word : split_fields(comment_)) {
      species.push_back(element_from_exact_symbol(word));
    }
    const bool all = std::find(species.begin(), species.end(), 0) == species.end();
    if (!all || species.size() != groups_.size()) {
      reader_.fail_at(trim(reader_.line()),
                      "the elements are not named (VASP 4 format), put a line with {} symbols "
                      "before the counts",
                      groups_.size());
    }
    return species;
  }

  void read_mode() {
    reader_.require_next("\"Direct\" or \"Cartesian\"");
    char letter = first_letter();
    if (letter == 's') {
      selective_ = true;
      reader_.require_next("\"Direct\" or \"Cartesian\"");
      letter = first_letter();
    }
    if (letter != 'd' && letter != 'c' && letter != 'k') {
      reader_.fail_at(trim(reader_.line()),
                      "\"{}\" stands where Direct or Cartesian is needed, check the lines before",
                      excerpt(trim(reader_.line())));
    }
    cartesian_ = letter != 'd';
  }

  char first_letter() const {
    const std::string_view text = trim(reader_.line());
    return text.empty() ? '\0' : lower(text.substr(0, 1))[0];
  }

  void read_atom(int species) {
    const auto atom = static_cast<std::int64_t>(frame_.size()) + 1;
    if (!reader_.next()) {
      reader_.fail_at(reader_.line(),
                      "the file ends after {} atoms (the counts ask for more), it was cut short or "
                      "a count is wrong",
                      atom - 1);
    }
    Fields fields(reader_.line());
    const Vec3 x = read_position(reader_, fields, atom);
    Vec3 position{};
    for (std::size_t k = 0; k < 3; ++k) {
      position[k] = cartesian_ ? x[k] * scale_[k]
                               : x[0] * frame_.cell[0][k] + x[1] * frame_.cell[1][k] +
                                     x[2] * frame_.cell[2][k];
    }
    if (selective_) read_flags(fields, atom);
    frame_.species.push_back(species);
    frame_.positions.push_back(position);
  }

  void read_flags(Fields& fields, std::int64_t atom) {
    std::array<bool, 3> flags{};
    for (bool& flag : flags) {
      std::string_view field = fields.next();
      const std::string_view whole = field;
      if (field.starts_with('.')) field.remove_prefix(1);  // Fortran's .TRUE.
      const std::string letter = lower(field.substr(0, 1));
      if (letter != "t" && letter != "f") {
        reader_.fail_at(whole, "atom {} lacks a T or F (Selective dynamics needs three), add it",
                        atom);
      }
      flag = letter == "t";
    }
    flags_.push_back(flags);
  }

  /// Velocities follow after an empty line or a word; a number there is an atom too many.
  void check_end() {
    if (!reader_.next()) return;
    const std::string_view field = Fields(reader_.line()).next();
    if (!field.empty() && parse_real(field)) {
      reader_.fail_at(field, "more atoms than the counts say ({}), correct the counts",
                      frame_.size());
    }
  }

  void keep_flags() {
    const auto free = [](const auto& f) { return f[0] && f[1] && f[2]; };
    const auto equal = [](const auto& f) { return f[0] == f[1] && f[1] == f[2]; };
    if (std::all_of(flags_.begin(), flags_.end(), free)) return;
    const bool one = std::all_of(flags_.begin(), flags_.end(), equal);
    const bool aligned = [this] {
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t k = 0; k < 3; ++k) {
          if (r != k && frame_.cell[r][k] != 0) return false;
        }
      }
      return true;
    }();
    ExtraColumn column{one || aligned ? "move_mask" : "selective_dynamics", 'L', one ? 1 : 3, {}};
    for (const auto& flags : flags_) {
      for (std::size_t k = 0; k < (one ? 1U : 3U); ++k) {
        column.tokens.emplace_back(flags[k] ? "T" : "F");
      }
    }
    frame_.extra_columns.push_back(std::move(column));
  }

  LineReader& reader_;
  std::string comment_;
  Vec3 scale_{};
  std::vector<Group> groups_;
  bool selective_ = false;
  bool cartesian_ = false;
  Structure frame_;
  std::vector<std::array<bool, 3>> flags_;
};

}  // namespace

Structure read_poscar(LineReader& reader) {
  return PoscarReader(reader).read();
}

}  // namespace trine::atoms
