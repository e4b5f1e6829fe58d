#include "trine/gemm_policy.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/open_file.hpp"
#include "ops/gemm_method.hpp"

namespace trine {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kForm = R"(write {"default": "fp32", "sites": {...}})";

Json read_json(const std::string& path) {
  auto file = open_file(path, "name a policy file");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(e.byte, text.size()));
    fail(ErrorCode::bad_input, "{}:{}: not JSON (it ends or breaks off here), {}", path,
         1 + std::count(text.begin(), end, '\n'), kForm);
  }
}

GemmMethod method_named(const std::string& path, const std::string& key, const Json& name) {
  if (name.is_string()) {
    if (const auto method = parse_gemm_method(name.get<std::string>())) return *method;
  }
  fail(ErrorCode::bad_input, "{}: '{}' is {} (no method of products), use one of {}", path, key,
       name.dump(-1, ' ', false, Json::error_handler_t::replace), list_names<GemmMethod>());
}

}  // namespace

bool matches_site(std::string_view pattern, std::string_view site) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == site;
  if (!site.starts_with(pattern.substr(0, star))) return false;
  const auto rest = pattern.substr(star + 1);
  for (auto from = star; from <= site.size(); ++from) {
    if (matches_site(rest, site.substr(from))) return true;
  }
  return false;
}

GemmMethod method_at(const GemmPolicy& policy, std::string_view site) {
  const auto last = std::find_if(policy.sites.rbegin(), policy.sites.rend(),
                                 [&](const auto& own) { return matches_site(own.first, site); });
  return last == policy.sites.rend() ? policy.method : last->second;
}

GemmPolicy read_gemm_policy(const std::string& path) {
  const Json all = read_json(path);
  const auto need = [&](const char* key) -> const Json& {
    const bool there = all.is_object() && all.contains(key);
    check(there, ErrorCode::bad_input, "{}: no precision policy ('{}' is missing), {}", path, key,
          kForm);
    return all[key];
  };
  GemmPolicy policy(method_named(path, "default", need("default")));
  const Json& sites = need("sites");
  check(sites.is_object(), ErrorCode::bad_input, "{}: 'sites' is not an object, {}", path, kForm);
  for (const auto& [name, method] : sites.items()) {
    policy.sites.emplace_back(name, method_named(path, name, method));
  }
  policy.source = path;
  return policy;
}

}  // namespace trine
