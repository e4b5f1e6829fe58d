#include "parse.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "suggest.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names = {"--help"};
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

[[noreturn]] void refuse_word(const CLI::App& app, std::string_view command, std::string word) {
  const std::string help = fmt::format("see 'trine help {}'", command);
  if (!word.starts_with('-')) {
    throw Error(ErrorCode::usage, fmt::format("unexpected argument '{}' ('trine {}' has no place "
                                              "for it), {}",
                                              word, command, help));
  }
  word = word.substr(0, word.find('='));
  throw Error(ErrorCode::usage, fmt::format("unknown option {} (of 'trine {}'{}), {}", word,
                                            command, did_you_mean(word, option_names(app)), help));
}

}  // namespace

void parse(CLI::App& app, std::string_view command, const std::vector<std::string>& words) {
  app.allow_extras();
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    // A misspelt option often shows first as a missing one; name the misspelling instead.
    for (const auto& word : app.remaining()) {
      if (word.starts_with('-') && word != "-") refuse_word(app, command, word);
    }
    throw Error(ErrorCode::usage, fmt::format("{} (in the call of 'trine {}'), see 'trine help {}'",
                                              error.what(), command, command));
  }
  const auto extra = app.remaining();
  const auto option = std::find_if(extra.begin(), extra.end(),
                                   [](const auto& word) { return word.starts_with('-'); });
  if (option != extra.end()) refuse_word(app, command, *option);
  if (!extra.empty()) refuse_word(app, command, extra.front());
}

std::string usage_text(CLI::App& app, std::string_view example) {
  app.footer(fmt::format("Example:\n  {}", example));
  app.get_formatter()->column_width(28);
  return app.help();
}

}  // namespace trine::app
