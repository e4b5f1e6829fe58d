// What `trine md` says at the end of a run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "md_run.hpp"
#include "trine/model.hpp"

namespace trine::app {

/// A table for people, of every system.
std::string md_table(const Dynamics& run, const MdRun& done);

/// Keys and units as docs/md.md says.
nlohmann::ordered_json md_json(const Model& model, const Dynamics& run, const MdRun& done);

}  // namespace trine::app
