#include "md_about.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "options.hpp"
#include "trine/error.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;

/// The version of this text.
constexpr int kFormat = 2;

template <class Self, class Visit>
void visit(Self& m,
           const Visit& visit) requires std::is_same_v<std::remove_const_t<Self>, ModelIdentity> {
  visit("path", m.path);
  visit("sha256", m.sha256);
  visit("energy", m.energy);
  visit("precision", m.precision);
  visit("policy_sha256", m.policy);
  visit("device", m.device);
}

template <class Self, class Visit>
void visit(Self& o,
           const Visit& visit) requires std::is_same_v<std::remove_const_t<Self>, MdOutputPlan> {
  visit("trajectory", o.trajectory);
  visit("every", o.every);
  visit("log", o.log);
  visit("log_every", o.log_every);
  visit("checkpoint", o.checkpoint);
  visit("checkpoint_every", o.checkpoint_every);
  visit("output", o.final_frame);
}

template <class Object>
Json json_of(const Object& object) {
  Json json;
  visit(object, [&json](const char* name, const auto& value) { json[name] = value; });
  return json;
}

template <class Object>
Object from_json(const Json& json) {
  Object object;
  visit(object, [&json](const char* name, auto& value) { json.at(name).get_to(value); });
  return object;
}

}  // namespace

ModelIdentity ModelIdentity::of(const Model& model) {
  const EngineOptions& options = model.options();
  const std::string& policy = options.products.source;
  const std::string& path = model.info().path;
  return {.path = path,
          .sha256 = path.starts_with("synthetic:") ? "" : file_sha256(path),
          .energy = options.energy,
          .precision = precision_name(options),
          .policy = policy.empty() ? "" : file_sha256(policy),
          .device = options.device == "cpu" ? "cpu" : model.device()};
}

std::string MdAbout::text() const {
  Json json = {{"trine_md", kFormat}, {"model", json_of(model)}, {"outputs", json_of(outputs)}};
  json["systems"] = Json::array();
  for (const MdStatistics& system : systems) json["systems"].push_back(system.to_json());
  json["rechecks"] = rechecks.to_json();
  return json.dump();
}

MdAbout MdAbout::parse(const std::string& text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    if (json.at("trine_md") != kFormat) throw std::invalid_argument("it is of another version");
    MdAbout about{from_json<ModelIdentity>(json.at("model")),
                  from_json<MdOutputPlan>(json.at("outputs")),
                  {},
                  MdRechecks::from_json(json.at("rechecks"))};
    for (const Json& system : json.at("systems")) {
      about.systems.push_back(MdStatistics::from_json(system));
    }
    return about;
  } catch (const std::exception&) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} holds a run that 'trine md' did not write (another program, or "
                            "another version of it), continue it there",
                            file));
  }
}

void check_same_model(const ModelIdentity& now, const ModelIdentity& before,
                      const std::string& file) {
  const bool named = now.sha256.empty() && before.sha256.empty();
  if (now.sha256 != before.sha256 || (named && now.path != before.path)) {
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{} is not the model of the run in {} (that was {}{}), name that one", now.path,
                    file, before.path, before.sha256.empty() ? "" : ", SHA-256 " + before.sha256));
  }
  const auto same = [&](const char* option, const std::string& typed, const std::string& needed) {
    if (typed == needed) return;
    throw Error(ErrorCode::usage, fmt::format("{} {} contradicts {} (its run has {}), write {} {}",
                                              option, typed, file, needed, option, needed));
  };
  same("--energy", now.energy, before.energy);
  same("--precision", now.precision, before.precision);
  if (now.policy != before.policy) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{} is not what it was when {} was written (its SHA-256 was {}), "
                            "restore it",
                            now.precision.substr(1), file, before.policy));
  }
  if (now.device == before.device) return;
  warn(fmt::format("the run of {} was on {}; on {} it goes on, but not bit for bit", file,
                   before.device, now.device));
}

}  // namespace trine::app
