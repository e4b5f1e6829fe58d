#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "atoms/elements.hpp"
#include "atoms/key_values.hpp"
#include "atoms/number_text.hpp"
#include "base/check.hpp"
#include "trine/structure_io.hpp"

namespace trine {
namespace {

/// What an earlier calculation may have left in a frame. New results replace all of it, so that
/// one frame never mixes the numbers of two calculations.
constexpr std::array<std::string_view, 9> kReplaced = {"energy",   "free_energy", "energies",
                                                       "forces",   "force",       "stress",
                                                       "stresses", "virial",      "virials"};

/// What a column of velocities replaces, in whatever unit it is.
constexpr std::array<std::string_view, 5> kReplacedMotion = {"velocities", "velocity", "velo",
                                                             "vel", "momenta"};

/// Keys and columns that the structure's own members write.
constexpr std::array<std::string_view, 5> kOwnKeys = {"lattice", "properties", "pbc", "charge",
                                                      "spin_multiplicity"};
constexpr std::array<std::string_view, 4> kOwnColumns = {"species", "symbols", "pos", "positions"};

template <std::size_t Size>
bool contains(const std::array<std::string_view, Size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_word(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), atoms::is_space);
}

class FrameWriter {
 public:
  FrameWriter(const Structure& structure, const FrameResults& results)
      : structure_(structure), results_(results) {
    replaces_ = results.energy || !results.forces.empty() || results.stress;
    for (const ExtraColumn& column : structure.extra_columns) {
      const std::string name = atoms::lower(column.name);
      if (replaces_ && contains(kReplaced, name)) continue;
      if (!results.velocities.empty() && contains(kReplacedMotion, name)) continue;
      columns_.push_back(&column);
    }
  }

  std::string text() {
    check_columns();
    check_results();
    text_ = fmt::format("{}\n", structure_.size());
    add_header();
    for (std::size_t i = 0; i < structure_.size(); ++i) add_atom(i);
    return std::move(text_);
  }

 private:
  void check_columns() const {
    for (const ExtraColumn* column : columns_) {
      const std::string_view name = column->name;
      check(is_word(name) && name.find(':') == std::string_view::npos, ErrorCode::bad_input,
            "column name \"{}\" cannot be written (no white space and no ':' may be in it), "
            "rename it",
            name);
      check(!contains(kOwnColumns, name) && !(name == "forces" && !results_.forces.empty()),
            ErrorCode::bad_input, "column {} would be written twice, remove it from extra_columns",
            name);
      check(std::string_view("SRIL").find(column->type) != std::string_view::npos,
            ErrorCode::bad_input, "column {} has type '{}' (S, R, I or L is needed), correct it",
            name, column->type);
      const bool words = std::all_of(column->tokens.begin(), column->tokens.end(), is_word);
      check(words, ErrorCode::bad_input,
            "column {} cannot be written (an entry is empty or holds white space), correct it",
            name);
    }
  }

  void check_results() const {
    const std::size_t n = structure_.size();
    check(results_.forces.empty() || results_.forces.size() == n, ErrorCode::bad_input,
          "{} forces for {} atoms cannot be written, give one per atom", results_.forces.size(), n);
    check(results_.velocities.empty() || results_.velocities.size() == n, ErrorCode::bad_input,
          "{} velocities for {} atoms cannot be written, give one per atom",
          results_.velocities.size(), n);
    bool finite = !results_.energy || std::isfinite(*results_.energy);
    for (const Vec3& force : results_.forces) finite = finite && is_finite(force);
    for (const Vec3& velocity : results_.velocities) finite = finite && is_finite(velocity);
    if (results_.stress) {
      for (const Vec3& row : *results_.stress) finite = finite && is_finite(row);
    }
    check(finite, ErrorCode::bad_input,
          "energy, forces, velocities or stress are not finite, check the calculation they come "
          "from");
  }

  static bool is_finite(const Vec3& v) {
    return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
  }

