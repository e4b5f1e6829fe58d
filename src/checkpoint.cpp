// What a file holds, and the models that are made of it.
#include "trine/checkpoint.hpp"

#include <algorithm>
#include <utility>

#include "backend.hpp"
#include "base/check.hpp"
#include "base/memory.hpp"
#include "base/sha256.hpp"
#include "checkpoint_impl.hpp"
#include "model_impl.hpp"
#include "models/checkpoint/read_checkpoint.hpp"
#include "models/pet/engine.hpp"
#include "models/pet/synthetic.hpp"
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
                                    const CpuMakers& cpu, EngineOptions& options,
                                    const ProfilePtr& profile, GemmSites& sites) {
  const auto make = [&](auto ops) {
    return make_engine(std::move(data), std::move(ops), options, profile, sites);
  };
  const bool fp64 = options.precision == Precision::fp64;
#ifdef TRINE_CUDA
  if (gpu >= 0) {
    return fp64 ? make(make_cuda<double>(gpu)) : make(make_cuda<float>(gpu));
  }
#endif
  return fp64 ? make(cpu.in_double(options.threads)) : make(cpu.in_float(options.threads));
}

}  // namespace

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

Checkpoint Checkpoint::read(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->data = read_model(path);
  impl->info = describe(path, impl->data);
  return Checkpoint(std::move(impl));
}

const ModelInfo& Checkpoint::info() const {
  return impl_->info;
}

std::string Checkpoint::sha256() const {
  const std::string& path = impl_->info.path;
  if (!pet::is_synthetic(path)) return file_sha256(path);
  Sha256 hash;
  hash.update(path);
  return hash.hex();
}

Model Checkpoint::load(const EngineOptions& requested) const {
  auto impl = std::make_unique<Model::Impl>();
  impl->options = with_defaults(requested);
  const int gpu = cuda_device_number(requested.device);
  impl->gpu = gpu;
  impl->options.device = gpu < 0 ? "cpu" : fmt::format("cuda:{}", gpu);
  impl->info = impl_->info;
  impl->options.energy = pet::choose_energy(impl_->data, requested.energy).name;
  if (requested.profile) impl->profile = std::make_shared<Profile>();
  GemmSites sites(impl->options.products);
  impl->engine = make_engine(impl_->data, gpu, impl_->cpu, impl->options, impl->profile, sites);
  impl->sites = sites.all();
  return Model(std::move(impl));
}

void Checkpoint::set_products(Model& model, const GemmPolicy& products) const {
  Model::Impl& impl = *model.impl_;
  check(impl.info.path == impl_->info.path, ErrorCode::usage,
        "products of a model of '{}' by the checkpoint '{}' (it holds other weights), use the one "
        "that the model was made of",
        impl.info.path, impl_->info.path);
  check(impl.options.precision == Precision::fp32, ErrorCode::not_supported,
        "products of a model in fp64 (operands of all methods are in FP32), load it in fp32");
  GemmSites sites(products);
  impl.engine->set_products(impl_->data.tensors, sites);
  impl.sites = sites.all();
  impl.options.products = products;
  if (impl.profile) impl.profile->clear();  // times of other products
}

ModelInfo read_model_info(const std::string& path) {
  return Checkpoint::read(path).info();
}

Model Model::load(const std::string& path, const EngineOptions& options) {
  auto model = Checkpoint::read(path).load(options);
  release_free_memory();  // the file's own copy of the weights is gone
  return model;
}

}  // namespace trine
