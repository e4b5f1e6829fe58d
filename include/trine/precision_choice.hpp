// Which precision is chosen for a model on a GPU, from certificates that are kept or made.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trine/certificate.hpp"
#include "trine/checkpoint.hpp"

namespace trine {

/// What a choice depends on.
struct PrecisionRequest {
  std::string model_sha256;
  std::string device;                    ///< the GPU's name, e.g. "NVIDIA H200"
  std::string version;                   ///< of trine
  std::size_t atoms = 0;                 ///< of the structure at hand
  std::filesystem::path folder;          ///< of policies that are kept; empty: none are
  std::function<Certificate()> certify;  ///< on the structure at hand
};

struct PrecisionChoice {
  GemmPolicy products;
  double certified_error = kNotMeasured;  ///< eV/Angstrom, rms: of fp32's forces against fp64
  std::string reason;                     ///< where it comes from, for people
  std::vector<std::string> warnings;
};

/// `$TRINE_CACHE_DIR`, else `$XDG_CACHE_HOME/trine`, else `~/.cache/trine`, and "policies" there;
/// empty if none of them is set.
std::filesystem::path policy_folder();

/// The file of a model's policy on a GPU.
std::filesystem::path policy_file(const std::filesystem::path& folder,
                                  const std::string& model_sha256, const std::string& device);

/// "NVIDIA H200", of "cuda:0, NVIDIA H200" and the like, which `Model::device` returns.
std::string gpu_name(const std::string& device);

/// Keeps the policy of a certificate where `choose_precision` finds it. Throws `Error(bad_input)`
/// where it cannot be written.
std::filesystem::path store_policy(const std::filesystem::path& folder,
                                   const Certificate& certificate);

/// The policy that is kept for this model, GPU and version; else that of a certificate which is
/// made now and kept; else fp32. A policy of fp32 counts up to the number of atoms that it was
/// measured with: larger systems may gain where small ones do not. Never throws what goes wrong
/// with files or with the certificate: then there are warnings, or it is fp32.
PrecisionChoice choose_precision(const PrecisionRequest& request);

/// What `--precision auto` means for a checkpoint that is loaded with `options`, whose precision
/// and products do not matter, to evaluate structures like `structure`. On a CPU, and for no
/// structure (null) or one without atoms, fp32. On a GPU the choice from the policies of
/// `policy_folder`, for which a `quick_certificate` of `structure` is made if none is kept; that
/// takes seconds. Throws `Error` for a device that does not exist and a file that cannot be read.
PrecisionChoice choose_precision(const Checkpoint& checkpoint, const EngineOptions& options,
                                 const Structure* structure);

}  // namespace trine
