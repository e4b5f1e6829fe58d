#include "trine/model_files.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/check.hpp"

namespace trine {
namespace fs = std::filesystem;

namespace {

/// The value of a variable that is set and not empty.
std::string environment(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

/// Where the installation that this code was loaded from keeps models, or "".
std::string installed_models() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&find_model), &self) == 0 || self.dli_fname == nullptr)
    return "";
  // A static program is named as it was called: without a folder if it was found in the PATH.
  const fs::path file = self.dli_fname;
  if (!file.has_parent_path()) return "";
  std::error_code unknown;
  const fs::path real = fs::canonical(file, unknown);
  return unknown ? "" : (real.parent_path() / TRINE_INSTALLED_MODELS).lexically_normal().string();
}

/// Names that `find_model` would accept, in order and each once.
std::set<std::string> known_names(const std::vector<std::string>& folders) {
  std::set<std::string> names;
  for (const auto& folder : folders) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.is_regular_file(ignored) && entry.path().extension() == ".ckpt")
        names.insert(entry.path().stem().string());
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> model_folders() {
  std::vector<std::string> folders;
  const auto add = [&folders](const std::string& folder) {
    if (!folder.empty()) folders.push_back(folder);
  };
  add(environment("TRINE_MODEL_DIR"));
  add("models");
  const std::string home = environment("HOME");
  const std::string data = environment("XDG_DATA_HOME", home.empty() ? "" : home + "/.local/share");
  if (!data.empty()) add(fs::path(data) / "trine/models");
  add(installed_models());
  std::istringstream shared(environment("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
  for (std::string folder; std::getline(shared, folder, ':');) {
    if (!folder.empty()) add(fs::path(folder) / "trine/models");
  }
  return folders;
}

std::string find_model(const std::string& name) {
  std::error_code ignored;
  if (name.starts_with("synthetic:") || fs::exists(name, ignored)) return name;
  const auto folders = model_folders();
  for (const fs::path folder : folders) {
    for (const auto& candidate : {folder / name, folder / (name + ".ckpt")}) {
      if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    }
  }
  const auto known = known_names(folders);
  fail(ErrorCode::bad_input,
       "no model '{}' (neither a file nor a name in {}; known are {}), give the path of a "
       "checkpoint or set TRINE_MODEL_DIR",
       name, fmt::join(folders, ", "),
       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

}  // namespace trine
