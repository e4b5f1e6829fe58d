#pragma once

#include <nanobind/nanobind.h>

namespace trine::python {

/// Matrix products over raw pointers, for `trine.torch`.
void bind_gemm(nanobind::module_& module);

}  // namespace trine::python
