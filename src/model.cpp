// The public Model: hands over to the architecture's engine.
#include "trine/model.hpp"

#include "model_impl.hpp"

namespace trine {

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
std::vector<OperationTime> Model::site_profile() const {
  std::vector<OperationTime> all;
  if (!impl_->profile) return all;
  for (const GemmSite& site : impl_->sites) all.push_back(impl_->profile->linear(site.name));
  return all;
}
void Model::clear_profile() {
  if (impl_->profile) impl_->profile->clear();
}

}  // namespace trine
