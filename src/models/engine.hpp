// What the public Model needs from an architecture on a device.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/gemm_sites.hpp"
#include "models/host_tensor.hpp"
#include "trine/model.hpp"

namespace trine {

class Engine {
 public:
  virtual ~Engine() = default;
  /// `Checkpoint::set_products`: the linear layers enter `sites`, whose methods they get. `tensors`
  /// are those of the model that this was made of. If it throws, nothing has changed.
  virtual void set_products(const std::map<std::string, HostTensor>& tensors, GemmSites& sites) = 0;
  virtual std::vector<Result> evaluate(std::span<const Structure> structures,
                                       const EvaluateOptions& options) = 0;
  virtual void evaluate_on_device(std::span<const Structure> structures,
                                  const DeviceArrays& arrays) = 0;
  virtual double closest_distance() = 0;  ///< `Potential::closest_distance`
  virtual void evaluate_ahead(std::span<const Structure> structures, const DeviceArrays& arrays,
                              int* halted, AheadPart part) = 0;
  virtual std::int64_t ahead_version() const = 0;
  virtual ListStatistics list_statistics() const = 0;
  virtual std::string device() const = 0;
  virtual MemoryPlan memory_plan() const = 0;
};

}  // namespace trine
