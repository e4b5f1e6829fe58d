// The C interface of the matrix products: checks what C cannot express, and keeps exceptions
// inside.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "base/check.hpp"
#include "trine/c/gemm.h"
#include "trine/gemm.hpp"

struct trine_gemm_context {
  trine::GemmContext context;
};
struct trine_gemm_weight {
  trine::GemmWeight weight;
};

namespace {

using trine::check;
using trine::ErrorCode;

// No std::string: keeping a message must not fail, above all when memory is short.
thread_local char last_error[1024] = "";

void copy_text(std::string_view text, char* to, std::size_t size) noexcept {
  if (size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = 0;
}

int status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::usage:
      return TRINE_ERROR_USAGE;
    case ErrorCode::bad_input:
      return TRINE_ERROR_BAD_INPUT;
    case ErrorCode::not_converged:
      return TRINE_ERROR_NOT_CONVERGED;
    case ErrorCode::out_of_memory:
      return TRINE_ERROR_OUT_OF_MEMORY;
    case ErrorCode::validation_failed:
      return TRINE_ERROR_VALIDATION_FAILED;
    case ErrorCode::not_supported:
      return TRINE_ERROR_NOT_SUPPORTED;
  }
  return TRINE_ERROR_INTERNAL;
}

int failed(int status, std::string_view message) noexcept {
  copy_text(message, last_error, sizeof last_error);
  return status;
}

template <class Body>
int guarded(Body body) noexcept {
  try {
    body();
    return TRINE_OK;
  } catch (const trine::Error& error) {
    return failed(status_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(TRINE_ERROR_OUT_OF_MEMORY, "no memory is left on the host");
  } catch (const std::exception& error) {
    return failed(TRINE_ERROR_INTERNAL, error.what());
  } catch (...) {
    return failed(TRINE_ERROR_INTERNAL, "an exception of an unknown kind");
  }
}

void need(const void* pointer, const char* name) {
  check(pointer, ErrorCode::usage, "{} is null (it must not be), give one", name);
}

bool is_method(int method) noexcept {
  return method >= 0 && method < static_cast<int>(trine::GemmMethod::size_);
}

trine::GemmMethod to_method(int method) {
  check(is_method(method), ErrorCode::usage,
        "there is no method {} (they count from 0 to {}), ask trine_gemm_method_from_name", method,
        static_cast<int>(trine::GemmMethod::size_) - 1);
  return static_cast<trine::GemmMethod>(method);
}

trine::GemmActivation to_activation(int activation) {
  switch (activation) {
    case TRINE_GEMM_NONE:
      return trine::GemmActivation::none;
    case TRINE_GEMM_SILU:
      return trine::GemmActivation::silu;
    case TRINE_GEMM_SWIGLU:
      return trine::GemmActivation::swiglu;
  }
  trine::fail(
      ErrorCode::usage,
      "there is no activation {} (they are TRINE_GEMM_NONE, _SILU and _SWIGLU), use one of them",
      activation);
}

/// Structs may grow at their end: then this is the place that accepts the older, shorter ones.
template <class Args>
const Args& checked(const Args* args) {
  need(args, "args");
  check(args->struct_size == sizeof(Args), ErrorCode::usage,
        "struct_size is {} (this version of trine knows {}), set it to sizeof and everything else "
        "that is not used to 0",
        args->struct_size, sizeof(Args));
  return *args;
}

trine::GemmForwardArgs convert(const trine_gemm_forward_args& a) {
  return {.m = a.m,
          .x = a.x,
          .ldx = a.ldx,
          .addend = a.addend,
          .ld_addend = a.ld_addend,
          .pre = a.pre,
          .ld_pre = a.ld_pre,
          .residual = a.residual,
          .ld_residual = a.ld_residual,
          .y = a.y,
          .ldy = a.ldy,
          .row_statistics = a.row_statistics,
          .workspace = a.workspace};
}

trine::GemmBackwardArgs convert(const trine_gemm_backward_args& a) {
  return {.m = a.m,
          .dy = a.dy,
          .ldy = a.ldy,
          .activation = to_activation(a.activation),
          .pre = a.pre,
          .ld_pre = a.ld_pre,
          .add = a.add != 0,
          .dx = a.dx,
          .ldx = a.ldx,
          .workspace = a.workspace};
}

}  // namespace

