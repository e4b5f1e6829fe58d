// What the policy is called that the search finds.
#pragma once

namespace trine::validation {

inline constexpr const char* kPolicyName = "policy";

}  // namespace trine::validation
