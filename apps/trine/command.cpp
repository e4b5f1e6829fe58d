// How every program of this folder runs a command and reports what went wrong.
#include "command.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <new>

#include "parse.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace {

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return 2;
    case ErrorCode::bad_input:
      return 3;
    case ErrorCode::not_converged:
      return 4;
    case ErrorCode::out_of_memory:
      return 5;
    case ErrorCode::validation_failed:
      return 6;
    case ErrorCode::not_supported:
      return 7;
  }
  return 1;
}

}  // namespace

bool asks_for_help(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const auto& word) { return word == "--help" || word == "-h"; });
}

void run_command(const CommandEntry& entry, const std::vector<std::string>& words, bool help) {
  CLI::App app(std::string(entry.summary), "trine " + std::string(entry.name));
  app.set_help_flag();
  const auto command = entry.make();
  command->declare(app);
  if (help) {
    fmt::print("{}", usage_text(app, entry.example));
    return;
  }
  parse(app, entry.name, words);
  command->run();
}

int guarded(const std::function<void()>& body) {
  try {
    body();
    if (std::fflush(stdout) == 0) return 0;
    throw Error(ErrorCode::bad_input,
                "cannot write standard output (is the disk full?), free some space");
  } catch (const Error& error) {
    fmt::print(stderr, "trine: {}\n", error.what());
    return exit_status(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "trine: out of memory (an allocation failed), evaluate smaller structures or use "
               "--precision fp32\n");
    return exit_status(ErrorCode::out_of_memory);
  } catch (const std::exception& error) {
    fmt::print(stderr, "trine: unexpected error ({}), please report it with the command line\n",
               error.what());
    return 1;
  }
}

}  // namespace trine::app
