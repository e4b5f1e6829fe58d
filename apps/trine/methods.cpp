#include "methods.hpp"

#include <algorithm>
#include <array>

namespace trine::app {

namespace {

constexpr std::string_view kTensorCores = "Tensor Core products are not in this version";

constexpr std::array<Method, 10> kMethods = {{
    {"fp64", 1, "double precision, the reference", ""},
    {"fp32", 1, "single precision", ""},
    {"tf32", 1, "one TF32 product", kTensorCores},
    {"tf32x3", 3, "FP32 from three TF32 products", kTensorCores},
    {"bf16", 1, "one BF16 product", kTensorCores},
    {"bf16x3", 3, "near FP32 from three BF16 products", kTensorCores},
    {"bf16x6", 6, "FP32 from six BF16 products", kTensorCores},
    {"bf16x9", 9, "FP32 from nine BF16 products", kTensorCores},
    {"fp16", 1, "one FP16 product", kTensorCores},
    {"fp16x3", 3, "FP32 from three scaled FP16 products", kTensorCores},
}};

}  // namespace

std::span<const Method> methods() {
  return kMethods;
}

const Method* find_method(std::string_view name) {
  const auto found =
      std::find_if(kMethods.begin(), kMethods.end(), [&](const auto& m) { return m.name == name; });
  return found == kMethods.end() ? nullptr : &*found;
}

}  // namespace trine::app
