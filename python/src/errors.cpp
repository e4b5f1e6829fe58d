#include "errors.hpp"

#include <nanobind/nanobind.h>

#include <exception>

#include "trine/error.hpp"

namespace trine::python {

namespace nb = nanobind;

namespace {

const char* name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return "usage";
    case ErrorCode::bad_input:
      return "bad_input";
    case ErrorCode::not_converged:
      return "not_converged";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::validation_failed:
      return "validation_failed";
    case ErrorCode::not_supported:
      return "not_supported";
  }
  return "";
}

void set_python_error(const Error& error) {
  try {
    const nb::object type =
        nb::module_::import_("trine._errors").attr("ERRORS")[name_of(error.code())];
    PyErr_SetObject(type.ptr(), nb::str(error.what()).ptr());
  } catch (nb::python_error& failed) {
    failed.restore();
  }
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      set_python_error(error);
    }
  });
}

}  // namespace trine::python
