// Files of sample frames, in a folder that goes with the test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "trajectory/sample.hpp"
#include "trine/error.hpp"

namespace trine::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = (std::filesystem::temp_directory_path() / "trine_trajectory_XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Frames of the steps [begin, end).
inline void write_steps(const std::string& path, std::int64_t begin, std::int64_t end,
                        std::size_t atoms, const TrajectoryOptions& options = {}) {
  TrajectoryWriter writer(path, options);
  for (std::int64_t step = begin; step < end; ++step)
    writer.write(SampleFrame(step, atoms).frame());
  writer.close();
}

/// 0, 1, ..., count - 1
inline std::vector<std::int64_t> range(std::int64_t count) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(count));
  std::iota(steps.begin(), steps.end(), 0);
  return steps;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

/// What the call throws; empty if it throws nothing.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace trine::testing
