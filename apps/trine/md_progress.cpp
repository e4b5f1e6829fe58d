#include "md_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "options.hpp"

namespace trine::app {

namespace {

/// Seconds between lines: on a terminal; elsewhere at least and at most.
constexpr double kOnTerminal = 0.5, kAtLeast = 10, kAtMost = 60;
/// Elsewhere also the share of the run between lines, if that is not too often.
constexpr double kShare = 0.1;

constexpr double kSecondsPerDay = 86400, kFsPerNs = 1e6;

/// "1:02:03" or "2:03"
std::string clock_text(double seconds) {
  const auto all = static_cast<std::int64_t>(seconds + 0.5);
  const auto hours = all / 3600, minutes = all / 60 % 60, rest = all % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, rest)
                   : fmt::format("{}:{:02}", minutes, rest);
}

}  // namespace

MdProgress::MdProgress(std::int64_t first, std::int64_t last, double time_step, bool quiet)
    : first_(first),
      last_(last),
      time_step_(time_step),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      shown_step_(first),
      start_(Clock::now()),
      shown_(start_) {}

double MdProgress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

double MdProgress::steps_per_second(std::int64_t step) const {
  const double elapsed = seconds();
  return elapsed > 0 ? static_cast<double>(step - first_) / elapsed : 0;
}

double MdProgress::ns_per_day(std::int64_t step) const {
  return steps_per_second(step) * time_step_ / kFsPerNs * kSecondsPerDay;
}

bool MdProgress::due(std::int64_t step) const {
  if (quiet_) return false;
  const double since = std::chrono::duration<double>(Clock::now() - shown_).count();
  if (terminal_) return since >= kOnTerminal;
  const bool far =
      static_cast<double>(step - shown_step_) >= kShare * static_cast<double>(last_ - first_);
  return since >= kAtMost || (far && since >= kAtLeast);
}

void MdProgress::show(std::int64_t step, double temperature, double drift) {
  shown_ = Clock::now();
  shown_step_ = step;
  const double rate = steps_per_second(step);
  const std::string left =
      rate > 0 ? clock_text(static_cast<double>(last_ - step) / rate) + " left" : "";
  const std::string line =
      fmt::format("step {} of {}  {:.1f} K  drift {:+.4f} meV/atom  {:.3g} ns/day  {}", step, last_,
                  temperature, drift, ns_per_day(step), left);
  if (!terminal_) {
    note(quiet_, line);
    return;
  }
  fmt::print(stderr, "\r{}\033[K", line);
  open_line_ = true;
}

void MdProgress::finish() {
  if (open_line_) fmt::print(stderr, "\n");
  open_line_ = false;
}

}  // namespace trine::app
