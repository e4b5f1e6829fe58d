// The LLPR wrapper around a model: covariance factors, calibration, ensembles of last layers.
#pragma once

#include <optional>
#include <vector>

#include "models/checkpoint/raw_model.hpp"
#include "models/pet/model_data.hpp"

namespace trine::checkpoint {

inline constexpr int kNewestLlprFormat = 4;

/// The tensors of the wrapper itself, by name, in formats 1 to 4.
StateDict parse_llpr_state(const Field& checkpoint, int format);

/// An ensemble that was trained together with the network keeps the network's best weights in the
/// wrapper ("model.backend..."); they take the place of the wrapped checkpoint's. `model` must have
/// been upgraded.
void take_trained_weights(const StateDict& llpr_state, RawModel& model);

/// One entry per target that has a calibrated factor, in the order of the targets. Formats 3 and
/// older keep no factor: it is computed from the covariance as metatrain's own upgrade does.
std::vector<pet::Llpr> read_llpr(const StateDict& llpr_state, const pet::ModelData& data,
                                 TensorReader& reader);

/// Lower factor of (C + C^T) / 2 + r 1, row-major, for the smallest r of 1e-20, 1e-19, ... that
/// makes the matrix positive definite; nothing if none below 1e16 does. `covariance` is (n, n).
std::optional<std::vector<double>> regularised_cholesky(const std::vector<double>& covariance,
                                                        std::size_t n);

}  // namespace trine::checkpoint
