// The rows of an experiment: one for each arithmetic, whatever becomes of it.
#pragma once

#include <string>
#include <vector>

#include "validate/attempt.hpp"
#include "validate/lookup.hpp"
#include "validate/models.hpp"

namespace trine::validation {

/// `measure(arithmetic)` of all but fp64, in their order. Where it throws an `Error`, the row holds
/// the message and nothing else. `what` is for `Bench::progress`.
template <class Row, class Measure>
std::vector<Row> rows_of(const Bench& bench, const std::string& what,
                         const std::vector<Arithmetic>& arithmetics, Measure measure) {
  std::vector<Row> rows;
  for (const Arithmetic& arithmetic : arithmetics) {
    if (arithmetic.precision == Precision::fp64) continue;
    tell(bench, what + ": " + arithmetic.name);
    Row row;
    attempt(row, [&] { row = measure(arithmetic); });
    row.arithmetic = arithmetic.name;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// `member` of the row named fp32, with which ratios are formed; `kNotMeasured` where there is
/// none.
template <class Row>
double of_fp32(const std::vector<Row>& rows, double Row::*member) {
  const Row* row = row_of(rows, "fp32");
  return row ? row->*member : kNotMeasured;
}

}  // namespace trine::validation
