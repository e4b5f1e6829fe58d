// The parts of report.html, and what they have in common.
#pragma once

#include <string>
#include <vector>

#include "trine/certificate.hpp"
#include "validate/lookup.hpp"

namespace trine::validation::report {

/// What the certificate comes to, for people: "fp16x3 may be used: 3.10 times as fast as fp32,
/// force error 0.86 of fp32's."
std::string overall_sentence(const Certificate& certificate);

/// "PASS", "FAIL", "NOT AVAILABLE".
const char* standing_words(Standing standing);

/// What the part of an experiment is called in the report: `experiment_name`, "Energy drift".
struct SectionName {
  const char *id, *title;
};
SectionName section_of(Experiment experiment);

/// A limit: "jitter of the energy curve", "0.5", "meV".
struct LimitWords {
  std::string meaning, value, unit;
};

/// Those that are set, and the two of the reference itself.
std::vector<LimitWords> limits_in_words(const Limits& limits);

/// The parts of the page, from <header> to <footer>.
std::string header_part(const Certificate& certificate);
std::string summary_section(const Certificate& certificate);
std::string single_point_section(const SinglePoint& point, const Limits& limits);
std::string smoothness_section(const Smoothness& smoothness);
std::string drift_section(const Drift& drift);
std::string relaxation_section(const RelaxationTest& test);
std::string invariance_section(const Invariance& invariance);
std::string layers_section(const LayerByLayer& layers);
std::string colophon_section(const Certificate& certificate, const std::string& command);

/// A section of the page, with what was done and how to read it, as HTML.
std::string section(const std::string& id, const std::string& title, const std::string& intro,
                    const std::string& body);
std::string section(Experiment experiment, const std::string& intro, const std::string& body);

/// The content of <style>.
const char* style_sheet();

/// Of all rows of an experiment: what a member is, NaN where a row failed.
template <class Row>
std::vector<double> values_of(const std::vector<Row>& rows, double Row::*member) {
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row.*member);
  return values;
}

/// The names of those rows of an experiment that did not fail.
template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    if (row.failure.empty()) names.push_back(row.arithmetic);
  }
  return names;
}

}  // namespace trine::validation::report
