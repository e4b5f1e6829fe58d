// What a Model is made of.
#pragma once

#include <memory>
#include <vector>

#include "models/engine.hpp"
#include "models/gemm_sites.hpp"
#include "ops/profile.hpp"
#include "trine/model.hpp"

namespace trine {

using ProfilePtr = std::shared_ptr<Profile>;  // null: nothing is timed

struct Model::Impl {
  ModelInfo info;
  EngineOptions options;
  int gpu = -1;
  ProfilePtr profile;
  std::vector<GemmSite> sites;
  std::unique_ptr<Engine> engine;
};

}  // namespace trine
