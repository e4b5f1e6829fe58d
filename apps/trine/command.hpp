// A subcommand of the program, and the table of all of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace trine::app {

/// One subcommand: declares its options, then runs with their values. Failures are `trine::Error`.
class Command {
 public:
  virtual ~Command() = default;
  virtual void declare(CLI::App& app) = 0;
  virtual void run() = 0;
};

/// What `main` knows of a subcommand before it is made.
struct CommandEntry {
  std::string_view name;     ///< one or two words: "predict", "bench step"
  std::string_view summary;  ///< one line
  std::string_view example;  ///< a command line that runs in the project's root folder
  std::unique_ptr<Command> (*make)();
};

std::unique_ptr<Command> make_info();
std::unique_ptr<Command> make_predict();
std::unique_ptr<Command> make_md();
std::unique_ptr<Command> make_relax();
std::unique_ptr<Command> make_validate();
std::unique_ptr<Command> make_bench_step();
std::unique_ptr<Command> make_bench_gemm();
std::unique_ptr<Command> make_devices();

/// The entry that `trine` and the stand-alone benchmark share.
inline constexpr CommandEntry kBenchGemm = {
    "bench gemm", "speed and error of matrix products on a GPU, beside cuBLAS SGEMM",
    "trine bench gemm --models s32 --atoms 192 --list", make_bench_gemm};

/// Whether --help or -h is among the words.
bool asks_for_help(const std::vector<std::string>& words);

/// Parses `words`, which follow the command's name, and runs it; or prints its help.
void run_command(const CommandEntry& entry, const std::vector<std::string>& words, bool help);

/// Calls `body`, prints what it throws, and returns the program's exit status. Status 1 is a defect
/// of the program.
int guarded(const std::function<void()>& body);

}  // namespace trine::app
