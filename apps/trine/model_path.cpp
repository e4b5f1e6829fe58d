#include "model_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "environment.hpp"
#include "suggest.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace fs = std::filesystem;

namespace {

/// Folders that hold models, the first to search first (XDG base directory rules for the last
/// ones).
std::vector<fs::path> model_folders() {
  std::vector<fs::path> folders;
  const std::string own = environment("TRINE_MODEL_DIR");
  if (!own.empty()) folders.emplace_back(own);
  folders.emplace_back("models");
  const std::string home = environment("HOME");
  const std::string data = environment("XDG_DATA_HOME", home.empty() ? "" : home + "/.local/share");
  if (!data.empty()) folders.push_back(fs::path(data) / "trine/models");
  std::istringstream shared(environment("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
  for (std::string folder; std::getline(shared, folder, ':');) {
    if (!folder.empty()) folders.push_back(fs::path(folder) / "trine/models");
  }
  return folders;
}

std::vector<std::string> model_names(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const auto& folder : folders) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() == ".ckpt") names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string find_model(const std::string& name) {
  std::error_code ignored;
  if (name.starts_with("synthetic:") || fs::exists(name, ignored)) return name;
  const auto folders = model_folders();
  for (const auto& folder : folders) {
    for (const auto& candidate : {folder / name, folder / (name + ".ckpt")}) {
      if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    }
  }
  const std::vector<std::string> places(folders.begin(), folders.end());
  throw Error(ErrorCode::bad_input,
              fmt::format("no model '{}' (neither a file nor a name in {}{}), give the path of a "
                          "checkpoint or set TRINE_MODEL_DIR",
                          name, join(places),
                          did_you_mean(fs::path(name).stem().string(), model_names(folders))));
}

}  // namespace trine::app
