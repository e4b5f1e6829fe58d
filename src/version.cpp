#include "trine/version.hpp"

namespace trine {

const char* version() {
  return "0.1.0";
}

}  // namespace trine
