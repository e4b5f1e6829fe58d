// Structures and results on their way between NumPy arrays and the library.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <string>

#include "trine/model.hpp"
#include "trine/structure.hpp"

namespace trine::python {

namespace nb = nanobind;

using Numbers = nb::ndarray<const int, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Cell = nb::ndarray<const double, nb::shape<3, 3>, nb::c_contig, nb::device::cpu>;
using Periodic = nb::ndarray<const bool, nb::shape<3>, nb::c_contig, nb::device::cpu>;

/// Copies arrays to a structure, so that nobody can change it while it is evaluated. What it holds
/// is checked by `Model::evaluate`.
Structure make_structure(const Numbers& numbers, const Positions& positions, const Cell& cell,
                         const Periodic& pbc, std::optional<double> charge,
                         std::optional<double> spin_multiplicity, std::string source);

/// A dictionary of what was computed. Arrays take over the memory of `result`; what is absent has
/// no key.
nb::dict result_dict(Result&& result, const EvaluateOptions& options);

}  // namespace trine::python
