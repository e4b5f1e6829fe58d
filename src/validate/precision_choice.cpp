#include "trine/precision_choice.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "trine/devices.hpp"
#include "trine/error.hpp"
#include "trine/version.hpp"

namespace trine {

namespace fs = std::filesystem;

namespace {

/// Digits of the model's hash in the name of a file.
constexpr std::size_t kHashDigits = 16;

/// The value of a variable of the environment that is set and not empty.
std::string environment(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

std::string slug(const std::string& name) {
  std::string text = name;
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    c = std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return text;
}

std::string name_of_gpu(int number) {
  for (const CudaDevice& device : cuda_devices().found) {
    if (device.number == number) return device.name;
  }
  return "";
}

bool is_fp32(const GemmPolicy& policy) {
  return policy.sites.empty() && policy.method == GemmMethod::fp32;
}

/// What the file holds, if it is for this request.
std::optional<StoredPolicy> find_stored(const PrecisionRequest& request, const fs::path& file,
                                        std::vector<std::string>& warnings) {
  std::error_code absent;
  if (file.empty() || !fs::exists(file, absent)) return std::nullopt;
  try {
    StoredPolicy stored = read_stored_policy(file.string());
    const bool same = stored.model_sha256 == request.model_sha256 &&
                      gpu_name(stored.device) == request.device &&
                      stored.version == request.version;
    const bool large_enough =
        !is_fp32(stored.policy) || static_cast<std::int64_t>(request.atoms) <= stored.atoms;
    if (same && large_enough) return stored;
  } catch (const Error& error) {
    warnings.push_back(fmt::format("{}; a new certificate is made", error.what()));
  }
  return std::nullopt;
}

PrecisionChoice choice_of(const StoredPolicy& stored, const fs::path& file) {
  PrecisionChoice choice;
  choice.products = stored.policy;
  // A method everywhere has a name of its own.
  if (stored.policy.sites.empty()) choice.products.source.clear();
  choice.certified_error = stored.force_rms_fp32;
  choice.reason = fmt::format("certificate of {}, {} atoms, kept in {}", stored.date.substr(0, 10),
                              stored.atoms, file.string());
  return choice;
}

/// Why nothing but fp32 comes out of a certificate.
std::string why_fp32(const Certificate& certificate) {
  std::string failure;
  for (const Verdict& verdict : certificate.verdicts) {
    if (verdict.arithmetic == "fp32") continue;
    if (verdict.standing == Standing::pass) return "no method that passes is faster";
    if (failure.empty() && !verdict.reasons.empty()) {
      failure = fmt::format(", {}: {}", verdict.arithmetic, verdict.reasons.front());
    }
  }
  return "no method passes" + failure;
}

PrecisionChoice choice_of(const Certificate& certificate) {
  PrecisionChoice choice;
  choice.products = certificate.best.products;
  if (certificate.single_point) {
    for (const PointErrors& errors : certificate.single_point->errors) {
      if (errors.arithmetic == "fp32") choice.certified_error = errors.force_rms;
    }
  }
  const std::string why = is_fp32(choice.products) ? why_fp32(certificate) + ", " : "";
  choice.reason = fmt::format("{}certificate made now in {:.1f} s", why, certificate.seconds);
  return choice;
}

}  // namespace

fs::path policy_folder() {
  const std::string own = environment("TRINE_CACHE_DIR");
  if (!own.empty()) return fs::path(own) / "policies";
  const std::string home = environment("HOME");
  const std::string cache = environment("XDG_CACHE_HOME", home.empty() ? "" : home + "/.cache");
  return cache.empty() ? fs::path() : fs::path(cache) / "trine/policies";
}

fs::path policy_file(const fs::path& folder, const std::string& model_sha256,
                     const std::string& device) {
  if (folder.empty()) return {};
  return folder / fmt::format("{}-{}.json", model_sha256.substr(0, kHashDigits), slug(device));
}

std::string gpu_name(const std::string& device) {
  const auto comma = device.find(", ");
  return device.starts_with("cuda") && comma != std::string::npos ? device.substr(comma + 2)
                                                                  : device;
}

fs::path store_policy(const fs::path& folder, const Certificate& certificate) {
  const fs::path file = policy_file(folder, certificate.model_sha256, gpu_name(certificate.device));
  try {
    if (file.empty()) {
      throw Error(ErrorCode::bad_input,
                  "no folder for policies (HOME is not set), set TRINE_CACHE_DIR");
    }
    fs::create_directories(folder);
    // Programs that start together each write a file of their own.
    const std::string part = fmt::format("{}.{}", file.string(), getpid());
    std::ofstream output(part, std::ios::binary);
    output << policy_json(certificate);
    output.close();
    if (!output) {
      fs::remove(part);
      throw Error(
          ErrorCode::bad_input,
          fmt::format("cannot write {}, set TRINE_CACHE_DIR to a folder that can be written",
                      part));
    }
    fs::rename(part, file);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::bad_input,
                fmt::format("cannot write {} ({}), set TRINE_CACHE_DIR to a folder that can be "
                            "written",
                            file.string(), error.code().message()));
  }
  return file;
}

PrecisionChoice choose_precision(const PrecisionRequest& request) {
  std::vector<std::string> warnings;
  const fs::path file = policy_file(request.folder, request.model_sha256, request.device);
  PrecisionChoice choice;
  if (const auto stored = find_stored(request, file, warnings)) {
    choice = choice_of(*stored, file);
  } else {
    try {
      const Certificate certificate = request.certify();
      choice = choice_of(certificate);
      try {
        store_policy(request.folder, certificate);
      } catch (const Error& error) {
        warnings.push_back(fmt::format("the policy is not kept: {}", error.what()));
      }
    } catch (const std::exception& error) {
      choice.reason = fmt::format("no certificate could be made: {}", error.what());
    }
  }
  choice.warnings = std::move(warnings);
  return choice;
}

PrecisionChoice choose_precision(const Checkpoint& checkpoint, const EngineOptions& options,
                                 const Structure* structure) {
  const int gpu = cuda_device_number(options.device);
  if (gpu < 0) return {.products = {}, .reason = "all else is slower on a CPU", .warnings = {}};
  if (structure == nullptr || structure->size() == 0) {
    return {.products = {}, .reason = "there is nothing to try it on", .warnings = {}};
  }
  PrecisionRequest request;
  request.model_sha256 = checkpoint.sha256();
  request.device = name_of_gpu(gpu);
  request.version = version();
  request.atoms = structure->size();
  request.folder = policy_folder();
  request.certify = [&] {
    const Bench bench{.checkpoint = &checkpoint, .engine = options, .progress = {}};
    return certify(bench, *structure, structure->source, quick_certificate());
  };
  return choose_precision(request);
}

}  // namespace trine
