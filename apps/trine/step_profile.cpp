#include "step_profile.hpp"

#include <fmt/format.h>

#include "step_timing.hpp"
#include "table.hpp"

namespace trine::app {

namespace {

/// Operations with a smaller share of the time are one line of the table.
constexpr double kSmall = 1e-3;

double seconds_of(const std::vector<OperationTime>& operations) {
  double seconds = 0;
  for (const auto& o : operations) seconds += o.seconds;
  return seconds;
}

/// Speed of matrix products; 0 for what has none.
double tflops(const OperationTime& o) {
  return o.seconds > 0 ? o.arithmetic / o.seconds * 1e-12 : 0;
}

double share(double seconds, double all) {
  return all > 0 ? seconds / all : 0;
}

double per_step(const OperationTime& o, int steps) {
  return static_cast<double>(o.calls) / steps;
}

void add(const OperationTime& o, OperationTime& sum) {
  sum.calls += o.calls;
  sum.seconds += o.seconds;
  sum.arithmetic += o.arithmetic;
}

}  // namespace

StepProfile profile_steps(const std::string& path, EngineOptions options, const Structure& frame,
                          int steps) {
  options.profile = true;
  Model model = Model::load(path, options);
  const Timing timing = time_steps(model, frame, steps);
  return {steps, timing.median_ms, model.profile()};
}

std::string profile_table(const StepProfile& p) {
  const double all = seconds_of(p.operations);
  const auto ms = [&](double seconds) { return fixed(seconds * 1e3 / p.steps, 4); };
  const auto percent = [&](double seconds) { return fixed(share(seconds, all) * 100, 1); };
  Table table({{"operation", Align::left}, {"calls"}, {"ms"}, {"%"}, {"TFLOP/s"}});
  const auto line = [&](const OperationTime& o, bool product) {
    table.add({o.name, fmt::format("{:.6g}", per_step(o, p.steps)), ms(o.seconds),
               percent(o.seconds), product ? fixed(tflops(o), 2) : ""});
  };
  OperationTime sum{.name = "all"}, small;
  int others = 0;
  for (const auto& o : p.operations) {
    add(o, sum);
    if (share(o.seconds, all) >= kSmall) {
      line(o, o.arithmetic > 0);
    } else {
      add(o, small);
      ++others;
    }
  }
  small.name = fmt::format("{} more, less than 0.1 % each", others);
  if (others > 0) line(small, false);
  line(sum, false);
  return table.text() +
         fmt::format(
             "\nper step; one step took {} ms while every operation was waited for. Less what an "
             "empty operation\ntakes; a small one still holds its launches. Not in the table: "
             "copies and the host's own work.\nMatrix products: {} GFLOP per step\n",
             fixed(p.step_ms, 3), fixed(sum.arithmetic * 1e-9 / p.steps, 3));
}

nlohmann::ordered_json profile_json(const StepProfile& p) {
  const double all = seconds_of(p.operations);
  auto operations = nlohmann::ordered_json::array();
  for (const auto& o : p.operations) {
    nlohmann::ordered_json row = {{"name", o.name},
                                  {"calls", per_step(o, p.steps)},
                                  {"ms", o.seconds * 1e3 / p.steps},
                                  {"share", share(o.seconds, all)}};
    if (o.arithmetic > 0) row["tflops"] = tflops(o);
    operations.push_back(std::move(row));
  }
  return {{"step_ms", p.step_ms},
          {"operations_ms", all * 1e3 / p.steps},
          {"operations", std::move(operations)}};
}

}  // namespace trine::app
