#include "evaluate_on_device.hpp"

#include <string>
#include <utility>

#include "arrays.hpp"
#include "trine/error.hpp"

namespace trine::python {

namespace {

using Shape = std::vector<std::int64_t>;

std::string text(const Shape& shape) {
  std::string all = "(";
  for (const std::int64_t length : shape) {
    all += (all.size() > 1 ? ", " : "") + std::to_string(length);
  }
  return all + (shape.size() == 1 ? ",)" : ")");
}

/// The caller's arrays, held until the call has ended.
class Arrays {
 public:
  explicit Arrays(int gpu) : gpu_(gpu) {}

  /// The memory of `array`, null for None. Of a `single` structure, which has the first length 1,
  /// arrays may be without that length.
  double* get(const char* name, const nb::object& array, Access access, const Shape& shape,
              bool single = false) {
    if (array.is_none()) return nullptr;
    ForeignArray found = foreign_array(name, array, access, gpu_);
    const bool fits =
        found.shape == shape || (single && found.shape == Shape(shape.begin() + 1, shape.end()));
    if (!fits) {
      throw Error(ErrorCode::usage, std::string(name) + ": the array has shape " +
                                        text(found.shape) + " (" + text(shape) +
                                        " is needed), reshape it");
    }
    held_.push_back(std::move(found));
    return held_.back().data;
  }

 private:
  int gpu_;
  std::vector<ForeignArray> held_;
};

}  // namespace

void evaluate_on_device(SharedModel& model, const std::vector<Structure>& structures,
                        nb::object positions, nb::object cells, nb::object energy,
                        nb::object energies, nb::object forces, nb::object strain_gradient,
                        nb::object direct_forces, std::uintptr_t stream) {
  const auto batch = static_cast<std::int64_t>(structures.size());
  std::int64_t atoms = 0;
  for (const Structure& s : structures) atoms += static_cast<std::int64_t>(s.size());
  const bool single = batch == 1;
  Arrays all(model.gpu());
  DeviceArrays arrays;
  arrays.positions = all.get("positions", positions, Access::read, {atoms, 3});
  arrays.cells = all.get("cells", cells, Access::read, {batch, 3, 3}, single);
  arrays.energy = all.get("energy", energy, Access::write, {batch}, single);
  arrays.energies = all.get("energies", energies, Access::write, {atoms});
  arrays.forces = all.get("forces", forces, Access::write, {atoms, 3});
  arrays.strain_gradient =
      all.get("strain_gradient", strain_gradient, Access::write, {batch, 3, 3}, single);
  arrays.direct_forces = all.get("direct_forces", direct_forces, Access::write, {atoms, 3});
  arrays.stream = reinterpret_cast<void*>(stream);
  const nb::gil_scoped_release released;
  model.evaluate_on_device(structures, arrays);
}

}  // namespace trine::python
