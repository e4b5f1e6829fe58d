#include "cuda/benchmark/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace trine::benchmark {
namespace {

// From NVML's interface, which has kept them: success is 0, the SM's clock is number 1.
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr unsigned kVersionBytes = 80;

template <class Function>
Function* symbol(void* library, const char* name) {
  return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}

}  // namespace

void Nvml::Close::operator()(void* library) const {
  if (const auto shutdown = symbol<int()>(library, "nvmlShutdown")) shutdown();
  dlclose(library);
}

Nvml::Nvml(const std::string& bus_id) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto init = symbol<int()>(library, "nvmlInit_v2");
  const auto find = symbol<int(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
  if (!init || !find || init() != kSuccess) return;
  library_.reset(library);
  if (find(bus_id.c_str(), &device_) != kSuccess) device_ = nullptr;
}

std::optional<int> Nvml::sm_clock_mhz() const {
  const auto read = symbol<int(void*, int, unsigned*)>(library_.get(), "nvmlDeviceGetClockInfo");
  unsigned clock = 0;
  if (!device_ || !read || read(device_, kSmClock, &clock) != kSuccess) return {};
  return static_cast<int>(clock);
}

std::optional<std::string> Nvml::driver() const {
  const auto read = symbol<int(char*, unsigned)>(library_.get(), "nvmlSystemGetDriverVersion");
  std::array<char, kVersionBytes> text{};
  if (!read || read(text.data(), kVersionBytes) != kSuccess) return {};
  return std::string(text.data());
}

}  // namespace trine::benchmark
