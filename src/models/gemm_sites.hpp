// The linear layers of a model by name, and the method that each of them gets.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trine/gemm_policy.hpp"

namespace trine {

/// Filled while a model is prepared.
class GemmSites {
 public:
  explicit GemmSites(GemmPolicy policy) : policy_(std::move(policy)) {}

  /// Enters the layer `name` with a weight (out, in). Returns its method.
  GemmMethod add(const std::string& name, std::int64_t out, std::int64_t in);

  /// Error(bad_input) if the policy names a layer that has not been added.
  void check_names() const;

  const std::vector<GemmSite>& all() const { return sites_; }

 private:
  GemmPolicy policy_;
  std::vector<GemmSite> sites_;
};

}  // namespace trine
