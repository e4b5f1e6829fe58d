// The extension module `trine._trine`: what `trine` builds its classes on.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convert.hpp"
#include "errors.hpp"
#include "evaluate_on_device.hpp"
#include "gemm.hpp"
#include "shared_model.hpp"
#include "trine/devices.hpp"
#include "trine/model.hpp"
#include "trine/structure.hpp"
#include "trine/version.hpp"

namespace trine::python {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

nb::dict to_dict(const Pairs& pairs) {
  nb::dict all;
  for (const auto& [key, value] : pairs) all[key.c_str()] = value;
  return all;
}

std::unique_ptr<SharedModel> load(const std::string& path, LoadOptions options) {
  const nb::gil_scoped_release released;
  return std::make_unique<SharedModel>(path, options);
}

nb::list evaluate(SharedModel& model, const std::vector<Structure>& structures, bool gradients,
                  bool direct, bool uncertainty, bool last_layer_features) {
  const EvaluateOptions options{.gradients = gradients,
                                .direct = direct,
                                .uncertainty = uncertainty,
                                .last_layer_features = last_layer_features};
  std::vector<Result> results;
  {
    const nb::gil_scoped_release released;
    results = model.evaluate(structures, options);
  }
  nb::list all;
  for (Result& result : results) all.append(result_dict(std::move(result), options));
  return all;
}

void bind_info(nb::module_& module) {
  nb::class_<TargetInfo>(module, "TargetInfo", "One output of a model.")
      .def_ro("name", &TargetInfo::name, "such as 'energy' or 'energy/pbe'")
      .def_ro("quantity", &TargetInfo::quantity, "as the checkpoint states it")
      .def_ro("unit", &TargetInfo::unit, "as the checkpoint states it")
      .def_ro("per_atom", &TargetInfo::per_atom)
      .def_ro("supported", &TargetInfo::supported)
      .def_ro("reason", &TargetInfo::reason, "why not, if it is not supported")
      .def_ro("uncertainty", &TargetInfo::uncertainty)
      .def_ro("ensemble_members", &TargetInfo::ensemble_members);
  nb::class_<ModelInfo>(module, "ModelInfo", "What a checkpoint holds.")
      .def_ro("path", &ModelInfo::path)
      .def_ro("name", &ModelInfo::name, "from the metadata; may be empty")
      .def_ro("architecture", &ModelInfo::architecture)
      .def_ro("format", &ModelInfo::format, "checkpoint format")
      .def_ro("llpr_format", &ModelInfo::llpr_format, "0: not wrapped for uncertainties")
      .def_prop_ro(
          "hypers", [](const ModelInfo& info) { return to_dict(info.hypers); },
          "hyperparameters, in the checkpoint's order")
      .def_ro("species", &ModelInfo::species, "atomic numbers, ascending")
      .def_ro("length_unit", &ModelInfo::length_unit)
      .def_ro("dtype", &ModelInfo::dtype, "of the weights: 'float32' or 'float64'")
      .def_ro("targets", &ModelInfo::targets)
      .def_ro("parameters", &ModelInfo::parameters, "their number")
      .def_ro("cutoff", &ModelInfo::cutoff, "Angstrom")
      .def_prop_ro(
          "metadata", [](const ModelInfo& info) { return to_dict(info.metadata); },
          "authors, references, description");
}

void bind_model(nb::module_& module) {
  nb::class_<SharedModel>(module, "Model", "A model in memory; calls of threads take turns.")
      .def_prop_ro("info", &SharedModel::info, nb::rv_policy::reference_internal)
      .def_prop_ro("device", [](const SharedModel& m) { return m.options().device; })
      .def_prop_ro("precision", &SharedModel::precision, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("precision_reason", &SharedModel::precision_reason,
                   nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("energy", [](const SharedModel& m) { return m.options().energy; })
      .def_prop_ro("threads", [](const SharedModel& m) { return m.options().threads; })
      .def("evaluate", &evaluate, nb::arg("structures"), nb::kw_only(), nb::arg("gradients"),
           nb::arg("direct"), nb::arg("uncertainty"), nb::arg("last_layer_features"),
           nb::sig("def evaluate(self, structures: collections.abc.Sequence[Structure], *, "
                   "gradients: bool, "
                   "direct: bool, uncertainty: bool, last_layer_features: bool) -> "
                   "list[dict[str, object]]"),
           "One dictionary per structure. Other threads run in the meantime.")
      .def("evaluate_on_device", &evaluate_on_device, nb::arg("structures"), nb::kw_only(),
           nb::arg("positions").none(), nb::arg("cells").none(), nb::arg("energy").none(),
           nb::arg("energies").none(), nb::arg("forces").none(), nb::arg("strain_gradient").none(),
           nb::arg("direct_forces").none(), nb::arg("stream"),
           "From arrays to arrays where the model computes. stream is a cudaStream_t.");
  module.def(
      "load",
      [](const std::string& path, std::string device, std::string precision, std::string energy,
         int threads, double memory_gib, std::string recompute) {
        return load(path, {std::move(device), std::move(precision), std::move(energy), threads,
                           memory_gib, std::move(recompute)});
      },
      nb::arg("path"), nb::kw_only(), nb::arg("device"), nb::arg("precision"), nb::arg("energy"),
      nb::arg("threads"), nb::arg("memory_gib"), nb::arg("recompute"), "Loads a checkpoint.");
}

}  // namespace

}  // namespace trine::python

NB_MODULE(_trine, module) {
  namespace nb = nanobind;
  using namespace trine::python;
  // PyTorch keeps the operators of `trine.torch`, and what they refer to, to the end of the
  // process.
  nb::set_leak_warnings(false);
  module.attr("__version__") = trine::version();
  translate_errors();
  nb::class_<trine::Structure>(module, "Structure", "Atoms and cell; it never changes.")
      .def("__len__", &trine::Structure::size);
  module.def("make_structure", &make_structure, nb::arg("numbers"), nb::arg("positions"),
             nb::arg("cell"), nb::arg("pbc"), nb::arg("charge").none(),
             nb::arg("spin_multiplicity").none(), nb::arg("source"),
             "Copies numbers [N] int32, positions (N, 3) and cell (3, 3) in Angstrom, pbc [3].");
  module.def("set_cublas_folders", &trine::set_cublas_folders, nb::arg("folders"),
             "Where cuBLAS is looked for in the end.");
  bind_info(module);
  bind_model(module);
  bind_gemm(module);
}