const char* trine_gemm_last_error(void) {
  return last_error;
}

int trine_gemm_method_count(void) {
  return static_cast<int>(trine::GemmMethod::size_);
}

int trine_gemm_method_from_name(const char* name) {
  if (!name) return -1;
  const auto method = trine::parse_gemm_method(name);
  return method ? static_cast<int>(*method) : -1;
}

const char* trine_gemm_method_name(int method) {
  // The table's texts are literals and so end with a 0.
  return is_method(method) ? trine::gemm_method_info(to_method(method)).name.data() : nullptr;
}

const char* trine_gemm_method_meaning(int method) {
  return is_method(method) ? trine::gemm_method_info(to_method(method)).meaning.data() : nullptr;
}

int trine_gemm_method_is_fp32_class(int method) {
  return is_method(method) && trine::gemm_method_info(to_method(method)).fp32_class;
}

int trine_gemm_context_create(int device, void* stream, trine_gemm_context** context) {
  return guarded([&] {
    need(context, "context");
    *context = nullptr;
    *context = new trine_gemm_context{trine::GemmContext(device, stream)};
  });
}

void trine_gemm_context_destroy(trine_gemm_context* context) {
  delete context;
}

int trine_gemm_capability(const trine_gemm_context* context, int* capability) {
  return guarded([&] {
    need(context, "context");
    need(capability, "capability");
    *capability = context->context.capability();
  });
}

int trine_gemm_device_name(const trine_gemm_context* context, char* name, size_t size) {
  return guarded([&] {
    need(context, "context");
    need(name, "name");
    copy_text(context->context.device_name(), name, size);
  });
}

int trine_gemm_supports(const trine_gemm_context* context, int method, int64_t m, int64_t n,
                        int64_t k, int* supported, char* reason, size_t size) {
  return guarded([&] {
    need(context, "context");
    need(supported, "supported");
    const trine::GemmSupport support = context->context.supports(to_method(method), {m, n, k});
    *supported = support.supported;
    if (reason) copy_text(support.reason, reason, size);
  });
}

int trine_gemm_choose(const trine_gemm_context* context, int64_t m, int64_t n, int64_t k,
                      int* method) {
  return guarded([&] {
    need(context, "context");
    need(method, "method");
    *method = static_cast<int>(context->context.choose({m, n, k}));
  });
}

int trine_gemm_pack(trine_gemm_context* context, const trine_gemm_pack_args* args,
                    trine_gemm_weight** weight) {
  return guarded([&] {
    need(weight, "weight");
    *weight = nullptr;
    need(context, "context");
    const trine_gemm_pack_args& a = checked(args);
    *weight = new trine_gemm_weight{context->context.pack(to_method(a.method), a.w, a.ldw, a.n, a.k,
                                                          a.bias, to_activation(a.activation))};
  });
}

void trine_gemm_weight_destroy(trine_gemm_weight* weight) {
  delete weight;
}

int trine_gemm_weight_bytes(const trine_gemm_weight* weight, size_t* bytes) {
  return guarded([&] {
    need(weight, "weight");
    need(bytes, "bytes");
    *bytes = weight->weight.bytes();
  });
}

int trine_gemm_workspace_bytes(const trine_gemm_context* context, const trine_gemm_weight* weight,
                               int64_t m, size_t* bytes) {
  return guarded([&] {
    need(context, "context");
    need(weight, "weight");
    need(bytes, "bytes");
    *bytes = context->context.workspace_bytes(weight->weight, m);
  });
}

int trine_gemm_forward(trine_gemm_context* context, const trine_gemm_weight* weight,
                       const trine_gemm_forward_args* args) {
  return guarded([&] {
    need(context, "context");
    need(weight, "weight");
    context->context.forward(weight->weight, convert(checked(args)));
  });
}

int trine_gemm_backward(trine_gemm_context* context, const trine_gemm_weight* weight,
                        const trine_gemm_backward_args* args) {
  return guarded([&] {
    need(context, "context");
    need(weight, "weight");
    context->context.backward(weight->weight, convert(checked(args)));
  });
}

int trine_gemm_first_bad_row(trine_gemm_context* context, int64_t* row) {
  return guarded([&] {
    need(context, "context");
    need(row, "row");
    *row = context->context.first_bad_row();
  });
}
