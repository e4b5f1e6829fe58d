// Where memory lives. Part of every buffer's and view's type, so that the wrong side cannot be
// read.
#pragma once

namespace trine {

enum class MemSpace { host, device };

}  // namespace trine
