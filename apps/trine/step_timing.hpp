// Times of whole evaluations, and how far two results are apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trine/model.hpp"
#include "trine/structure.hpp"

namespace trine::app {

/// Times of one way to run the step.
struct Timing {
  std::string name;
  double median_ms = 0;
  double min_ms = 0;
  double list_ms = 0;          ///< median; what ListStatistics::seconds says
  double without_list_ms = 0;  ///< median of what the step took besides
  int threads = 0;             ///< 0 on a GPU
  double gpu_mib = 0;          ///< of a GPU's memory in use afterwards
  MemoryPlan memory;           ///< of the first evaluation
  Result result;               ///< of the last evaluation
};

/// Energy and forces `repeats` times after one warm-up, neighbour list included.
Timing time_steps(Model& model, const Structure& frame, int repeats);

/// The largest resident size that the process has had, MiB.
double peak_rss_mib();

/// Edges that the network saw.
std::int64_t edges_of(const Result& result);

/// eV/Angstrom, of any component; NaN if one is.
double largest_force_difference(const Result& a, const Result& b);

/// Root mean square of all components' differences, over that of the reference's components.
double relative_force_error(const Result& result, const Result& reference);

}  // namespace trine::app
