// report.json: every number of a certificate (docs/certificate-schema.md).
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "trine/certificate.hpp"
#include "validate/report/page.hpp"

namespace trine {

namespace {

using Json = nlohmann::ordered_json;

// nlohmann writes numbers that are not finite as null, which is what the schema asks for.

template <class Row, class Function>
Json list(const std::vector<Row>& rows, Function&& function) {
  Json all = Json::array();
  for (const auto& row : rows) all.push_back(function(row));
  return all;
}

template <class Experiment, class Function>
Json if_done(const std::optional<Experiment>& experiment, Function&& function) {
  return experiment ? function(*experiment) : Json();
}

Json failure_json(const std::string& failure) {
  return failure.empty() ? Json() : Json(failure);
}

const std::string name_of(GemmMethod method) {
  return std::string(gemm_method_info(method).name);
}

Json policy_of(const GemmPolicy& policy) {
  Json sites = Json::object();
  for (const auto& [site, method] : policy.sites) sites[site] = name_of(method);
  return {{"default", name_of(policy.method)}, {"sites", std::move(sites)}};
}

Json limits_json(const Limits& l) {
  const auto value = [](const std::optional<double>& limit) {
    return limit ? Json(*limit) : Json();
  };
  return {{"name", l.name},
          {"force_ratio", value(l.force_ratio)},
          {"force_error_ev_per_a", value(l.force_error)},
          {"energy_ratio", value(l.energy_ratio)},
          {"energy_floor_ev_per_atom", l.energy_floor},
          {"energy_error_ev_per_atom", value(l.energy_error)},
          {"stress_ratio", value(l.stress_ratio)},
          {"stress_floor_ev_per_a3", l.stress_floor},
          {"residual_ratio", value(l.residual_ratio)},
          {"jitter_mev", value(l.jitter)},
          {"drift_sigmas", value(l.drift_sigmas)},
          {"drift_mev_per_atom_ps", value(l.drift)},
          {"steps_ratio", value(l.steps_ratio)},
          {"invariance_ratio", value(l.invariance_ratio)},
          {"baseline", l.baseline},
          {"exact", l.exact}};
}

Json verdict_json(const Verdict& v) {
  const char* standing = v.standing == Standing::pass   ? "pass"
                         : v.standing == Standing::fail ? "fail"
                                                        : "not available";
  return {{"arithmetic", v.arithmetic},
          {"standing", standing},
          {"reasons", v.reasons},
          {"force_ratio", v.force_ratio},
          {"speedup", v.speedup}};
}

Json errors_json(const PointErrors& e) {
  return {{"arithmetic", e.arithmetic},
          {"failure", failure_json(e.failure)},
          {"not_available", e.not_available},
          {"energy_ev_per_atom", e.energy},
          {"force_rms_ev_per_a", e.force_rms},
          {"force_max_ev_per_a", e.force_max},
          {"force_ratio", e.force_ratio},
          {"force_signed_mean_ev_per_a", e.force_signed_mean},
          {"stress_rms_ev_per_a3", e.stress_rms},
          {"stress_ratio", e.stress_ratio},
          {"energy_spread_ev_per_atom", e.energy_spread},
          {"force_spread_ev_per_a", e.force_spread},
          {"seconds", e.seconds},
          {"speedup", e.speedup}};
}

Json point_json(const SinglePoint& p) {
  return {{"permutations", p.permutations},
          {"force_rms_ev_per_a", p.force_rms},
          {"seconds_fp64", p.seconds},
          {"errors", list(p.errors, errors_json)}};
}

Json curve_json(const EnergyCurve& c) {
  return {{"arithmetic", c.arithmetic},
          {"failure", failure_json(c.failure)},
          {"not_available", c.not_available},
          {"energy_ev", c.energy},
          {"residual_rms_mev", c.residual_rms},
          {"residual_max_mev", c.residual_max},
          {"residual_ratio", c.residual_ratio},
          {"jitter_mev", c.jitter},
          {"force_mismatch_ev_per_a", c.force_mismatch}};
}

Json smoothness_json(const Smoothness& s) {
  return {{"path", s.path},
          {"coordinate_a", s.coordinate},
          {"spline_ev", s.spline},
          {"curves", list(s.curves, curve_json)}};
}

Json drift_run_json(const DriftRun& r) {
  return {{"arithmetic", r.arithmetic},
          {"failure", failure_json(r.failure)},
          {"not_available", r.not_available},
          {"time_ps", r.time},
          {"drift_mev_per_atom", r.drift},
          {"slope_mev_per_atom_ps", r.slope},
          {"slope_error_mev_per_atom_ps", r.slope_error},
          {"fluctuation_mev_per_atom", r.fluctuation},
          {"kinetic_fluctuation_mev_per_atom", r.kinetic_fluctuation},
          {"temperature_k", r.temperature},
          {"seconds_per_step", r.seconds_per_step}};
}

Json drift_json(const Drift& d) {
  const auto& o = d.options;
  return {{"options",
           {{"picoseconds", o.picoseconds},
            {"time_step_fs", o.time_step},
            {"temperature_k", o.temperature},
            {"seed", o.seed},
            {"sample_every_fs", o.sample_every},
            {"equilibration_ps", o.equilibration},
            {"reference", o.reference}}},
          {"runs", list(d.runs, drift_run_json)}};
}

Json replica_json(const RelaxationReplica& r) {
  return {{"converged", r.converged},      {"steps", r.steps},
          {"fmax_ev_per_a", r.fmax},       {"energy_ev", r.energy},
          {"history_ev_per_a", r.history}, {"failure", failure_json(r.failure)}};
}

Json relaxation_json(const RelaxationTest& t) {
  const auto& o = t.options;
  return {{"options",
           {{"replicas", o.replicas},
            {"rattle_a", o.rattle},
            {"fmax_ev_per_a", o.fmax},
            {"max_steps", o.max_steps}}},
          {"runs", list(t.runs, [](const RelaxationRun& r) -> Json {
             return {{"arithmetic", r.arithmetic},
                     {"failure", failure_json(r.failure)},
                     {"not_available", r.not_available},
                     {"replicas", list(r.replicas, replica_json)},
                     {"seconds_per_step", r.seconds_per_step},
                     {"stalled", r.stalled}};
           })}};
}

Json deviation_json(const Deviation& d) {
  return {{"energy_ev_per_atom", d.energy}, {"force_rms_ev_per_a", d.force_rms}};
}

Json invariance_json(const Invariance& i) {
  return {{"force_rms_ev_per_a", i.force_rms},
          {"rows", list(i.rows, [](const InvarianceRow& r) -> Json {
             return {{"arithmetic", r.arithmetic},
                     {"failure", failure_json(r.failure)},
                     {"not_available", r.not_available},
                     {"translation", deviation_json(r.translation)},
                     {"permutation", deviation_json(r.permutation)},
                     {"supercell", deviation_json(r.supercell)},
                     {"rotation", deviation_json(r.rotation)},
                     {"repeats_equal", r.repeats_equal},
                     {"batch_equal", r.batch_equal}};
           })}};
}

Json layer_json(const LayerRow& r) {
  return {{"site", r.site.name},
          {"out", r.site.out},
          {"in", r.site.in},
          {"share", r.share},
          {"errors", list(r.errors, [](const LayerError& e) -> Json {
             return {{"method", name_of(e.method)},
                     {"force_change_ev_per_a", e.force_change},
                     {"seconds", e.seconds}};
           })}};
}

Json layers_json(const LayerByLayer& l) {
  const auto& o = l.options;
  return {{"options",
           {{"methods", list(o.methods, name_of)},
            {"force_limit_ev_per_a", o.force_limit},
            {"search", o.search},
            {"guarded", o.guarded},
            {"guarded_methods", list(o.guarded_methods, name_of)}}},
          {"layers", list(l.layers, layer_json)},
          {"policy", if_done(l.policy, policy_of)},
          {"predicted_force_rms_ev_per_a", l.predicted_force_rms},
          {"policy_errors", l.policy ? errors_json(l.policy_errors) : Json()},
          {"search", l.search}};
}

}  // namespace

std::string certificate_json(const Certificate& c) {
  Json not_done = Json::object();
  for (const auto& [experiment, reason] : c.not_done) {
    not_done[validation::report::section_of(experiment).id] = reason;
  }
  const Json all = {{"schema", "trine-certificate-1"},
                    {"model", c.model},
                    {"model_sha256", c.model_sha256},
                    {"structure", c.structure},
                    {"atoms", c.atoms},
                    {"device", c.device},
                    {"machine", c.machine},
                    {"version", c.version},
                    {"date", c.date},
                    {"seconds", c.seconds},
                    {"limits", limits_json(c.limits)},
                    {"best",
                     {{"name", c.best.name},
                      {"precision", c.best.precision == Precision::fp64 ? "fp64" : "fp32"},
                      {"products", policy_of(c.best.products)}}},
                    {"verdicts", list(c.verdicts, verdict_json)},
                    {"not_done", std::move(not_done)},
                    {"single_point", if_done(c.single_point, point_json)},
                    {"smoothness", if_done(c.smoothness, smoothness_json)},
                    {"nve", if_done(c.drift, drift_json)},
                    {"relax", if_done(c.relaxation, relaxation_json)},
                    {"invariance", if_done(c.invariance, invariance_json)},
                    {"layers", if_done(c.layers, layers_json)}};
  // Names come from files and need not be UTF-8.
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace trine
