// Arrays of other libraries, used where they are: DLPack and the CUDA array interface.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace trine::python {

namespace nb = nanobind;

/// A dense array of doubles in somebody else's memory.
struct ForeignArray {
  double* data = nullptr;
  std::vector<std::int64_t> shape;
  std::shared_ptr<void> owner;  ///< keeps the memory; to be released with the interpreter held
};

enum class Access { read, write };

/// Looks at `array`, of which nothing is copied. It speaks DLPack, or has
/// `__cuda_array_interface__`. `gpu` is the number of the GPU that will use it, or -1 for the host.
/// Throws `Error(usage)` that calls it `name` for anything else, and if it is not dense, row by
/// row, in float64, in memory of that device, and writable where it is written to.
ForeignArray foreign_array(const char* name, nb::handle array, Access access, int gpu);

}  // namespace trine::python
