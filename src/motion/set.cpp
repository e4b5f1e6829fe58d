#include "motion/set.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(SetZero)
TRINE_FOR_EACH_ON_HOST(Scale)
TRINE_FOR_EACH_ON_HOST(Copy)
TRINE_FOR_EACH_ON_HOST(SetStep)

}  // namespace trine::motion
