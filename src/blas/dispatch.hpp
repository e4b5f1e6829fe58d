// Who computes a call: trine or the original library.
#pragma once

#include <functional>

#include "blas/product.hpp"

namespace trine::blas {

/// As a cublasStatus_t.
enum Status : int { kSuccess = 0, kNotInitialized = 1, kExecutionFailed = 13 };

/// Serves a call on a GPU and counts it. `original` passes it on as it came.
int serve_on_device(const Product& product, const std::function<int()>& original);

/// The same for a call on the CPU.
void serve_on_cpu(const Product& product, const std::function<void()>& original);

}  // namespace trine::blas
