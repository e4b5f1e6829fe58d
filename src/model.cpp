// The public Model: reads a file, picks a device, hands over to the architecture's engine.
#include "trine/model.hpp"

#include <algorithm>

#include "backend.hpp"
#include "base/check.hpp"
#include "base/memory.hpp"
#include "models/checkpoint/read_checkpoint.hpp"
#include "models/engine.hpp"
#include "models/gemm_sites.hpp"
#include "models/pet/engine.hpp"
#include "models/pet/synthetic.hpp"
#include "ops/profile.hpp"
#include "trine/devices.hpp"

namespace trine {
namespace {

pet::ModelData read_model(const std::string& path) {
  return pet::is_synthetic(path) ? pet::make_synthetic(path) : read_checkpoint(path);
}

TargetInfo describe(const pet::Target& target, const pet::ModelData& data) {
  TargetInfo info{.name = target.name,
                  .quantity = target.quantity,
                  .unit = target.unit,
                  .per_atom = target.per_atom,
                  .supported = target.kind != pet::TargetKind::unsupported,
                  .reason = target.reason};
  for (const auto& llpr : data.llpr) {
    if (llpr.target != target.name) continue;
    info.uncertainty = true;
    const auto& shape = llpr.ensemble.shape;
    info.ensemble_members = shape.empty() ? 0 : shape.front() / target.outputs;
  }
  return info;
}

ModelInfo describe(const std::string& path, const pet::ModelData& data) {
  ModelInfo info;
  info.path = path;
  info.architecture = "pet";
  info.format = data.format;
  info.llpr_format = data.llpr_format;
  info.hypers = data.hypers;
  info.species = data.species;
  info.length_unit = data.length_unit;
  info.cutoff = data.config.cutoff;
  info.metadata = data.metadata;
  for (const auto& [key, value] : data.metadata) {
    if (key == "name") info.name = value;
  }
  for (const auto& target : data.targets) info.targets.push_back(describe(target, data));
  for (const auto& [name, tensor] : data.tensors) {
    info.parameters += tensor.size();
    info.dtype = tensor.type == DType::float64 ? "float64" : "float32";
  }
  return info;
}

EngineOptions with_defaults(EngineOptions options) {
  check(options.threads >= 0, ErrorCode::usage,
        "{} threads (the number cannot be negative), leave it out to use all cores",
        options.threads);
  check(options.tape_bytes >= 0, ErrorCode::usage,
        "tape_bytes is negative ({}), use 0 for the default", options.tape_bytes);
  std::vector<GemmMethod> methods = {options.products.method};
  for (const auto& site : options.products.sites) methods.push_back(site.second);
  for (const GemmMethod method : methods) {
    check(options.precision == Precision::fp32 || method == GemmMethod::fp32,
          ErrorCode::not_supported, "{} products in fp64 (their operands are in FP32), use fp32",
          gemm_method_info(method).name);
  }
  if (options.threads == 0) options.threads = std::max(1, default_threads());
  return options;
}

using ProfilePtr = std::shared_ptr<Profile>;  // null: nothing is timed

template <class Real, MemSpace S>
std::unique_ptr<Engine> make_engine(pet::ModelData data, std::unique_ptr<Ops<Real, S>> ops,
                                    EngineOptions& options, const ProfilePtr& profile,
                                    GemmSites& sites) {
  const auto device = ops->use();  // while weights are prepared, too
  if (profile) ops = make_profiled(std::move(ops), profile);
  auto engine =
      std::make_unique<pet::PetEngine<Real, S>>(std::move(data), std::move(ops), options, sites);
  if (profile) profile->clear();  // of what weights took: evaluations alone are counted
  sites.check_names();
  return engine;
}

std::unique_ptr<Engine> make_engine(pet::ModelData data, [[maybe_unused]] int gpu,
                                    EngineOptions& options, const ProfilePtr& profile,
                                    GemmSites& sites) {
  const auto make = [&](auto ops) {
    return make_engine(std::move(data), std::move(ops), options, profile, sites);
  };
  const bool fp64 = options.precision == Precision::fp64;
#ifdef TRINE_CUDA
  if (gpu >= 0) {
    return fp64 ? make(make_cuda<double>(gpu)) : make(make_cuda<float>(gpu));
  }
#endif
  return fp64 ? make(make_cpu<double>(options.threads)) : make(make_cpu<float>(options.threads));
}

}  // namespace

struct Model::Impl {
  ModelInfo info;
  EngineOptions options;
  int gpu = -1;
  ProfilePtr profile;
  std::vector<GemmSite> sites;
  std::unique_ptr<Engine> engine;
};

ModelInfo read_model_info(const std::string& path) {
  return describe(path, read_model(path));
}

Model Model::load(const std::string& path, const EngineOptions& requested) {
  auto impl = std::make_unique<Impl>();
  impl->options = with_defaults(requested);
  const int gpu = cuda_device_number(requested.device);
  impl->gpu = gpu;
  impl->options.device = gpu < 0 ? "cpu" : fmt::format("cuda:{}", gpu);
  pet::ModelData data = read_model(path);
  impl->info = describe(path, data);
  impl->options.energy = pet::choose_energy(data, requested.energy).name;
  if (requested.profile) impl->profile = std::make_shared<Profile>();
  GemmSites sites(impl->options.products);
  impl->engine = make_engine(std::move(data), gpu, impl->options, impl->profile, sites);
  impl->sites = sites.all();
  release_free_memory();  // the file's own copy of the weights is gone
  return Model(std::move(impl));
}

Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

const ModelInfo& Model::info() const {
  return impl_->info;
}
const EngineOptions& Model::options() const {
  return impl_->options;
}
std::string Model::device() const {
  return impl_->engine->device();
}
std::vector<GemmSite> Model::gemm_sites() const {
  return impl_->sites;
}

Result Model::evaluate(const Structure& structure, const EvaluateOptions& options) {
  return std::move(evaluate(std::span(&structure, 1), options).front());
}

std::vector<Result> Model::evaluate(std::span<const Structure> structures,
                                    const EvaluateOptions& options) {
  return impl_->engine->evaluate(structures, options);
}

void Model::evaluate_on_device(std::span<const Structure> structures, const DeviceArrays& arrays) {
  impl_->engine->evaluate_on_device(structures, arrays);
}

int Model::gpu() const {
  return impl_->gpu;
}
double Model::closest_distance() {
  return impl_->engine->closest_distance();
}

void Model::evaluate_ahead(std::span<const Structure> structures, const DeviceArrays& arrays,
                           int* halted, AheadPart part) {
  impl_->engine->evaluate_ahead(structures, arrays, halted, part);
}
std::int64_t Model::ahead_version() const {
  return impl_->engine->ahead_version();
}

ListStatistics Model::list_statistics() const {
  return impl_->engine->list_statistics();
}

MemoryPlan Model::memory_plan() const {
  return impl_->engine->memory_plan();
}

std::vector<OperationTime> Model::profile() const {
  return impl_->profile ? impl_->profile->operations() : std::vector<OperationTime>{};
}
void Model::clear_profile() {
  if (impl_->profile) impl_->profile->clear();
}

}  // namespace trine
