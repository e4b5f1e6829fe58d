#include "atoms/elements.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "atoms/number_text.hpp"
#include "base/check.hpp"
#include "trine/structure.hpp"

namespace trine {
namespace atoms {
namespace {

// clang-format off
constexpr std::array<std::string_view, kNumElements> kSymbols = {
    "H",  "He",
    "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne",
    "Na", "Mg", "Al", "Si", "P",  "S",  "Cl", "Ar",
    "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr",
    "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe",
    "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb",
    "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn",
    "Fr", "Ra", "Ac", "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No",
    "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};

constexpr std::array<double, kNumElements> kMasses = {
    1.008,  4.0026,
    6.94,   9.0122, 10.81,  12.011, 14.007, 15.999, 18.998, 20.180,
    22.990, 24.305, 26.982, 28.085, 30.974, 32.06,  35.45,  39.95,
    39.098, 40.078, 44.956, 47.867, 50.942, 51.996, 54.938, 55.845, 58.933, 58.693, 63.546, 65.38,
    69.723, 72.630, 74.922, 78.971, 79.904, 83.798,
    85.468, 87.62,  88.906, 91.224, 92.906, 95.95,  0,      101.07, 102.91, 106.42, 107.87, 112.41,
    114.82, 118.71, 121.76, 127.60, 126.90, 131.29,
    132.91, 137.33, 138.91, 140.12, 140.91, 144.24, 0,      150.36, 151.96, 157.25, 158.93, 162.50,
    164.93, 167.26, 168.93, 173.05, 174.97, 178.49, 180.95, 183.84, 186.21, 190.23, 192.22, 195.08,
    196.97, 200.59, 204.38, 207.2,  208.98, 0,      0,      0,
    0,      0,      0,      232.04, 231.04, 238.03};  // none from neptunium on
// clang-format on

constexpr int kLetters = 26;

/// Place of a one- or two-letter symbol in the look-up table, or nothing if it is not letters.
constexpr std::optional<std::size_t> slot(std::string_view symbol) {
  if (symbol.empty() || symbol.size() > 2) return std::nullopt;
  int index = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    int letter = 0;  // 0: no second letter
    if (i < symbol.size()) {
      const char lower = static_cast<char>(symbol[i] | 0x20);
      if (lower < 'a' || lower > 'z') return std::nullopt;
      letter = lower - 'a' + 1;
    }
    index = index * (kLetters + 1) + letter;
  }
  return static_cast<std::size_t>(index);
}

constexpr auto kBySlot = [] {
  std::array<std::uint8_t, (kLetters + 1) * (kLetters + 1)> table{};
  for (std::size_t i = 0; i < kSymbols.size(); ++i) {
    table[*slot(kSymbols[i])] = static_cast<std::uint8_t>(i + 1);
  }
  return table;
}();

}  // namespace

int element_from_symbol(std::string_view symbol) {
  const auto index = slot(symbol);
  return index ? kBySlot[*index] : 0;
}

int element_from_text(std::string_view text) {
  if (const int z = element_from_symbol(text)) return z;
  const auto number = parse_integer(text);
  return number && *number >= 1 && *number <= kNumElements ? static_cast<int>(*number) : 0;
}

std::string_view symbol_text(int atomic_number) {
  return kSymbols[static_cast<std::size_t>(atomic_number - 1)];
}

double standard_mass(int atomic_number) {
  return kMasses[static_cast<std::size_t>(atomic_number - 1)];
}

int element_from_mass(double mass, double tolerance) {
  int best = 0;
  double best_distance = tolerance;
  for (int z = 1; z <= kNumElements; ++z) {
    const double distance = std::abs(standard_mass(z) - mass);
    if (standard_mass(z) > 0 && distance <= best_distance) {
      best = z;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace atoms

const std::string& element_symbol(int atomic_number) {
  static const auto symbols = [] {
    std::array<std::string, atoms::kNumElements> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = atoms::kSymbols[i];
    return all;
  }();
  check(atomic_number >= 1 && atomic_number <= atoms::kNumElements, ErrorCode::bad_input,
        "{} is no atomic number (elements go from 1, H, to 118, Og), correct the species",
        atomic_number);
  return symbols[static_cast<std::size_t>(atomic_number - 1)];
}

int atomic_number(const std::string& symbol) {
  return atoms::element_from_symbol(symbol);
}

}  // namespace trine
