#include "validate/models.hpp"

namespace trine::validation {

Model& Models::reference() {
  if (!reference_) {
    EngineOptions options = bench_.engine;
    options.precision = Precision::fp64;
    options.products = {};
    reference_ = bench_.checkpoint->load(options);
  }
  return *reference_;
}

Model& Models::of(const Arithmetic& arithmetic) {
  if (arithmetic.precision == Precision::fp64) return reference();
  if (tested_) {
    bench_.checkpoint->set_products(*tested_, arithmetic.products);
  } else {
    EngineOptions options = bench_.engine;
    options.precision = arithmetic.precision;
    options.products = arithmetic.products;
    tested_ = bench_.checkpoint->load(options);
  }
  return *tested_;
}

void tell(const Bench& bench, const std::string& words) {
  if (bench.progress) bench.progress(words);
}

}  // namespace trine::validation
