#include "arrays.hpp"

#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

#include "trine/error.hpp"

namespace trine::python {

namespace {

/// What an array says of itself.
struct Description {
  ForeignArray array;
  std::vector<std::int64_t> strides;  ///< in elements
  std::string dtype;
  bool is_on_gpu = false, is_on_host = false;  ///< and out of the other's reach
  int gpu = -1;                                ///< its number, where known
  bool is_read_only = false;
};

[[noreturn]] void refuse(const std::string& name, const std::string& why, const std::string& what) {
  throw Error(ErrorCode::usage, name + ": " + why + ", " + what);
}

std::string dtype_name(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  const auto is = [&](Code code) { return dtype.code == static_cast<std::uint8_t>(code); };
  const std::string bits = std::to_string(dtype.bits * dtype.lanes);
  if (is(Code::Float)) return "float" + bits;
  if (is(Code::Int)) return "int" + bits;
  if (is(Code::UInt)) return "uint" + bits;
  if (is(Code::Bool)) return "bool";
  if (is(Code::Complex)) return "complex" + bits;
  return "numbers of " + bits + " bits";
}

template <class Array>
Description describe(const Array& array, bool is_read_only) {
  Description d;
  d.array.data = static_cast<double*>(const_cast<void*>(static_cast<const void*>(array.data())));
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    d.array.shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    d.strides.push_back(array.stride(i));
  }
  d.dtype = dtype_name(array.dtype());
  d.array.owner = std::make_shared<Array>(array);
  d.is_on_gpu = array.device_type() == nb::device::cuda::value;
  d.is_on_host = array.device_type() == nb::device::cpu::value;
  if (d.is_on_gpu) d.gpu = array.device_id();
  d.is_read_only = is_read_only;
  return d;
}

std::optional<Description> from_dlpack(nb::handle array) {
  nb::ndarray<> writable;
  if (nb::try_cast(array, writable, false)) return describe(writable, false);
  nb::ndarray<nb::ro> readable;
  if (nb::try_cast(array, readable, false)) return describe(readable, true);
  return std::nullopt;
}

/// https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html, versions 2 and 3.
std::optional<Description> from_cuda_array_interface(nb::handle array) {
  if (!nb::hasattr(array, "__cuda_array_interface__")) return std::nullopt;
  const nb::dict all = nb::cast<nb::dict>(array.attr("__cuda_array_interface__"));
  Description d;
  const nb::tuple data = nb::cast<nb::tuple>(all["data"]);
  d.array.data = reinterpret_cast<double*>(nb::cast<std::uintptr_t>(data[0]));
  d.is_read_only = nb::cast<bool>(data[1]);
  const std::string type = nb::cast<std::string>(nb::str(all["typestr"]));
  d.dtype = type == "<f8" ? "float64" : type;
  for (const nb::handle length : nb::cast<nb::tuple>(all["shape"])) {
    d.array.shape.push_back(nb::cast<std::int64_t>(length));
  }
  const nb::object strides = all.contains("strides") ? nb::object(all["strides"]) : nb::none();
  if (!strides.is_none()) {
    for (const nb::handle bytes : nb::cast<nb::tuple>(strides)) {
      d.strides.push_back(nb::cast<std::int64_t>(bytes) / static_cast<int>(sizeof(double)));
    }
  }
  d.is_on_gpu = true;
  return d;
}

/// Row by row without gaps? No strides mean that.
bool is_dense(const Description& d) {
  std::int64_t expected = 1;
  for (std::size_t i = d.strides.size(); i-- > 0;) {
    const std::int64_t length = d.array.shape[i];
    if (length == 0) return true;
    if (length != 1 && d.strides[i] != expected) return false;
    expected *= length;
  }
  return true;
}

void check_device(const std::string& name, const Description& d, int gpu) {
  if (gpu < 0) {
    if (d.is_on_gpu) {
      refuse(name, "the array is on a GPU (the model is on the CPU)",
             "give an array in the host's memory or load the model on the GPU");
    }
    return;
  }
  const std::string wanted = "cuda:" + std::to_string(gpu);
  const bool is_elsewhere = d.is_on_gpu && d.gpu >= 0 && d.gpu != gpu;
  if (!d.is_on_host && !is_elsewhere) return;
  const std::string place = d.is_on_host ? "on the host" : "on cuda:" + std::to_string(d.gpu);
  refuse(name, "the array is " + place + " (the model is on " + wanted + ")",
         "give an array on " + wanted);
}

}  // namespace

ForeignArray foreign_array(const char* name, nb::handle array, Access access, int gpu) {
  std::optional<Description> d = from_dlpack(array);
  if (!d) d = from_cuda_array_interface(array);
  if (!d) {
    const std::string type = nb::cast<std::string>(nb::str(array.type().attr("__name__")));
    refuse(name,
           type +
               " is no array whose memory can be used (it has neither __dlpack__ nor "
               "__cuda_array_interface__)",
           "give one of NumPy, PyTorch, CuPy or the like");
  }
  if (d->dtype != "float64") {
    refuse(name, "the array holds " + d->dtype + " (float64 is needed)", "convert it");
  }
  if (!is_dense(*d)) {
    refuse(name, "the array is not dense, row by row (nothing is copied)", "make it contiguous");
  }
  check_device(name, *d, gpu);
  if (access == Access::write && d->is_read_only) {
    refuse(name, "the array is read-only (results are written to it)", "give another one");
  }
  return std::move(d->array);
}

}  // namespace trine::python
