// The program `trine`: a table of subcommands, and one place that turns errors into exit statuses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "command.hpp"
#include "suggest.hpp"
#include "table.hpp"
#include "trine/error.hpp"
#include "trine/version.hpp"

namespace trine::app {

namespace {

using Words = std::vector<std::string>;

constexpr std::array<CommandEntry, 8> kCommands = {{
    {"info", "what a model file holds and what trine can do with it",
     "trine info models/trine-mini.ckpt", make_info},
    {"predict", "energy, forces and stress of every frame of structure files",
     "trine predict models/trine-mini.ckpt examples/water192.xyz -o water_forces.xyz",
     make_predict},
    {"md", "molecular dynamics, of one structure or of many together",
     "trine md models/trine-mini.ckpt examples/water192.xyz --steps 20 --ensemble nvt-langevin "
     "--trajectory water.h5 --every 10 --checkpoint water.run",
     make_md},
    {"relax", "structures to a minimum of the energy, many at a time",
     "trine relax models/trine-mini.ckpt examples/water192.xyz -o relaxed.xyz --fmax 1.5",
     make_relax},
    {"validate", "which precision may be used for a model on a structure, and why",
     "trine validate models/trine-mini.ckpt examples/cantor16.xyz --methods fp16x3 --tests "
     "single-point --permutations 2 --timings 1 --report certificate",
     make_validate},
    {"bench step", "time of one evaluation, beside a baseline",
     "trine bench step synthetic:xs examples/water192.xyz --repeats 3", make_bench_step},
    kBenchGemm,
    {"devices", "devices and arithmetic available here", "trine devices", make_devices},
}};

std::string overview() {
  Table table({{"", Align::left}, {"", Align::left}});
  for (const auto& entry : kCommands) {
    table.add({std::string(entry.name), std::string(entry.summary)});
  }
  table.add({"help COMMAND", "options of a command, with an example"});
  return fmt::format(
      "trine {}: machine-learned interatomic potentials\n\nUsage: trine COMMAND "
      "...\n{}\nExample:\n  {}\n\n"
      "Data go to standard output or a named file, messages to standard error.\nExit status: 0 ok, "
      "2 usage, "
      "3 bad input, 4 not converged, 5 out of memory,\n6 validation failed, 7 not supported "
      "here.\n",
      version(), table.text(2), kCommands[1].example);
}

std::size_t words_of(const CommandEntry& entry) {
  return 1 + static_cast<std::size_t>(std::count(entry.name.begin(), entry.name.end(), ' '));
}

/// The entry that `words` begin with, or null.
const CommandEntry* find_command(const Words& words) {
  for (const auto& entry : kCommands) {
    const std::size_t count = words_of(entry);
    if (words.size() >= count && join(std::span(words).first(count), " ") == entry.name)
      return &entry;
  }
  return nullptr;
}

/// Refuses what is no command; `words` is not empty.
[[noreturn]] void refuse_command(const Words& words) {
  std::vector<std::string> names = {"help"};
  bool two_words = false;
  for (const auto& entry : kCommands) {
    names.emplace_back(entry.name);
    two_words = two_words || entry.name.starts_with(words[0] + " ");
  }
  const std::string name = two_words && words.size() > 1 ? words[0] + " " + words[1] : words[0];
  throw Error(ErrorCode::usage,
              fmt::format("unknown command '{}' (commands are {}{}), see 'trine help'", name,
                          join(names), did_you_mean(name, names)));
}

void dispatch(Words words) {
  if (words.empty()) {
    throw Error(ErrorCode::usage,
                "no command given (the first argument names one), see 'trine help'");
  }
  if (words[0] == "--version") {
    fmt::print("trine {}\n", version());
    return;
  }
  const bool help = words[0] == "help" || words[0] == "--help" || words[0] == "-h";
  if (help) words.erase(words.begin());
  if (words.empty()) {
    fmt::print("{}", overview());
    return;
  }
  const CommandEntry* entry = find_command(words);
  if (entry == nullptr) refuse_command(words);
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(words_of(*entry)));
  run_command(*entry, words, help || asks_for_help(words));
}

}  // namespace

}  // namespace trine::app

int main(int argc, char** argv) {
  return trine::app::guarded([&] {
    trine::app::dispatch(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  });
}
