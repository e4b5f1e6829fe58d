#include "bench_gemm_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "table.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

std::string_view direction_name(GemmDirection direction) {
  return direction == GemmDirection::forward ? "forward" : "gradient";
}

std::string shape_text_of(const GemmBenchmarkCase& timed) {
  return fmt::format("{}x{}x{} {}", timed.shape.m, timed.outputs(), timed.inner(),
                     direction_name(timed.direction));
}

std::string title_of(const ProductSet& set) {
  return set.model.empty() ? "given products" : fmt::format("{}, {} atoms", set.model, set.atoms);
}

/// Keeps the first NaN: a product that failed must not vanish in a maximum.
void raise(double& worst, double value) {
  if (!(value <= worst) && !std::isnan(worst)) worst = value;
}

Json errors_json(const GemmErrors& errors) {
  return {{"rms", errors.rms}, {"max", errors.max}, {"mean", errors.mean}};
}

Json optional_json(const std::optional<int>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json figure_json(const MeasuredProduct& measured, const GemmBenchmarkFigure& figure) {
  Json all = {{"method", gemm_method_info(figure.method).name}};
  if (!figure.reason.empty()) {
    all["reason"] = figure.reason;
    return all;
  }
  const GemmBenchmarkFigure& base = measured.figures.front();
  const bool has_base = base.reason.empty();
  all["us"] = figure.seconds * 1e6;
  all["min_us"] = figure.min_seconds * 1e6;
  all["tflops"] = measured.timed().flops() / figure.seconds * 1e-12;
  all["speedup"] = has_base ? Json(base.seconds / figure.seconds) : Json(nullptr);
  all["normal"] = errors_json(figure.normal);
  all["same_sign"] = errors_json(figure.same_sign);
  all["rms_over_fp32"] = has_base ? Json(figure.normal.rms / base.normal.rms) : Json(nullptr);
  all["max_over_fp32"] = has_base ? Json(figure.normal.max / base.normal.max) : Json(nullptr);
  all["bound"] = figure.bound;
  all["launches"] = figure.launches;
  all["sm_clock_mhz"] = optional_json(figure.sm_clock_mhz);
  return all;
}

Json product_json(const MeasuredProduct& measured) {
  const GemmBenchmarkCase timed = measured.timed();
  Json all = {{"sites", measured.product.sites},
              {"direction", direction_name(measured.direction)},
              {"rows", timed.shape.m},
              {"outputs", timed.outputs()},
              {"inner", timed.inner()},
              {"count", measured.product.count},
              {"auto", gemm_method_info(measured.automatic).name}};
  for (const auto& figure : measured.figures)
    all["figures"].push_back(figure_json(measured, figure));
  return all;
}

Json summary_json(const SetSummary& summary) {
  Json all = {{"method", gemm_method_info(summary.method).name}, {"complete", summary.complete}};
  if (!summary.complete) return all;
  all["ms"] = summary.seconds * 1e3;
  all["tflops"] = summary.tflops;
  all["speedup"] = summary.speedup;
  all["rms_over_fp32"] = summary.rms_over_fp32;
  all["max_over_fp32"] = summary.max_over_fp32;
  all["bias_u"] = summary.bias;
  all["max_over_bound"] = summary.max_over_bound;
  return all;
}

std::vector<std::string> figure_cells(const MeasuredProduct& measured,
                                      const GemmBenchmarkFigure& figure) {
  const std::string name(gemm_method_info(figure.method).name);
  if (!figure.reason.empty()) return {name, "not run"};
  const GemmBenchmarkFigure& base = measured.figures.front();
  const bool has_base = base.reason.empty();
  return {name,
          fixed(figure.seconds * 1e6, 1),
          fixed(measured.timed().flops() / figure.seconds * 1e-12, 1),
          has_base ? fixed(base.seconds / figure.seconds, 2) : "",
          fixed(figure.normal.rms, 2),
          fixed(figure.normal.max, 1),
          fixed(figure.normal.mean, 3),
          has_base ? fixed(figure.normal.rms / base.normal.rms, 2) : "",
          fixed(figure.same_sign.mean, 2),
          fixed(figure.bound, 0),
          figure.sm_clock_mhz ? fmt::format("{}", *figure.sm_clock_mhz) : ""};
}

/// Why methods did not run, each reason once.
std::string reasons_text(const MeasuredProduct& measured) {
  std::string text;
  for (const auto& figure : measured.figures) {
    if (figure.reason.empty()) continue;
    text += fmt::format("{}: {}\n", gemm_method_info(figure.method).name, figure.reason);
  }
  return text;
}

}  // namespace

std::string MeasuredProduct::shape_text() const {
  return shape_text_of(timed());
}

std::string MeasuredSet::title() const {
  return title_of(set);
}

double set_flops(const MeasuredSet& set) {
  double flops = 0;
  for (const auto& p : set.products)
    flops += p.timed().flops() * static_cast<double>(p.product.count);
  return flops;
}

