#include "methods.hpp"

namespace trine::app {

std::vector<Method> methods() {
  std::vector<Method> all = {{"fp64", 1, "double precision, the reference", Precision::fp64}};
  for (const auto& info : gemm_methods()) {
    all.push_back({info.name, info.products, info.meaning, Precision::fp32, info.method});
  }
  all.push_back({"auto", 1, "the fastest that a certificate allows for the model; on a CPU fp32"});
  return all;
}

std::optional<Method> find_method(std::string_view name) {
  for (const auto& method : methods()) {
    if (method.name == name) return method;
  }
  return std::nullopt;
}

}  // namespace trine::app
