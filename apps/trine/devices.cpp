// trine devices: what can run here.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"
#include "methods.hpp"
#include "suggest.hpp"
#include "table.hpp"
#include "trine/devices.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

struct Cpu {
  std::string name = "unknown processor";
  unsigned threads = 1;
  std::vector<std::string> instruction_sets;
};

/// Of the kernel's list of flags, those that matter for the speed of matrix products.
std::vector<std::string> known_sets(const std::string& flags) {
  constexpr std::array<std::string_view, 11> kSets = {
      "sse4_2",      "avx",      "avx2",  "fma", "avx512f", "avx512_vnni",
      "avx512_bf16", "amx_bf16", "asimd", "sve", "sve2"};
  std::vector<std::string> found;
  const std::string padded = " " + flags + " ";
  for (const auto set : kSets) {
    if (padded.find(fmt::format(" {} ", set)) != std::string::npos) found.emplace_back(set);
  }
  return found;
}

Cpu read_cpu() {
  Cpu cpu;
  cpu.threads = std::max(1U, std::thread::hardware_concurrency());
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (key == "model name") cpu.name = value;
    if (key == "flags" || key == "Features") cpu.instruction_sets = known_sets(value);
  }
  return cpu;
}

Json as_json(const CudaDevice& gpu) {
  Json entry = {{"name", fmt::format("cuda:{}", gpu.number)},
                {"available", gpu.usable},
                {"model", gpu.name},
                {"capability", fmt::format("{}.{}", gpu.capability / 10, gpu.capability % 10)},
                {"multiprocessors", gpu.processors},
                {"memory_bytes", gpu.memory}};
  if (!gpu.usable) entry["reason"] = gpu.reason;
  return entry;
}

Json as_json(const Cpu& cpu, const CudaDevices& gpus) {
  Json all;
  all["devices"] = Json::array({{{"name", "cpu"},
                                 {"available", true},
                                 {"model", cpu.name},
                                 {"threads", cpu.threads},
                                 {"instruction_sets", cpu.instruction_sets}}});
  for (const auto& gpu : gpus.found) all["devices"].push_back(as_json(gpu));
  if (gpus.found.empty()) {
    all["devices"].push_back({{"name", "cuda"}, {"available", false}, {"reason", gpus.reason}});
  }
  all["methods"] = Json::array();
  for (const auto& method : methods()) {
    all["methods"].push_back({{"name", method.name},
                              {"products", method.products},
                              {"meaning", method.meaning},
                              {"available", true},
                              {"emulated", method.emulated()}});
  }
  return all;
}

void add_gpus(const CudaDevices& gpus, Table& devices) {
  for (const auto& gpu : gpus.found) {
    devices.add({fmt::format("cuda:{}", gpu.number), gpu.usable ? "yes" : "no",
                 gpu.usable
                     ? fmt::format("{}, compute capability {}.{}, {} multiprocessors, {:.0f} GiB",
                                   gpu.name, gpu.capability / 10, gpu.capability % 10,
                                   gpu.processors, static_cast<double>(gpu.memory) / 0x1p30)
                     : fmt::format("{}: {}", gpu.name, gpu.reason)});
  }
  if (gpus.found.empty()) devices.add({"cuda", "no", gpus.reason});
}

void print_tables(const Cpu& cpu, const CudaDevices& gpus) {
  Table devices({{"device", Align::left}, {"here", Align::left}, {"what", Align::left}});
  devices.add(
      {"cpu", "yes",
       fmt::format("{}, {} threads ({})", cpu.name, cpu.threads, join(cpu.instruction_sets, " "))});
  add_gpus(gpus, devices);
  Table table(
      {{"precision", Align::left}, {"here", Align::left}, {"products"}, {"what", Align::left}});
  const bool gpu = std::any_of(gpus.found.begin(), gpus.found.end(),
                               [](const CudaDevice& device) { return device.usable; });
  for (const auto& method : methods()) {
    table.add({std::string(method.name), method.emulated() && !gpu ? "emulated" : "yes",
               fmt::format("{}", method.products), std::string(method.meaning)});
  }
  fmt::print(
      "{}\n{}\nemulated: computed on the CPU bit for bit as sm_90 Tensor Cores do it, which is "
      "slow\n",
      devices.text(), table.text());
}

class Devices : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_flag("--json", json_, "print JSON instead of tables");
  }

  void run() override {
    const Cpu cpu = read_cpu();
    const CudaDevices gpus = cuda_devices();
    if (json_) {
      fmt::print("{}\n", as_json(cpu, gpus).dump(2));
    } else {
      print_tables(cpu, gpus);
    }
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_devices() {
  return std::make_unique<Devices>();
}

}  // namespace trine::app
