#include "options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "methods.hpp"
#include "suggest.hpp"
#include "trine/devices.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace {

/// In the order of Recompute.
const std::vector<std::string> kRecomputeNames = {"auto", "none", "light", "layer"};

/// Refuses names of devices that mean nothing, with the nearest one that does.
void check_device_name(const std::string& device) {
  if (device == "auto" || device == "cpu" || device.starts_with("cuda")) return;
  const std::vector<std::string> names = {"auto", "cpu", "cuda"};
  throw Error(ErrorCode::usage,
              fmt::format("unknown device '{}' (devices are auto, cpu, cuda and cuda:N{}), "
                          "see 'trine devices'",
                          device, did_you_mean(device, names)));
}

Method parse_precision(const std::string& name) {
  const auto method = find_method(name);
  if (!method) {
    std::vector<std::string> names;
    for (const auto& known : methods()) names.emplace_back(known.name);
    throw Error(ErrorCode::usage,
                fmt::format("unknown precision '{}' (known are {}{}), see 'trine devices'", name,
                            join(names), did_you_mean(name, names)));
  }
  return *method;
}

}  // namespace

void EngineFlags::declare(CLI::App& app) {
  const std::string defaults =
      precision.empty() ? "auto (default on a GPU: the fastest that a certificate allows), fp32 "
                          "(default on a CPU)"
                        : precision + " (default), auto";
  app.add_option("--precision", precision,
                 defaults +
                     ", fp64, or a Tensor Core method such as fp16x3, which a CPU emulates; "
                     "'trine devices' lists all. @FILE: one method per layer, from JSON")
      ->type_name("NAME");
  declare_without_precision(app);
}

void EngineFlags::declare_without_precision(CLI::App& app) {
  app.add_option("--device", device, "auto, cpu, cuda or cuda:N (default auto)")->type_name("NAME");
  app.add_option("--energy", energy, "energy variant: NAME selects the target energy/NAME")
      ->type_name("NAME");
  app.add_option("--threads", threads, "threads (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  app.add_option(
         "--memory", memory_gib,
         "GiB that intermediates may take; beyond it they are computed twice (default: of a GPU's "
         "free memory 0.9, of the host's half)")
      ->type_name("GIB")
      ->check(CLI::PositiveNumber);
  app.add_option(
         "--recompute", recompute,
         "what gradients compute twice to save memory: none, light, layer, or auto (default): "
         "as little as the memory allows")
      ->type_name("NAME")
      ->check(CLI::IsMember(kRecomputeNames));
  app.add_flag("--quiet", quiet, "no messages on standard error, except warnings and errors");
}

EngineOptions EngineFlags::resolve() const {
  check_device_name(device);
  EngineOptions options;
  const int gpu = cuda_device_number(device);
  if (device == "auto" && gpu < 0) {
    for (const CudaDevice& unused : cuda_devices().found) {
      note(quiet, fmt::format("cuda:{} is not used: {}", unused.number, unused.reason));
    }
  }
  options.device = gpu < 0 ? "cpu" : fmt::format("cuda:{}", gpu);
  if (precision == "@") {
    throw Error(ErrorCode::usage,
                "--precision @ names no file (a precision policy comes after it), "
                "write @policy.json");
  }
  if (precision.starts_with('@')) {
    options.products = read_gemm_policy(precision.substr(1));
  } else if (!precision.empty()) {
    const Method method = parse_precision(precision);
    options.precision = method.precision;
    options.products = method.gemm;
  }
  options.threads = threads;
  const auto found = std::find(kRecomputeNames.begin(), kRecomputeNames.end(), recompute);
  options.recompute = static_cast<Recompute>(found - kRecomputeNames.begin());
  options.tape_bytes = static_cast<std::int64_t>(memory_gib * 0x1p30);
  options.energy = energy;
  return options;
}

bool EngineFlags::is_automatic() const {
  return precision == "auto" || (precision.empty() && cuda_device_number(device) >= 0);
}

std::string precision_name(const EngineOptions& options) {
  if (options.precision == Precision::fp64) return "fp64";
  const GemmPolicy& products = options.products;
  return products.source.empty() ? std::string(gemm_method_info(products.method).name)
                                 : "@" + products.source;
}

std::string recompute_name(Recompute recompute) {
  return kRecomputeNames[static_cast<std::size_t>(recompute)];
}

void note(bool quiet, const std::string& message) {
  if (!quiet) fmt::print(stderr, "{}\n", message);
}

void warn(const std::string& message) {
  fmt::print(stderr, "warning: {}\n", message);
}

void note_device(bool quiet, const Model& model) {
  const auto& options = model.options();
  const bool cpu = options.device == "cpu";
  const auto sites = model.gemm_sites();
  const bool emulated = cpu && std::any_of(sites.begin(), sites.end(), [](const GemmSite& site) {
                          return site.method != GemmMethod::fp32;
                        });
  note(quiet,
       fmt::format("device {}, precision {}{}, target {}",
                   cpu ? "cpu, " + counted(static_cast<std::size_t>(options.threads), "thread")
                       : model.device(),
                   precision_name(options),
                   emulated ? " as sm_90 Tensor Cores compute it (slow)" : "", options.energy));
}

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace trine::app
