#include "targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "suggest.hpp"
#include "trine/error.hpp"

namespace trine::app {

bool has_target(const ModelInfo& info, const std::string& name) {
  return std::any_of(info.targets.begin(), info.targets.end(), [&](const auto& target) {
    return target.supported && (target.name == name || target.name.starts_with(name + "/"));
  });
}

void refuse_option(const ModelInfo& info, const std::string& option, const std::string& lacking) {
  std::vector<std::string> names;
  for (const auto& target : info.targets) names.push_back(target.name);
  throw Error(ErrorCode::not_supported,
              fmt::format("{} is not possible with {} (the model has no {}; its targets are "
                          "{}), leave the option out or use another model",
                          option, info.path, lacking, join(names)));
}

}  // namespace trine::app
