// From command-line words to option values, with errors in one paragraph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace trine::app {

/// Parses `words` into the options declared on `app`.
/// Throws `Error(usage)` for anything that does not fit; unknown options suggest the nearest.
void parse(CLI::App& app, std::string_view command, const std::vector<std::string>& words);

/// The usage text of a command with its example.
std::string usage_text(CLI::App& app, std::string_view example);

}  // namespace trine::app
