// The tables that `predict` prints for people.
#pragma once

#include <string>
#include <vector>

#include "frame_output.hpp"

namespace trine::app {

/// One row per frame, printed once all are known.
class SummaryTable {
 public:
  explicit SummaryTable(bool uncertainty) : uncertainty_(uncertainty) {}
  void add(const Structure& frame, const Result& result, const FrameOutput& output);
  std::string text() const;

 private:
  bool uncertainty_;
  std::vector<std::vector<std::string>> rows_;
};

/// Everything about one frame on one screen; forces of the first atoms only.
std::string frame_report(const Structure& frame, const Result& result, const FrameOutput& output);

}  // namespace trine::app
