// Matrix products over raw pointers: what `trine.torch` is built on. Nothing here knows PyTorch, so
// that one wheel fits all its versions.
#include "gemm.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "trine/error.hpp"
#include "trine/gemm.hpp"

namespace nb = nanobind;

namespace trine::python {

namespace {

using Address = std::uintptr_t;

template <class T = float>
T* pointer(Address address) {
  return reinterpret_cast<T*>(address);
}

GemmMethod method_named(const std::string& name) {
  if (const auto method = parse_gemm_method(name)) return *method;
  std::string known;
  for (const auto& info : gemm_methods())
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  throw Error(ErrorCode::usage,
              "unknown method '" + name + "' (known are auto, " + known + "), use one of them");
}

std::string name_of(GemmArch arch) {
  return arch == GemmArch::sm_80 ? "sm_80" : arch == GemmArch::sm_90 ? "sm_90" : "sm_100";
}

GemmArch arch_named(const std::string& name) {
  for (const GemmArch arch : {GemmArch::sm_80, GemmArch::sm_90, GemmArch::sm_100}) {
    if (name_of(arch) == name) return arch;
  }
  throw Error(ErrorCode::usage, "unknown architecture '" + name +
                                    "' (known are sm_80, sm_90, sm_100), use one of them");
}

/// A GPU's context for all threads and streams: a call names its stream, and calls take turns.
class SharedContext {
 public:
  explicit SharedContext(int device) : context_(device, nullptr) {}

  const GemmContext& context() const { return context_; }

  template <class Call>
  void run(Address stream, Call call) {
    const nb::gil_scoped_release released;
    const std::scoped_lock lock(mutex_);
    context_.use_stream(pointer<void>(stream));
    call(context_);
  }

  GemmWeight place(const std::string& method, std::int64_t n, std::int64_t k, Address memory) {
    const GemmMethod known = method_named(method);
    const nb::gil_scoped_release released;
    const std::scoped_lock lock(mutex_);
    return context_.place(known, n, k, pointer<void>(memory));
  }

