// policy.json: the fastest policy that passed, with where, for what and how well.
#include "trine/gemm_policy.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/open_file.hpp"
#include "trine/certificate.hpp"
#include "validate/lookup.hpp"

namespace trine {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers that are not finite are written as null.
Json errors_json(const Certificate& c) {
  const PointErrors none;
  const PointErrors* fp32 = validation::point_errors_of(c, "fp32");
  const PointErrors* best = validation::point_errors_of(c, c.best.name);
  const PointErrors& errors = best ? *best : none;
  return {{"force_rms_fp32", (fp32 ? *fp32 : none).force_rms},
          {"force_rms", errors.force_rms},
          {"force_max", errors.force_max},
          {"force_ratio", errors.force_ratio},
          {"energy", errors.energy},
          {"stress_rms", errors.stress_rms}};
}

Json limits_json(const Limits& limits) {
  Json all = {{"name", limits.name}};
  for (const auto& [name, meaning] : limit_names()) {
    if (const auto value = limit_value(limits, name)) all[name] = *value;
  }
  return all;
}

/// Values of a file by their keys, or an error that names both.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    auto file = open_file(path, "name a policy file");
    all_ = Json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  }

  std::string text(const char* key) const {
    const Json& value = need(all_, key);
    check(value.is_string(), ErrorCode::bad_input, "{}: '{}' is no text, {}", path_, key, kWhat);
    return value.get<std::string>();
  }
  std::int64_t count(const char* key) const {
    const Json& value = need(all_, key);
    check(value.is_number_integer(), ErrorCode::bad_input, "{}: '{}' is no whole number, {}", path_,
          key, kWhat);
    return value.get<std::int64_t>();
  }
  /// null is NaN.
  double error(const char* key) const {
    const Json& value = need(need(all_, "errors"), key);
    check(value.is_number() || value.is_null(), ErrorCode::bad_input, "{}: '{}' is no number, {}",
          path_, key, kWhat);
    return value.is_null() ? kNotMeasured : value.get<double>();
  }

 private:
  static constexpr const char* kWhat = "let `trine validate` write it anew";

  const Json& need(const Json& object, const char* key) const {
    check(object.is_object() && object.contains(key), ErrorCode::bad_input,
          "{}: no policy of a certificate ('{}' is missing), {}", path_, key, kWhat);
    return object[key];
  }

  std::string path_;
  Json all_;
};

}  // namespace

std::string policy_json(const Certificate& c) {
  const auto name = [](GemmMethod method) { return std::string(gemm_method_info(method).name); };
  const GemmPolicy& policy = c.best.products;
  Json sites = Json::object();
  for (const auto& [site, method] : policy.sites) {
    sites.erase(site);  // of two of one name the last one counts, also in its place
    sites[site] = name(method);
  }
  const Verdict* best = validation::verdict_of(c, c.best.name);
  const Json all = {{"default", name(policy.method)},
                    {"sites", std::move(sites)},
                    {"arithmetic", c.best.name},
                    {"device", c.device},
                    {"machine", c.machine},
                    {"model", c.model},
                    {"model_sha256", c.model_sha256},
                    {"structure", c.structure},
                    {"atoms", c.atoms},
                    {"limits", limits_json(c.limits)},
                    {"errors", errors_json(c)},
                    {"speedup", best ? best->speedup : kNotMeasured},
                    {"date", c.date},
                    {"version", c.version}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

StoredPolicy read_stored_policy(const std::string& path) {
  StoredPolicy stored;
  stored.policy = read_gemm_policy(path);  // which refuses what is no JSON
  const Reader reader(path);
  stored.arithmetic = reader.text("arithmetic");
  stored.model_sha256 = reader.text("model_sha256");
  stored.device = reader.text("device");
  stored.version = reader.text("version");
  stored.date = reader.text("date");
  stored.atoms = reader.count("atoms");
  stored.force_rms_fp32 = reader.error("force_rms_fp32");
  stored.force_rms = reader.error("force_rms");
  return stored;
}

}  // namespace trine
