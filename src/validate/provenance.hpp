// Where and when something was measured.
#pragma once

#include <string>

namespace trine::validation {

/// Model of this machine's processor, as the system states it; "unknown processor" where it does
/// not.
std::string processor_name();

/// Now, UTC, as "2026-12-01T01:02:03Z".
std::string utc_now();

}  // namespace trine::validation
