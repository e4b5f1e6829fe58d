// What an arithmetic cannot do is said in its row; the other rows go on.
#pragma once

#include "trine/error.hpp"

namespace trine::validation {

/// Calls `measure`; an `Error` of it becomes the row's `failure`.
template <class Row, class Measure>
void attempt(Row& row, const Measure& measure) {
  try {
    measure();
  } catch (const Error& error) {
    row.failure = error.what();
    row.not_available = error.code() == ErrorCode::not_supported;
  }
}

}  // namespace trine::validation
