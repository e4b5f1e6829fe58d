#include "trajectory/xyz_sink.hpp"

#include <fcntl.h>

#include <filesystem>
#include <sstream>

#include "atoms/number_text.hpp"
#include "base/check.hpp"
#include "trajectory/xyz_scan.hpp"

namespace trine::trajectory {
namespace {

std::string real_text(double value) {
  std::string text;
  atoms::append_real(text, value);
  return text;
}

std::string text_of(const StoredFrame& frame) {
  FrameResults results = frame.results;
  std::vector<std::pair<std::string, std::string>> info = {{"step", std::to_string(frame.step)},
                                                           {"time", real_text(frame.time)}};
  if (frame.kinetic_energy) info.emplace_back("kinetic_energy", real_text(*frame.kinetic_energy));
  if (frame.conserved_energy) {
    info.emplace_back("conserved_energy", real_text(*frame.conserved_energy));
  }
  results.info.insert(results.info.begin(), info.begin(), info.end());
  std::ostringstream out;
  write_extxyz(out, frame.structure, results);
  return std::move(out).str();
}

}  // namespace

XyzSink::XyzSink(const std::string& path, const TrajectoryOptions& options)
    : path_(path), special_(is_special(path)) {
  if (special_) {
    file_.emplace(path, O_WRONLY);
  } else if (options.continue_after && std::filesystem::exists(path)) {
    const XyzScan kept = scan_xyz(path, *options.continue_after, options.species);
    file_.emplace(path, O_WRONLY | O_APPEND);
    file_->resize(kept.bytes);
    last_step_ = kept.last_step;
  } else {
    replacement_.emplace(path);
    file_.emplace(replacement_->part(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC);
  }
}

void XyzSink::check(const TrajectoryFrame& frame) {
  for (const auto& [key, value] : frame.info) {
    trine::check(
        key != "step" && key != "time" && key != "kinetic_energy" && key != "conserved_energy",
        ErrorCode::bad_input,
        "step {}: the key {} would be written twice, remove it from TrajectoryFrame::info",
        frame.step, key);
  }
}

void XyzSink::append(std::span<const StoredFrame> frames) {
  const std::uint64_t before = special_ ? 0 : file_->size();
  try {
    for (const StoredFrame& frame : frames) file_->append(text_of(frame));
  } catch (...) {
    if (!special_) file_->resize(before);
    throw;
  }
  if (replacement_) replacement_->finish();
  replacement_.reset();
}

void XyzSink::sync() {
  // A writer that has written nothing has no file yet.
  if (!special_ && !replacement_) sync_to_disk(path_);
}

}  // namespace trine::trajectory
