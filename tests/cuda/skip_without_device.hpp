// Skips every test of the program that includes this where no GPU can be used.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "trine/devices.hpp"
#include "trine/error.hpp"

namespace trine::test {

/// Why no test can run here, or "".
inline std::string no_device() {
  try {
    cuda_device_number("cuda");
    return "";
  } catch (const Error& error) {
    return std::string("no CUDA device: ") + error.what();
  }
}

class SkipWithoutDevice final : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    static const std::string reason = no_device();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

namespace {
[[maybe_unused]] const bool kSkipsWithoutDevice = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new SkipWithoutDevice);
  return true;
}();
}  // namespace

}  // namespace trine::test