  void add_header() {
    const auto zero_row = [](const Vec3& row) { return row == Vec3{}; };
    const Mat3& cell = structure_.cell;
    if (!std::all_of(cell.begin(), cell.end(), zero_row)) {
      text_ += "Lattice=";
      add_nine(cell);
      text_ += ' ';
    }
    text_ += "Properties=species:S:1:pos:R:3";
    for (const ExtraColumn* column : columns_) {
      text_ += fmt::format(":{}:{}:{}", column->name, column->type, column->width);
    }
    if (!results_.forces.empty()) text_ += ":forces:R:3";
    if (!results_.velocities.empty()) text_ += ":velocities:R:3";
    add_kept_keys();
    if (structure_.charge) add_count("charge", *structure_.charge);
    if (structure_.spin_multiplicity) {
      add_count("spin_multiplicity", *structure_.spin_multiplicity);
    }
    add_result_keys();
    const auto& pbc = structure_.pbc;
    text_ += fmt::format(" pbc=\"{} {} {}\"\n", pbc[0] ? 'T' : 'F', pbc[1] ? 'T' : 'F',
                         pbc[2] ? 'T' : 'F');
  }

  void add_kept_keys() {
    for (const auto& [key, value] : structure_.extra_info) {
      const std::string name = atoms::lower(key);
      check(!key.empty() && !contains(kOwnKeys, name), ErrorCode::bad_input,
            "key \"{}\" cannot be kept (the structure writes it itself), remove it from extra_info",
            key);
      if (!(replaces_ && contains(kReplaced, name)) && !is_result_key(key)) add_key(key, value);
    }
  }

  bool is_result_key(const std::string& key) const {
    return std::any_of(results_.info.begin(), results_.info.end(),
                       [&key](const auto& pair) { return pair.first == key; });
  }

  void add_result_keys() {
    if (results_.energy) {
      add_number("energy", *results_.energy);
      add_number("free_energy", *results_.energy);
    }
    if (results_.stress) {
      text_ += " stress=";
      add_nine(*results_.stress);
    }
    for (const auto& [key, value] : results_.info) add_key(key, value);
  }

  void add_key(std::string_view key, std::string_view value) {
    text_ += ' ';
    text_ += atoms::written_key(key);
    text_ += '=';
    text_ += atoms::written_value(value);
  }

  void add_number(std::string_view key, double value) {
    text_ += fmt::format(" {}=", key);
    atoms::append_real(text_, value);
  }

  /// A number that is an integer by its meaning, which other programs expect to see as one.
  void add_count(std::string_view key, double value) {
    constexpr double kLargest = 1e9;
    if (std::abs(value) < kLargest && value == std::trunc(value)) {
      text_ += fmt::format(" {}={}", key, static_cast<long>(value));
    } else {
      add_number(key, value);
    }
  }

  void add_nine(const Mat3& matrix) {
    char before = '"';
    for (const Vec3& row : matrix) {
      for (const double entry : row) {
        text_ += before;
        atoms::append_real(text_, entry);
        before = ' ';
      }
    }
    text_ += '"';
  }

  void add_vector(const Vec3& v) {
    for (const double component : v) {
      text_ += ' ';
      atoms::append_real(text_, component);
    }
  }

  void add_atom(std::size_t i) {
    text_ += atoms::symbol_text(structure_.species[i]);
    add_vector(structure_.positions[i]);
    for (const ExtraColumn* column : columns_) {
      const auto width = static_cast<std::size_t>(column->width);
      for (std::size_t k = 0; k < width; ++k) {
        text_ += ' ';
        text_ += column->tokens[i * width + k];
      }
    }
    if (!results_.forces.empty()) add_vector(results_.forces[i]);
    if (!results_.velocities.empty()) add_vector(results_.velocities[i]);
    text_ += '\n';
  }

  const Structure& structure_;
  const FrameResults& results_;
  std::vector<const ExtraColumn*> columns_;
  bool replaces_ = false;
  std::string text_;
};

}  // namespace

void write_extxyz(std::ostream& out, const Structure& structure, const FrameResults& results) {
  validate(structure);
  const std::string text = FrameWriter(structure, results).text();
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  check(out.good(), ErrorCode::bad_input,
        "a frame could not be written (disk full, or no permission?), check the output");
}

}  // namespace trine
