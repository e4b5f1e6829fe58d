// trine info: what a model file holds, and what of it trine supports.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "suggest.hpp"
#include "table.hpp"
#include "trine/model.hpp"
#include "trine/model_files.hpp"

namespace trine::app {

namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

/// What is known of the file besides its content; empty for models made in memory.
struct FileFacts {
  std::uintmax_t bytes = 0;
  std::string sha256;
};

FileFacts read_file_facts(const std::string& path) {
  if (path.starts_with("synthetic:")) return {};
  return {std::filesystem::file_size(path), file_sha256(path)};
}

bool is_energy(const TargetInfo& target) {
  return target.name == "energy" || target.name.starts_with("energy/");
}

Names energy_variants(const ModelInfo& info) {
  Names names;
  for (const auto& target : info.targets) {
    if (is_energy(target)) names.push_back(target.name);
  }
  return names;
}

Names direct_heads(const ModelInfo& info) {
  Names names;
  for (const auto& target : info.targets) {
    if (target.name.starts_with("non_conservative_")) names.push_back(target.name);
  }
  return names;
}

Names symbols(const std::vector<int>& species) {
  Names names;
  for (const int number : species) names.push_back(element_symbol(number));
  return names;
}

bool is_supported(const ModelInfo& info) {
  return std::any_of(info.targets.begin(), info.targets.end(),
                     [](const auto& t) { return is_energy(t) && t.supported; });
}

/// Numbers and booleans as such, everything else as text.
Json typed(const std::string& text) {
  const Json value = Json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : Json(text);
}

Json as_json(const TargetInfo& target) {
  Json entry = {{"name", target.name},
                {"quantity", target.quantity},
                {"unit", target.unit},
                {"per_atom", target.per_atom},
                {"supported", target.supported}};
  if (!target.supported) entry["reason"] = target.reason;
  entry["uncertainty"] = target.uncertainty;
  entry["ensemble_members"] = target.ensemble_members;
  return entry;
}

/// Of the first energy that can be evaluated; those of the others have the same names.
std::vector<GemmSite> read_sites(const ModelInfo& info) {
  EngineOptions options;
  options.device = "cpu";
  for (const auto& target : info.targets) {
    if (options.energy.empty() && is_energy(target) && target.supported) {
      options.energy = target.name;
    }
  }
  return Model::load(info.path, options).gemm_sites();
}

Json as_json(const std::vector<GemmSite>& sites) {
  Json all = Json::array();
  for (const auto& site : sites) {
    all.push_back({{"name", site.name}, {"out", site.out}, {"in", site.in}});
  }
  return all;
}

Json as_json(const ModelInfo& info, const FileFacts& file) {
  Json all = {{"path", info.path},
              {"name", info.name},
              {"architecture", info.architecture},
              {"format", info.format},
              {"llpr_format", info.llpr_format},
              {"supported", is_supported(info)}};
  all["hypers"] = Json::object();
  for (const auto& [key, value] : info.hypers) all["hypers"][key] = typed(value);
  all["species"] = info.species;
  all["symbols"] = symbols(info.species);
  all["length_unit"] = info.length_unit;
  all["cutoff"] = info.cutoff;
  all["dtype"] = info.dtype;
  all["parameters"] = info.parameters;
  all["energy_variants"] = energy_variants(info);
  all["direct_heads"] = direct_heads(info);
  all["targets"] = Json::array();
  for (const auto& target : info.targets) all["targets"].push_back(as_json(target));
  all["metadata"] = Json::object();
  for (const auto& [key, value] : info.metadata) all["metadata"][key] = value;
  if (!file.sha256.empty()) {
    all["file_size"] = file.bytes;
    all["sha256"] = file.sha256;
  }
  return all;
}

std::string text_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  Table table({{"", Align::left}, {"", Align::left}});
  for (const auto& [key, value] : entries) table.add({key, value});
  return table.text(2).substr(1);  // without the empty line of titles
}

std::string targets_text(const ModelInfo& info) {
  Table table({{"target", Align::left},
               {"quantity", Align::left},
               {"unit", Align::left},
               {"per atom", Align::left},
               {"uncertainty", Align::left},
               {"supported", Align::left}});
  for (const auto& target : info.targets) {
    const std::string ensemble =
        target.ensemble_members > 0 ? fmt::format(", ensemble of {}", target.ensemble_members) : "";
    table.add({target.name, target.quantity, target.unit, target.per_atom ? "yes" : "no",
               target.uncertainty ? "yes" + ensemble : "no",
               target.supported ? "yes" : "no: " + target.reason});
  }
  return table.text(2);
}

std::string sites_text(const std::vector<GemmSite>& sites) {
  Table table({{"linear layer", Align::left}, {"out"}, {"in"}});
  for (const auto& site : sites) {
    table.add({site.name, fmt::format("{}", site.out), fmt::format("{}", site.in)});
  }
  return table.text(2);
}

void print_text(const ModelInfo& info, const FileFacts& file) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"model", info.name.empty() || info.name == info.path
                    ? info.path
                    : fmt::format("{} ({})", info.name, info.path)},
      {"architecture",
       fmt::format("{}, checkpoint format {}{}", info.architecture, info.format,
                   info.llpr_format > 0
                       ? fmt::format(" inside an LLPR wrapper of format {}", info.llpr_format)
                       : "")},
      {"parameters", fmt::format("{} ({})", info.parameters, info.dtype)},
      {"species", fmt::format("{}: {}", info.species.size(), join(symbols(info.species), " "))},
      {"cutoff",
       fmt::format(
           "{} Angstrom{}", info.cutoff,
           info.length_unit.empty() ? "" : ", length unit of the file: " + info.length_unit)},
      {"energies", join(energy_variants(info))},
      {"direct heads", direct_heads(info).empty() ? "none" : join(direct_heads(info))}};
  if (!file.sha256.empty()) {
    facts.emplace_back("file", fmt::format("{} bytes, sha256 {}", file.bytes, file.sha256));
  }
  fmt::print("{}\ntargets\n{}\nhyperparameters\n{}", text_of(facts), targets_text(info),
             text_of(info.hypers));
  if (!info.metadata.empty()) fmt::print("\nmetadata\n{}", text_of(info.metadata));
}

class Info : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("MODEL", model_, "checkpoint, model name, or synthetic:xs|s|s32|m|l")
        ->required();
    app.add_flag("--json", json_, "print JSON instead of text");
    app.add_flag("--sites", sites_, "also the linear layers that a precision policy can name");
  }

  void run() override {
    const std::string path = find_model(model_);
    const ModelInfo info = read_model_info(path);
    const FileFacts file = read_file_facts(path);
    const std::vector<GemmSite> sites = sites_ ? read_sites(info) : std::vector<GemmSite>{};
    if (json_) {
      Json all = as_json(info, file);
      if (sites_) all["sites"] = as_json(sites);
      fmt::print("{}\n", all.dump(2));
    } else {
      print_text(info, file);
      if (sites_) fmt::print("\n{}", sites_text(sites));
    }
  }

 private:
  std::string model_;
  bool json_ = false;
  bool sites_ = false;
};

}  // namespace

std::unique_ptr<Command> make_info() {
  return std::make_unique<Info>();
}

}  // namespace trine::app
