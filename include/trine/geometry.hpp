// Small fixed-size vectors of the public interface.
#pragma once

#include <array>

namespace trine {

using Vec3 = std::array<double, 3>;
using Mat3 = std::array<Vec3, 3>;  ///< row by row

}  // namespace trine
