// What a Checkpoint is made of.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "backend.hpp"
#include "models/pet/model_data.hpp"
#include "trine/checkpoint.hpp"

namespace trine {

/// What makes the CPU devices of a checkpoint's models.
struct CpuMakers {
  template <class Real>
  using Maker = std::function<std::unique_ptr<Ops<Real, MemSpace::host>>(int threads)>;

  Maker<float> in_float = make_cpu<float>;
  Maker<double> in_double = make_cpu<double>;
};

struct Checkpoint::Impl {
  pet::ModelData data;
  ModelInfo info;
  CpuMakers cpu;
};

/// For tests: checkpoints whose models run on other devices.
struct CheckpointAccess {
  static Checkpoint with_cpu(Checkpoint checkpoint, CpuMakers cpu) {
    checkpoint.impl_->cpu = std::move(cpu);
    return checkpoint;
  }
};

}  // namespace trine
