// Everything that `predict` writes: extended XYZ, JSON, a table, warnings.
#pragma once

#include <optional>
#include <string>

#include "frame_output.hpp"
#include "frame_report.hpp"
#include "output_file.hpp"
#include "trine/model.hpp"

namespace trine::app {

/// File names as the user typed them; empty: not wanted.
struct OutputNames {
  std::string extxyz;
  std::string json;

  bool use_standard_output() const { return extxyz == "-" || json == "-"; }
  bool any() const { return !extxyz.empty() || !json.empty(); }
};

/// Writes frames as they come. The files appear under their names in `finish`; the table is printed
/// there too, unless standard output carries data, or `quiet` and the results went to a file.
class PredictOutput {
 public:
  PredictOutput(const OutputNames& names, const Model& model, const Selection& selection,
                bool quiet);

  void add(const Structure& frame, const Result& result);
  void finish();

 private:
  void begin_json(const Model& model);
  void add_warnings(const Structure& frame, const Result& result, const FrameOutput& output);
  void warn_a_few(const std::string& message);

  Selection selection_;
  bool table_;
  std::optional<OutputFile> extxyz_;
  std::optional<OutputFile> json_;
  SummaryTable summary_;
  std::string single_report_;  ///< of the first frame, printed if it stays the only one
  std::size_t frames_ = 0;
  std::size_t warnings_ = 0;
};

}  // namespace trine::app
