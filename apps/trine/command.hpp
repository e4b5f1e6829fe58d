// A subcommand of the program, and the table of all of them.
#pragma once

#include <memory>
#include <span>
#include <string_view>

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
std::unique_ptr<Command> make_bench_step();
std::unique_ptr<Command> make_devices();

}  // namespace trine::app
