#include "predict_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model_json.hpp"
#include "options.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWarningsShown = 5;

/// Above this a per-atom uncertainty says that the model has hardly seen such an environment
/// (metatomic's threshold).
constexpr double kLargeUncertainty = 0.1;  // eV

}  // namespace

PredictOutput::PredictOutput(const OutputNames& names, const Model& model,
                             const Selection& selection, bool quiet)
    : selection_(selection),
      table_(!names.use_standard_output() && !(quiet && names.any())),
      summary_(selection.uncertainty) {
  if (!names.extxyz.empty()) extxyz_.emplace(names.extxyz);
  if (!names.json.empty()) {
    json_.emplace(names.json);
    begin_json(model);
  }
}

void PredictOutput::begin_json(const Model& model) {
  json_->stream() << fmt::format(
      "{{\"model\": {}, \"device\": \"{}\", \"precision\": {}, \"frames\": [",
      model_json(model,
                 {{"forces", name_of(selection_.forces)}, {"stress", name_of(selection_.stress)}})
          .dump(),
      model.options().device, Json(precision_name(model.options())).dump());
}

void PredictOutput::add(const Structure& frame, const Result& result) {
  const FrameOutput output = select_output(frame, result, selection_);
  if (extxyz_) write_extxyz(extxyz_->stream(), frame, frame_results(result, output, selection_));
  if (json_) json_->stream() << (frames_ == 0 ? "\n" : ",\n") << frame_json(result, output).dump();
  if (table_) {
    if (frames_ == 0) single_report_ = frame_report(frame, result, output);
    summary_.add(frame, result, output);
  }
  add_warnings(frame, result, output);
  ++frames_;
}

void PredictOutput::add_warnings(const Structure& frame, const Result& result,
                                 const FrameOutput& output) {
  if (!output.warning.empty()) warn_a_few(output.warning);
  const auto& uncertainties = result.energies_uncertainty;
  const auto large = std::count_if(uncertainties.begin(), uncertainties.end(),
                                   [](double u) { return u > kLargeUncertainty; });
  if (large > 0) {
    warn_a_few(
        fmt::format("{}: the energy uncertainty of {} of {} is above {} eV, the model may not know "
                    "such surroundings",
                    frame.source, large, counted(frame.size(), "atom"), kLargeUncertainty));
  }
}

void PredictOutput::warn_a_few(const std::string& message) {
  if (++warnings_ <= kWarningsShown) warn(message);
}

void PredictOutput::finish() {
  if (json_) {
    json_->stream() << (frames_ == 0 ? "]}\n" : "\n]}\n");
    json_->commit();
  }
  if (extxyz_) extxyz_->commit();
  if (warnings_ > kWarningsShown)
    warn(counted(warnings_ - kWarningsShown, "more warning") + " of this kind");
  if (table_) fmt::print("{}", frames_ == 1 ? single_report_ : summary_.text());
}

}  // namespace trine::app
