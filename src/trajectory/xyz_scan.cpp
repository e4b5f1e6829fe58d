#include "trajectory/xyz_scan.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

#include "atoms/key_values.hpp"
#include "atoms/line_reader.hpp"
#include "atoms/number_text.hpp"
#include "atoms/structure_reader.hpp"
#include "base/check.hpp"
#include "base/open_file.hpp"

namespace trine::trajectory {
namespace {

class Scanner {
 public:
  Scanner(const std::string& path, std::int64_t step, std::span<const int> species)
      : path_(path),
        file_(open_file(path, "name a trajectory in it")),
        step_(step),
        species_(species) {}

  XyzScan scan() {
    XyzScan kept;
    while (read_frame() && frame_step_ <= step_) {
      kept.bytes = offset_;
      kept.last_step = frame_step_;
    }
    return kept;
  }

 private:
  /// Moves over one frame; false at the end of the file and for a frame that is cut short.
  bool read_frame() {
    if (!next_line()) return false;
    const auto count = atoms::parse_integer(atoms::trim(line_));
    check(count.has_value(), ErrorCode::bad_input,
          "{}:{}: \"{}\" is not a number of atoms (the file to be continued has to be a trajectory "
          "that trine wrote), name another file",
          path_, number_, atoms::excerpt(line_));
    check(*count == static_cast<std::int64_t>(species_.size()), ErrorCode::bad_input,
          "{}:{}: a frame of {} atoms (the run that continues the file has {}), name another file",
          path_, number_, *count, species_.size());
    std::string text = line_ + '\n';
    if (!next_line()) return false;
    frame_step_ = step_of_line();
    if (compared_) return skip_lines();
    text += line_ + '\n';
    for (std::size_t i = 0; i < species_.size(); ++i) {
      if (!next_line()) return false;
      text += line_ + '\n';
    }
    compare_species(text);
    return true;
  }

  bool skip_lines() {
    for (std::size_t i = 0; i < species_.size(); ++i) {
      if (!next_line()) return false;
    }
    return true;
  }

  /// A line without an end was being written when the run was killed: it counts as the end.
  bool next_line() {
    if (!std::getline(file_, line_) || file_.eof()) return false;
    offset_ += line_.size() + 1;
    ++number_;
    return true;
  }

  std::int64_t step_of_line() const {
    std::istringstream stream(line_);
    atoms::LineReader reader(stream, path_);
    reader.next();
    const auto pairs = atoms::parse_key_values(reader);
    const auto pair = std::find_if(pairs.begin(), pairs.end(),
                                   [](const atoms::KeyValue& p) { return p.key == "step"; });
    const auto step = pair == pairs.end() ? std::nullopt : atoms::parse_integer(pair->value);
    check(
        step.has_value(), ErrorCode::bad_input,
        "{}:{}: the frame has no step (the file to be continued has to be a trajectory that trine "
        "wrote), name another file",
        path_, number_);
    return *step;
  }

  void compare_species(const std::string& text) {
    std::istringstream stream(text);
    const auto frames = atoms::read_structures_from(stream, path_, StructureFormat::extxyz);
    const std::vector<int>& found = frames.front().species;
    const auto [ours, theirs] =
        std::mismatch(species_.begin(), species_.end(), found.begin(), found.end());
    if (ours != species_.end()) {
      fail(ErrorCode::bad_input,
           "{}: atom {} is {} (in the run that continues the file it is {}), name another file",
           path_, ours - species_.begin() + 1, element_symbol(*theirs), element_symbol(*ours));
    }
    compared_ = true;
  }

  std::string path_;
  std::ifstream file_;
  std::int64_t step_;
  std::span<const int> species_;
  std::string line_;
  std::uint64_t offset_ = 0;
  std::int64_t number_ = 0;
  std::int64_t frame_step_ = 0;
  bool compared_ = false;
};

}  // namespace

XyzScan scan_xyz(const std::string& path, std::int64_t step, std::span<const int> species) {
  return Scanner(path, step, species).scan();
}

}  // namespace trine::trajectory
