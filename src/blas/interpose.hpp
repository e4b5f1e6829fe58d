// The frame of every interposed function of cuBLAS.
#pragma once

#include <atomic>

#include "blas/abi.hpp"
#include "blas/dispatch.hpp"
#include "blas/original.hpp"

namespace trine::blas {

/// A function of the original library, looked up when it is first needed. `Function` is a pointer.
template <class Function>
class Original {
 public:
  constexpr explicit Original(const char* symbol) : symbol_(symbol) {}

  /// Null as long as nothing in the process has it.
  Function get() {
    void* found = found_.load(std::memory_order_acquire);
    if (!found) {
      found = find_original(symbol_);
      found_.store(found, std::memory_order_release);
    }
    return reinterpret_cast<Function>(found);
  }

 private:
  const char* symbol_;
  std::atomic<void*> found_{nullptr};
};

/// `describe(product, arguments...)` says what the call computes.
template <class Function, class Describe, class... Arguments>
int interpose(const char* name, Function original, Describe describe, Arguments... arguments) {
  if (!original) return kNotInitialized;
  if (Inside::a_call()) return original(arguments...);
  Product product;
  product.function = name;
  describe(product, arguments...);
  return serve_on_device(product, [&] { return original(arguments...); });
}

}  // namespace trine::blas
