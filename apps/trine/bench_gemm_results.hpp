// What 'trine bench gemm' measured, its summaries, and the forms in which it is written.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "pet_products.hpp"
#include "trine/gemm_benchmark.hpp"

namespace trine::app {

/// One product in one direction.
struct MeasuredProduct {
  CountedProduct product;
  GemmDirection direction = GemmDirection::forward;
  GemmMethod automatic = GemmMethod::fp32;   ///< what `auto` chooses
  std::vector<GemmBenchmarkFigure> figures;  ///< fp32 first; the same methods everywhere

  GemmBenchmarkCase timed() const { return {direction, product.shape}; }
  std::string shape_text() const;  ///< "680760x768x256 forward": rows, outputs, inner dimension
};

struct MeasuredSet {
  ProductSet set;
  std::vector<MeasuredProduct> products;

  std::string title() const;  ///< "s32, 17280 atoms"
};

struct GemmRun {
  std::string device, driver, toolkit;
  int capability = 0;
  GemmBenchmarkOptions options;
  std::optional<int> clock_before, clock_after;  ///< MHz
  std::vector<MeasuredSet> sets;
};

/// One method over a whole set, each product weighted by how often it occurs.
struct SetSummary {
  GemmMethod method = GemmMethod::fp32;
  bool complete = false;  ///< the other members mean nothing if the method failed anywhere
  double seconds = 0;
  double tflops = 0;
  double speedup = 0;         ///< over fp32 in the same run
  double rms_over_fp32 = 0;   ///< the worst product's
  double max_over_fp32 = 0;   ///< the worst product's
  double bias = 0;            ///< the mean error, in u, of largest magnitude on same-sign data
  double max_over_bound = 0;  ///< the worst product's
};

double set_flops(const MeasuredSet& set);
std::vector<SetSummary> summarize(const MeasuredSet& set);

/// The products that would be timed, without a device.
std::string list_text(const std::vector<ProductSet>& sets,
                      const std::vector<GemmDirection>& directions);
std::string table_text(const GemmRun& run);
std::string summary_text(const GemmRun& run);
nlohmann::ordered_json as_json(const GemmRun& run);
/// One group of bars per set: the speed-up of each method, with the error beside it.
std::string as_svg(const GemmRun& run);

}  // namespace trine::app
