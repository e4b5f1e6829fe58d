// Errors of the library as exceptions of Python.
#pragma once

namespace trine::python {

/// From here on a `trine::Error` arrives in Python as the exception that `trine._errors` has for
/// its code, with the same text.
void translate_errors();

}  // namespace trine::python