std::vector<SetSummary> summarize(const MeasuredSet& set) {
  std::vector<SetSummary> all;
  if (set.products.empty()) return all;
  for (std::size_t i = 0; i < set.products.front().figures.size(); ++i) {
    SetSummary s;
    s.method = set.products.front().figures[i].method;
    s.complete = true;
    for (const auto& p : set.products) {
      const auto &figure = p.figures[i], &base = p.figures.front();
      s.complete = s.complete && figure.reason.empty() && base.reason.empty();
      s.seconds += figure.seconds * static_cast<double>(p.product.count);
      raise(s.rms_over_fp32, figure.normal.rms / base.normal.rms);
      raise(s.max_over_fp32, figure.normal.max / base.normal.max);
      raise(s.max_over_bound, figure.normal.max / figure.bound);
      raise(s.max_over_bound, figure.same_sign.max / figure.bound);
      const double bias = figure.same_sign.mean;
      if (!(std::abs(bias) <= std::abs(s.bias)) && !std::isnan(s.bias)) s.bias = bias;
    }
    s.tflops = set_flops(set) / s.seconds * 1e-12;
    s.speedup = all.empty() ? 1 : all.front().seconds / s.seconds;
    all.push_back(s);
  }
  return all;
}

std::string list_text(const std::vector<ProductSet>& sets,
                      const std::vector<GemmDirection>& directions) {
  std::string text;
  for (const auto& set : sets) {
    Table table({{"rows"},
                 {"outputs"},
                 {"inner"},
                 {"", Align::left},
                 {"times"},
                 {"GFLOP"},
                 {"sites", Align::left}});
    double total = 0;
    for (const auto direction : directions) {
      for (const auto& product : set.products) {
        const GemmBenchmarkCase timed{direction, product.shape};
        const double gflop = timed.flops() * static_cast<double>(product.count) * 1e-9;
        total += gflop;
        table.add({fmt::format("{}", timed.shape.m), fmt::format("{}", timed.outputs()),
                   fmt::format("{}", timed.inner()), std::string(direction_name(direction)),
                   fmt::format("{}", product.count), fixed(gflop, 2), product.sites});
      }
    }
    const std::string edges = set.model.empty() ? "" : fmt::format(", {} edges", set.edges);
    text += fmt::format("{}{}: {} TFLOP\n{}\n", title_of(set), edges, fixed(total * 1e-3, 3),
                        table.text());
  }
  return text;
}

std::string table_text(const GemmRun& run) {
  std::string text =
      "Errors in units of 2^-24 sum |x||w|: rms, max and mean on normal data, bias "
      "on same-sign data.\n\n";
  for (const auto& set : run.sets) {
    for (const auto& measured : set.products) {
      Table table({{"method", Align::left},
                   {"us"},
                   {"TFLOP/s"},
                   {"speed-up"},
                   {"rms"},
                   {"max"},
                   {"mean"},
                   {"rms/fp32"},
                   {"bias"},
                   {"bound"},
                   {"MHz"}});
      for (const auto& figure : measured.figures) table.add(figure_cells(measured, figure));
      text += fmt::format("{}: {}, {} times ({})\n{}{}\n", set.title(), measured.shape_text(),
                          measured.product.count, measured.product.sites, table.text(),
                          reasons_text(measured));
    }
  }
  return text;
}

std::string summary_text(const GemmRun& run) {
  std::string text;
  for (const auto& set : run.sets) {
    Table table({{"method", Align::left},
                 {"ms"},
                 {"TFLOP/s"},
                 {"speed-up"},
                 {"worst rms/fp32"},
                 {"worst max/fp32"},
                 {"worst bias"}});
    for (const auto& s : summarize(set)) {
      const std::string name(gemm_method_info(s.method).name);
      if (!s.complete) {
        table.add({name, "not run"});
        continue;
      }
      table.add({name, fixed(s.seconds * 1e3, 3), fixed(s.tflops, 1), fixed(s.speedup, 2),
                 fixed(s.rms_over_fp32, 2), fixed(s.max_over_fp32, 2), fixed(s.bias, 2)});
    }
    text += fmt::format("{}: {} TFLOP, every product as often as it occurs\n{}\n", set.title(),
                        fixed(set_flops(set) * 1e-12, 3), table.text());
  }
  return text;
}

Json as_json(const GemmRun& run) {
  Json all = {
      {"device", run.device},
      {"capability", run.capability},
      {"driver", run.driver},
      {"toolkit", run.toolkit},
      {"seconds", run.options.seconds},
      {"windows", run.options.windows},
      {"rows", run.options.check_rows},
      {"graph", run.options.graph},
      {"sm_clock_mhz",
       {{"before", optional_json(run.clock_before)}, {"after", optional_json(run.clock_after)}}}};
  all["sets"] = Json::array();
  for (const auto& set : run.sets) {
    Json entry = {{"model", set.set.model},
                  {"atoms", set.set.atoms},
                  {"edges", set.set.edges},
                  {"tflop", set_flops(set) * 1e-12}};
    for (const auto& summary : summarize(set)) entry["summary"].push_back(summary_json(summary));
    for (const auto& measured : set.products) entry["products"].push_back(product_json(measured));
    all["sets"].push_back(entry);
  }
  return all;
}

}  // namespace trine::app
