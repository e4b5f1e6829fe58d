// The matrix products of one evaluation of PET, per model size: what 'trine bench gemm' times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trine/gemm.hpp"

namespace trine::app {

/// A product that occurs `count` times in the forward pass, and as often as an input gradient.
struct CountedProduct {
  std::string sites;  ///< where, e.g. "qkv"; sites of one shape share an entry
  GemmShape shape;    ///< m rows; the weight is (n, k)
  std::int64_t count = 1;
};

/// The products of one model on one structure, or those that the user typed.
struct ProductSet {
  std::string model;  ///< "" if typed
  std::int64_t atoms = 0;
  std::int64_t edges = 0;
  std::vector<CountedProduct> products;
};

/// xs, s, s32, m, l: the sizes of the synthetic models.
std::vector<std::string> pet_model_names();

/// For liquid water of `atoms` atoms. `model` is one of the names.
ProductSet pet_products(std::string_view model, std::int64_t atoms);

/// "MxNxK": y (M, N) = x (M, K) w^T. Throws Error(usage) for anything else.
ProductSet typed_products(const std::vector<std::string>& shapes);

}  // namespace trine::app
