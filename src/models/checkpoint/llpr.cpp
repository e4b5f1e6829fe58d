#include "models/checkpoint/llpr.hpp"

#include <algorithm>
#include <cmath>

namespace trine::checkpoint {
namespace {

/// Names of the wrapper's outputs: "energy" + "_uncertainty", others "mtt::aux::" + name +
/// "_uncertainty".
std::string output_name(std::string_view target, std::string_view what) {
  static constexpr std::string_view kPrefix = "mtt::";
  if (target == "energy") return fmt::format("energy_{}", what);
  std::string plain(target);
  for (std::size_t at; (at = plain.find(kPrefix)) != std::string::npos;) {
    plain.erase(at, kPrefix.size());
  }
  return fmt::format("mtt::aux::{}_{}", plain, what);
}

const TensorRef* find(const StateDict& state, const std::string& name) {
  const auto found = state.find(name);
  return found == state.end() ? nullptr : &found->second;
}

void require_square(const TensorRef& ref, std::int64_t features, const std::string& name) {
  require(ref.shape == std::vector<std::int64_t>{features, features},
          "'{}' has shape {} where the heads have {} features", printable(name),
          HostTensor{{}, ref.shape, {}}.shape_text(), features);
}

/// In place, upper factor U with A = U^T U in the upper triangle; false if A is not positive
/// definite.
bool factor(std::vector<double>& a, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    double* pivot_row = a.data() + k * n;
    if (!(pivot_row[k] > 0)) return false;
    const double root = std::sqrt(pivot_row[k]);
    for (std::size_t j = k; j < n; ++j) pivot_row[j] /= root;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double scale = pivot_row[i];
      double* row = a.data() + i * n;
      for (std::size_t j = i; j < n; ++j) row[j] -= scale * pivot_row[j];
    }
  }
  return true;
}

HostTensor factor_covariance(const TensorRef& ref, const std::string& name, TensorReader& reader) {
  // A matrix broadcast from a few numbers would cost hours and a few bytes of file.
  require(ref.size() <= ref.storage_size, "'{}' is no full matrix", printable(name));
  const HostTensor covariance = reader.read(ref, name);
  const auto n = static_cast<std::size_t>(ref.shape[0]);
  auto lower = regularised_cholesky(covariance.to_vector<double>(), n);
  require(lower.has_value(), "'{}' cannot be made positive definite", printable(name));
  // The reference rounds the factor to the covariance's own precision.
  if (covariance.type == DType::float64) return make_tensor(ref.shape, *lower);
  return make_tensor(ref.shape, std::vector<float>(lower->begin(), lower->end()));
}

/// A factor that was never computed is all zeros.
bool is_calibrated(const HostTensor& cholesky, const std::string& name) {
  const auto values = cholesky.to_vector<double>();
  const auto n = static_cast<std::size_t>(cholesky.shape[0]);
  bool positive = true;
  for (std::size_t i = 0; i < n; ++i) {
    require(values[i * n + i] >= 0, "'{}' has a negative diagonal", printable(name));
    positive = positive && values[i * n + i] > 0;
  }
  return positive;
}

HostTensor read_ensemble(const StateDict& state, const pet::Target& target, std::int64_t features,
                         TensorReader& reader) {
  std::string name = fmt::format("llpr_ensemble_layers.{}.weight", target.name);
  const TensorRef* found = find(state, name);
  TensorRef ref;
  if (found != nullptr) {
    ref = *found;
  } else {
    // Formats 2 and older have it as (features, members).
    name = output_name(target.name, "ensemble_weights");
    found = find(state, name);
    if (found == nullptr) return make_tensor<float>({0, features}, {});
    ref = *found;
    std::reverse(ref.shape.begin(), ref.shape.end());
    std::reverse(ref.stride.begin(), ref.stride.end());
  }
  require(ref.shape.size() == 2 && ref.shape[1] == features && ref.shape[0] % target.outputs == 0,
          "'{}' has shape {} where the heads have {} features and {} outputs", printable(name),
          HostTensor{{}, ref.shape, {}}.shape_text(), features, target.outputs);
  return reader.read(ref, name);
}

}  // namespace

StateDict parse_llpr_state(const Field& checkpoint, int format) {
  if (format <= 2) return parse_state_dict(checkpoint.at("state_dict"));
  const auto best = checkpoint.find("best_model_state_dict");
  if (best && best->is(NodeKind::dict) && best->count() > 0) return parse_state_dict(*best);
  return parse_state_dict(checkpoint.at("model_state_dict"));
}

void take_trained_weights(const StateDict& llpr_state, RawModel& model) {
  static constexpr std::string_view kPrefix = "model.backend.";
  for (auto entry = llpr_state.lower_bound(kPrefix);
       entry != llpr_state.end() && entry->first.starts_with(kPrefix); ++entry) {
    const auto weight = model.state.find(entry->first.substr(kPrefix.size()));
    if (weight != model.state.end()) weight->second = entry->second;
  }
}

std::vector<pet::Llpr> read_llpr(const StateDict& llpr_state, const pet::ModelData& data,
                                 TensorReader& reader) {
  std::vector<pet::Llpr> all;
  const std::int64_t features = data.config.readout_layers() * 2 * data.config.d_head;
  for (const pet::Target& target : data.targets) {
    if (target.kind == pet::TargetKind::unsupported) continue;
    const std::string uncertainty = output_name(target.name, "uncertainty");
    const std::string multiplier_name = "multiplier_" + uncertainty;
    const TensorRef* multiplier = find(llpr_state, multiplier_name);
    if (multiplier == nullptr) continue;
    std::string name = "cholesky_" + uncertainty;
    const TensorRef* cholesky = find(llpr_state, name);
    const bool computed = cholesky == nullptr;
    if (computed) {
      name = "covariance_" + uncertainty;
      cholesky = find(llpr_state, name);
      require(cholesky != nullptr, "'{}' is missing", printable(name));
    }
    require_square(*cholesky, features, name);
    pet::Llpr llpr;
    llpr.target = target.name;
    llpr.cholesky =
        computed ? factor_covariance(*cholesky, name, reader) : reader.read(*cholesky, name);
    if (!is_calibrated(llpr.cholesky, name)) continue;
    require(multiplier->size() == 1, "'{}' holds {} numbers", printable(multiplier_name),
            multiplier->size());
    llpr.multiplier = reader.read(*multiplier, multiplier_name).to_vector<double>()[0];
    llpr.ensemble = read_ensemble(llpr_state, target, features, reader);
    all.push_back(std::move(llpr));
  }
  return all;
}

std::optional<std::vector<double>> regularised_cholesky(const std::vector<double>& covariance,
                                                        std::size_t n) {
  std::vector<double> previous;
  for (double regulariser = 1e-20; regulariser < 1e16; regulariser *= 10) {
    std::vector<double> upper(n * n);
    std::vector<double> diagonal(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) {
        upper[i * n + j] = 0.5 * (covariance[i * n + j] + covariance[j * n + i]);
      }
      diagonal[i] = upper[i * n + i] += regulariser;
    }
    if (diagonal == previous) continue;  // too small to matter: it would fail in the same way
    previous = std::move(diagonal);
    if (!factor(upper, n)) continue;
    std::vector<double> lower(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) lower[i * n + j] = upper[j * n + i];
    }
    return lower;
  }
  return std::nullopt;
}

}  // namespace trine::checkpoint
