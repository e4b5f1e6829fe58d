// Runs the program in a folder of its own and keeps what it printed.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "paths.hpp"

namespace trine::test {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

/// A temporary folder that looks like the project's root: `models`, `examples`; besides, `ref`
/// holds the reference checkpoints and structures.
class ProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "trine-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory_symlink(fs::absolute(models_folder()), folder_ / "models");
    fs::create_directory_symlink(TRINE_EXAMPLES, folder_ / "examples");
    fs::create_directory_symlink(fs::absolute(reference_folder()), folder_ / "ref");
  }

  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  std::string text_of(const std::string& name) const { return read_file(folder_ / name); }
  bool exists(const std::string& name) const { return fs::exists(folder_ / name); }

  /// Runs `trine ARGUMENTS` through the shell; `setup` comes before it ("HOME=/x", "echo a |").
  Outcome trine(const std::string& arguments, const std::string& setup = "") const {
    const std::string program = std::string("'") + TRINE_PROGRAM + "'";
    const std::string command = "cd '" + folder_.string() + "' && " + setup + " " + program + " " +
                                arguments + " >.out 2>.err";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(".out"), text_of(".err")};
  }

  /// Starts the program, without a shell, and returns its process.
  pid_t start(const std::string& arguments) const {
    std::vector<std::string> words = {TRINE_PROGRAM};
    std::istringstream stream(arguments);
    for (std::string word; stream >> word;) words.push_back(word);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0) return child;
    const int out = open((folder_ / ".out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int err = open((folder_ / ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const bool ready = chdir(folder_.c_str()) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2;
    if (ready) execv(argv[0], argv.data());
    _exit(127);
  }

  static int wait_for(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }

  fs::path folder_;
};

}  // namespace trine::test
