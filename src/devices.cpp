#include "trine/devices.hpp"

#include "base/check.hpp"

namespace trine {

int cuda_device_number(const std::string& device) {
  if (device == "cpu") return -1;
  const auto gpus = cuda_devices();
  if (device == "auto") {
    for (const auto& gpu : gpus.found) {
      if (gpu.usable) return gpu.number;
    }
    return -1;
  }
  const bool numbered = device.starts_with("cuda:") && device.size() > 5 && device.size() < 9 &&
                        device.find_first_not_of("0123456789", 5) == std::string::npos;
  check(device == "cuda" || numbered, ErrorCode::usage,
        "unknown device '{}' (devices are auto, cpu, cuda and cuda:N), see 'trine devices'",
        device);
  const std::size_t number = numbered ? std::stoul(device.substr(5)) : 0;
  check(!gpus.found.empty(), ErrorCode::not_supported, "no device {} ({}), use cpu", device,
        gpus.reason);
  check(number < gpus.found.size(), ErrorCode::not_supported,
        "no device {} (there are {} GPUs, numbered from 0), see 'trine devices'", device,
        gpus.found.size());
  const auto& gpu = gpus.found[number];
  check(gpu.usable, ErrorCode::not_supported, "cannot use device {} ({}), use cpu", device,
        gpu.reason);
  return gpu.number;
}

}  // namespace trine
