// Evaluations from arrays to arrays where the model computes.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "shared_model.hpp"
#include "trine/structure.hpp"

namespace trine::python {

namespace nb = nanobind;

/// `Model::evaluate_on_device` with arrays of other libraries, None where none is given or wanted.
/// Throws `Error(usage)` for those that cannot be used as they are.
void evaluate_on_device(SharedModel& model, const std::vector<Structure>& structures,
                        nb::object positions, nb::object cells, nb::object energy,
                        nb::object energies, nb::object forces, nb::object strain_gradient,
                        nb::object direct_forces, std::uintptr_t stream);

}  // namespace trine::python