 private:
  std::mutex mutex_;
  GemmContext context_;
};

void repack(SharedContext& shared, GemmWeight& weight, Address w, std::int64_t ldw, Address bias,
            Address stream) {
  shared.run(stream, [&](GemmContext& gemm) {
    gemm.repack(weight, pointer<const float>(w), ldw, pointer<const float>(bias));
  });
}

void forward(SharedContext& shared, const GemmWeight& weight, std::int64_t m, Address x,
             std::int64_t ldx, Address y, std::int64_t ldy, Address workspace, Address stream) {
  GemmForwardArgs args;
  args.m = m;
  args.x = pointer<const float>(x);
  args.ldx = ldx;
  args.y = pointer(y);
  args.ldy = ldy;
  args.workspace = pointer<void>(workspace);
  shared.run(stream, [&](GemmContext& gemm) { gemm.forward(weight, args); });
}

void backward(SharedContext& shared, const GemmWeight& weight, std::int64_t m, Address dy,
              std::int64_t ldy, Address dx, std::int64_t ldx, Address workspace, Address stream) {
  GemmBackwardArgs args;
  args.m = m;
  args.dy = pointer<const float>(dy);
  args.ldy = ldy;
  args.dx = pointer(dx);
  args.ldx = ldx;
  args.workspace = pointer<void>(workspace);
  shared.run(stream, [&](GemmContext& gemm) { gemm.backward(weight, args); });
}

nb::list methods() {
  nb::list all;
  for (const auto& info : gemm_methods()) {
    all.append(nb::make_tuple(std::string(info.name), info.fp32_class, std::string(info.meaning)));
  }
  return all;
}

void bind_context(nb::module_& module) {
  nb::class_<GemmWeight>(module, "GemmWeight", "A weight in the words of one method.");
  nb::class_<SharedContext>(module, "GemmContext",
                            "Products on one GPU, for all threads and streams.")
      .def(nb::init<int>(), nb::arg("device"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro(
          "arch", [](const SharedContext& c) { return name_of(c.context().arch()); },
          "the architecture of `EmulatedGemm` that has the bits of this device")
      .def(
          "supports",
          [](const SharedContext& c, const std::string& method, std::int64_t m, std::int64_t n,
             std::int64_t k) {
            const GemmSupport support = c.context().supports(method_named(method), {m, n, k});
            return std::pair(support.supported, support.reason);
          },
          nb::arg("method"), nb::arg("m"), nb::arg("n"), nb::arg("k"),
          "Is there x (m, k) w (n, k)^T, and why not, or what runs.")
      .def(
          "choose",
          [](const SharedContext& c, std::int64_t m, std::int64_t n, std::int64_t k) {
            return std::string(gemm_method_info(c.context().choose({m, n, k})).name);
          },
          nb::arg("m"), nb::arg("n"), nb::arg("k"), "The fastest method of FP32 accuracy.")
      .def(
          "packed_bytes",
          [](const SharedContext& c, const std::string& method, std::int64_t n, std::int64_t k) {
            return c.context().packed_bytes(method_named(method), n, k);
          },
          nb::arg("method"), nb::arg("n"), nb::arg("k"))
      .def(
          "workspace_bytes",
          [](const SharedContext& c, const GemmWeight& weight, std::int64_t m) {
            return c.context().workspace_bytes(weight, m);
          },
          nb::arg("weight"), nb::arg("m"))
      .def("place", &SharedContext::place, nb::arg("method"), nb::arg("n"), nb::arg("k"),
           nb::arg("memory"),
           "A weight in `packed_bytes` of device memory, 256-aligned, which must outlive it.")
      .def("repack", &repack, nb::arg("weight"), nb::arg("w"), nb::arg("ldw"), nb::arg("bias"),
           nb::arg("stream"),
           "Fills a placed weight from w (n, k) and bias (n) or 0; does not wait.")
      .def("forward", &forward, nb::arg("weight"), nb::arg("m"), nb::arg("x"), nb::arg("ldx"),
           nb::arg("y"), nb::arg("ldy"), nb::arg("workspace"), nb::arg("stream"),
           "y (m, n) = x (m, k) w^T + bias.")
      .def("backward", &backward, nb::arg("weight"), nb::arg("m"), nb::arg("dy"), nb::arg("ldy"),
           nb::arg("dx"), nb::arg("ldx"), nb::arg("workspace"), nb::arg("stream"),
           "dx (m, k) = dy (m, n) w.");
}

}  // namespace

void bind_gemm(nb::module_& module) {
  module.def("gemm_methods", &methods,
             "(name, has the accuracy of FP32, meaning) of every method.");
  bind_context(module);
  nb::class_<EmulatedGemm>(module, "EmulatedGemm",
                           "Products as Tensor Cores compute them, on the CPU.")
      .def(
          "__init__",
          [](EmulatedGemm* self, const std::string& method, const std::string& arch, Address w,
             std::int64_t ldw, std::int64_t n, std::int64_t k) {
            new (self) EmulatedGemm(method_named(method), arch_named(arch), pointer<const float>(w),
                                    ldw, n, k);
          },
          nb::arg("method"), nb::arg("arch"), nb::arg("w"), nb::arg("ldw"), nb::arg("n"),
          nb::arg("k"))
      .def(
          "forward",
          [](const EmulatedGemm& gemm, std::int64_t m, Address x, std::int64_t ldx, Address y,
             std::int64_t ldy, int threads) {
            gemm.forward(m, pointer<const float>(x), ldx, pointer(y), ldy, threads);
          },
          nb::arg("m"), nb::arg("x"), nb::arg("ldx"), nb::arg("y"), nb::arg("ldy"),
          nb::arg("threads"), nb::call_guard<nb::gil_scoped_release>())
      .def(
          "backward",
          [](const EmulatedGemm& gemm, std::int64_t m, Address dy, std::int64_t ldy, Address dx,
             std::int64_t ldx, int threads) {
            gemm.backward(m, pointer<const float>(dy), ldy, pointer(dx), ldx, threads);
          },
          nb::arg("m"), nb::arg("dy"), nb::arg("ldy"), nb::arg("dx"), nb::arg("ldx"),
          nb::arg("threads"), nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace trine::python
