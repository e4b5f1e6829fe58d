// Runs of `trine md` with a model so small that a step takes a millisecond or two.
#pragma once

#include <string>
#include <vector>

#include "apps/program.hpp"

namespace trine::test {

class MdProgramTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    for (const char* name : {"h2o", "ethanol", "ni_skewed4"}) {
      write(std::string(name) + ".xyz",
            read_file(folder_ / "ref/structures" / (std::string(name) + ".xyz")));
    }
  }

  /// `trine md` in double precision on one thread.
  Outcome md(const std::string& arguments, const std::string& setup = "") const {
    return trine(command(arguments), "OMP_WAIT_POLICY=passive " + setup);
  }

  static std::string command(const std::string& arguments) {
    return "md ref/models/direct_heads.ckpt --device cpu --precision fp64 --threads 1 " + arguments;
  }

  void expect_contains(const std::string& text, const std::string& part) const {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in:\n" << text;
  }
};

/// Cells of a file of comma-separated values, line by line.
inline std::vector<std::vector<std::string>> cells_of(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',') {
        cells.emplace_back();
      } else {
        cells.back() += c;
      }
    }
    lines.push_back(std::move(cells));
  }
  return lines;
}

}  // namespace trine::test
