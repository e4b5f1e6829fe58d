// Where the tests' data are: where they were when the test was compiled, or where the environment
// says, for programs that run on another machine.
#pragma once

#include <cstdlib>
#include <string>

namespace trine::test {

inline std::string folder(const char* variable, const char* compiled) {
  const char* elsewhere = std::getenv(variable);
  return elsewhere && *elsewhere ? elsewhere : compiled;
}

/// tests/data
inline std::string data_folder() {
  return folder("TRINE_TEST_DATA", TRINE_TEST_DATA);
}

/// What tests/data/reference.tar.xz holds.
inline std::string reference_folder() {
  return folder("TRINE_REFERENCE", TRINE_REFERENCE);
}

/// models, next to examples
inline std::string models_folder() {
  return folder("TRINE_MODELS", TRINE_MODELS);
}

}  // namespace trine::test
