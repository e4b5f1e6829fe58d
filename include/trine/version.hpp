// Version of the library.
#pragma once

namespace trine {

/// "major.minor.patch"
const char* version();

}  // namespace trine
