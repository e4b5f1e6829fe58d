// Layout: "trine run 1\n", the length of the JSON text in 8 bytes (little endian), the text, the
// numbers that change as doubles, and 64 hexadecimal digits: SHA-256 of all before.
#include "sim/run_file.hpp"

#include <fcntl.h>

#include <bit>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/data_file.hpp"
#include "base/open_file.hpp"
#include "base/sha256.hpp"
#include "sim/numbers.hpp"

static_assert(std::endian::native == std::endian::little, "run files hold numbers as they lie");

namespace trine::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMagic = "trine run 1\n";
constexpr std::string_view kAnyVersion = "trine run ";
constexpr std::size_t kHashLength = 64;

/// Calls `visit` with name and member of all options, which is also the order in the file.
template <class Options, class Visit>
void visit_options(Options& o, const Visit& visit) {
  visit("ensemble", o.ensemble);
  visit("time_step_fs", o.time_step);
  visit("temperature_k", o.temperature);
  visit("pressure_gpa", o.pressure);
  visit("thermostat_time_fs", o.thermostat_time);
  visit("barostat_time_fs", o.barostat_time);
  visit("compressibility_per_gpa", o.compressibility);
  visit("chain_length", o.chain_length);
  visit("zero_momentum", o.zero_momentum);
  visit("seed", o.seed);
  visit("correction_every", o.correction_every);
  visit("max_temperature_k", o.max_temperature);
  visit("min_distance_a", o.min_distance);
  visit("check_every", o.check_every);
}

Json json_of(const ExtraColumn& c) {
  return {
      {"name", c.name}, {"type", std::string(1, c.type)}, {"width", c.width}, {"tokens", c.tokens}};
}

Json json_of(const SystemState& s) {
  const Structure& structure = s.structure;
  Json json = {{"species", structure.species},
               {"pbc", structure.pbc},
               {"masses", s.masses},
               {"moves", s.moves},
               {"seed", s.seed},
               {"variables", s.variables.size()},
               {"atom_variables", s.atom_variables.size()},
               {"source", structure.source},
               {"info", structure.extra_info}};
  if (structure.charge) json["charge"] = *structure.charge;
  if (structure.spin_multiplicity) json["spin_multiplicity"] = *structure.spin_multiplicity;
  Json columns = Json::array();
  for (const ExtraColumn& c : structure.extra_columns) columns.push_back(json_of(c));
  json["columns"] = std::move(columns);
  return json;
}

SystemState system_from(const Json& json) {
  SystemState s;
  Structure& structure = s.structure;
  json.at("species").get_to(structure.species);
  json.at("pbc").get_to(structure.pbc);
  json.at("masses").get_to(s.masses);
  json.at("moves").get_to(s.moves);
  json.at("seed").get_to(s.seed);
  json.at("source").get_to(structure.source);
  json.at("info").get_to(structure.extra_info);
  if (json.contains("charge")) structure.charge = json["charge"].get<double>();
  if (json.contains("spin_multiplicity")) {
    structure.spin_multiplicity = json["spin_multiplicity"].get<double>();
  }
  for (const Json& c : json.at("columns")) {
    structure.extra_columns.push_back(
        {c.at("name"), c.at("type").get<std::string>().at(0), c.at("width"), c.at("tokens")});
  }
  const std::size_t n = structure.size();
  structure.positions.resize(n);
  s.velocities.resize(n);
  s.forces.resize(n);
  s.variables.resize(json.at("variables"));
  s.atom_variables.resize(json.at("atom_variables"));
  return s;
}

std::string bytes_of(const RunFile& file) {
  Json json = {{"about", file.about}, {"steps_done", file.state.steps_done}};
  visit_options(file.state.options,
                [&](const char* name, const auto& value) { json["options"][name] = value; });
  std::string numbers;
  visit_numbers(file.state.systems,
                [&](double x) { numbers.append(reinterpret_cast<const char*>(&x), sizeof x); });
  for (const SystemState& s : file.state.systems) json["systems"].push_back(json_of(s));
  const std::string text = json.dump();
  const std::uint64_t length = text.size();
  std::string bytes(kMagic);
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += text;
  bytes += numbers;
  Sha256 hash;
  hash.update(bytes);
  return bytes + hash.hex();
}

RunFile parse(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data() + kMagic.size(), sizeof length);
  const std::size_t begin = kMagic.size() + sizeof length;
  const Json json = Json::parse(bytes.substr(begin, length));
  RunFile file;
  json.at("about").get_to(file.about);
  json.at("steps_done").get_to(file.state.steps_done);
  visit_options(file.state.options,
                [&](const char* name, auto& value) { json.at("options").at(name).get_to(value); });
  for (const Json& s : json.value("systems", Json::array())) {
    file.state.systems.push_back(system_from(s));
    SystemState& state = file.state.systems.back();
    if (file.state.options.correction_every > 0) state.direct_forces.resize(state.masses.size());
  }
  const char* next = bytes.data() + begin + length;
  visit_numbers(file.state.systems, [&](double& x) {
    std::memcpy(&x, next, sizeof x);
    next += sizeof x;
  });
  return file;
}

bool is_whole(const std::string& bytes) {
  if (bytes.size() < kMagic.size() + sizeof(std::uint64_t) + kHashLength) return false;
  const std::size_t end = bytes.size() - kHashLength;
  Sha256 hash;
  hash.update(std::string_view(bytes).substr(0, end));
  return hash.hex() == bytes.substr(end);
}

}  // namespace

void write_run(const std::string& path, const RunFile& file) {
  Replacement replacement(path);
  DataFile(replacement.part(), O_WRONLY | O_CREAT | O_TRUNC).append(bytes_of(file));
  sync_to_disk(replacement.part());
  replacement.finish();
  sync_to_disk(path);
}

RunFile read_run(const std::string& path) {
  auto in = open_file(path, "name a file that --checkpoint wrote");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  check(bytes.starts_with(kAnyVersion), ErrorCode::bad_input,
        "{} is no file that a run can continue from (it does not begin with '{}'), name one that "
        "--checkpoint wrote",
        path, kAnyVersion);
  check(bytes.starts_with(kMagic), ErrorCode::bad_input,
        "{} was written by another version of trine (its first line is not '{}'), continue with "
        "that version",
        path, kMagic.substr(0, kMagic.size() - 1));
  check(is_whole(bytes), ErrorCode::bad_input,
        "{} is damaged (its checksum is wrong), use an older copy", path);
  try {
    return parse(bytes);
  } catch (const std::exception& e) {  // a file that somebody has made with a right checksum
    fail(ErrorCode::bad_input, "{} is no run that trine wrote ({}), use another copy", path,
         e.what());
  }
}

}  // namespace trine::sim
