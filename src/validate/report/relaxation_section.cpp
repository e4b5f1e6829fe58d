// Relaxations from rattled structures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "validate/report/chart.hpp"
#include "validate/report/markup.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

namespace {

std::string fmax_chart(const RelaxationTest& test) {
  std::vector<double> all = {test.options.fmax};
  std::size_t steps = 1;
  for (const auto& run : test.runs) {
    for (const auto& replica : run.replicas) {
      all.insert(all.end(), replica.history.begin(), replica.history.end());
      steps = std::max(steps, replica.history.size());
    }
  }
  Chart chart({"Largest force against step in each method", "step", "largest force, eV/&Aring;"},
              Axis::linear(0, static_cast<double>(steps - 1), 6, true), Axis::log(all));
  chart.level_y("limit", test.options.fmax, "converged");
  std::vector<std::string> names;
  for (const auto& run : test.runs) {
    bool some = false;
    for (std::size_t r = 0; r < run.replicas.size(); ++r) {
      const auto& history = run.replicas[r].history;
      std::vector<double> step(history.size());
      std::iota(step.begin(), step.end(), 0.0);
      // Markers on the first replica alone.
      chart.line(
          run.arithmetic, step, history,
          fmt::format("{}, replica {}: {} steps", run.arithmetic, r + 1, run.replicas[r].steps),
          r > 0);
      some = some || !history.empty();
    }
    if (some) names.push_back(run.arithmetic);
  }
  return figure(chart, legend(names),
                "The largest force in the system, a line per replica. A line that stays flat above "
                "the dashed one stalls: the forces&#8217; noise is larger than what is asked for.");
}

/// One number per replica; "failed" where it broke off.
std::string each(const RelaxationRun& run, std::string (*word)(const RelaxationReplica&)) {
  std::string words;
  for (const auto& replica : run.replicas) {
    words += (words.empty() ? "" : " &middot; ") +
             (replica.failure.empty() ? word(replica) : "<strong class=\"bad\">failed</strong>");
  }
  return words.empty() ? "&ndash;" : words;
}

/// The largest difference of the final energies to those of `reference`, eV.
double energy_difference(const RelaxationRun& run, const RelaxationRun* reference) {
  if (reference == nullptr || reference->replicas.size() != run.replicas.size()) {
    return kNotMeasured;
  }
  double largest = run.replicas.empty() ? kNotMeasured : 0;
  for (std::size_t r = 0; r < run.replicas.size(); ++r) {
    const auto& a = run.replicas[r];
    const auto& b = reference->replicas[r];
    const double difference =
        a.failure.empty() && b.failure.empty() ? std::fabs(a.energy - b.energy) : kNotMeasured;
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

std::string outcome(const RelaxationRun& run) {
  std::string failures;
  for (const auto& replica : run.replicas) {
    if (!replica.failure.empty()) failures += " " + escaped(replica.failure);
  }
  if (!failures.empty()) return "<strong class=\"bad\">failed</strong>:" + failures;
  if (run.stalled) return "<strong class=\"bad\">stalled</strong>";
  const bool all = std::all_of(run.replicas.begin(), run.replicas.end(),
                               [](const RelaxationReplica& r) { return r.converged; });
  return all ? "converged" : "not converged";
}

std::string table_of(const RelaxationTest& test) {
  const auto fp32 = std::find_if(test.runs.begin(), test.runs.end(), [](const RelaxationRun& run) {
    return run.arithmetic == "fp32" && run.failure.empty();
  });
  const RelaxationRun* reference = fp32 == test.runs.end() ? nullptr : &*fp32;
  std::vector<double> differences;
  for (const auto& run : test.runs) differences.push_back(energy_difference(run, reference));
  const Unit energy = unit_for(Quantity::energy, differences);
  HtmlTable table("Relaxations",
                  {{"Method", Cells::markup},
                   {"Outcome", Cells::markup},
                   {"Steps<br/><small>of each replica</small>", Cells::markup},
                   {"Largest force at the end<br/><small>meV/&Aring;</small>", Cells::markup},
                   {"Final energy from fp32&#8217;s<br/><small>" + energy.html + "</small>"},
                   {"Step<br/><small>ms</small>"}});
  for (std::size_t i = 0; i < test.runs.size(); ++i) {
    const auto& run = test.runs[i];
    if (!run.failure.empty()) {
      table.add_failure(method_name(run.arithmetic), run.failure);
      continue;
    }
    table.add(
        {method_name(run.arithmetic), outcome(run),
         each(run, [](const RelaxationReplica& r) { return std::to_string(r.steps); }),
         each(run, [](const RelaxationReplica& r) { return number(significant(r.fmax * 1e3)); }),
         significant(differences[i] * energy.factor), significant(run.seconds_per_step * 1e3)});
  }
  return table.html();
}

}  // namespace

std::string relaxation_section(const RelaxationTest& test) {
  const auto& o = test.options;
  const std::string intro = fmt::format(
      "FIRE2 from {} copies of the structure whose atoms were displaced by {} &Aring; (standard "
      "deviation of each coordinate), until the largest force is below {} meV/&Aring; or for {} "
      "steps. Final energies show whether methods come to the same minimum.",
      o.replicas, given(o.rattle), given(o.fmax * 1e3), o.max_steps);
  return section(Experiment::relaxation, intro,
                 (test.runs.empty() ? "" : fmax_chart(test)) + table_of(test));
}

}  // namespace trine::validation::report
