// Clocks and driver version from NVML, if it is there: it is loaded while running, never linked.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace trine::benchmark {

class Nvml {
 public:
  /// `bus_id` as cudaDeviceGetPCIBusId writes it.
  explicit Nvml(const std::string& bus_id);

  std::optional<int> sm_clock_mhz() const;
  std::optional<std::string> driver() const;

 private:
  struct Close {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Close> library_;
  void* device_ = nullptr;
};

}  // namespace trine::benchmark
