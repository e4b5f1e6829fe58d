#include "motion/fire.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(Fire2Decide)
TRINE_FOR_EACH_ON_HOST(FireDecide)
TRINE_FOR_EACH_ON_HOST(FireAccelerate)
TRINE_FOR_EACH_ON_HOST(LimitFastest)
TRINE_FOR_EACH_ON_HOST(FireMove)
TRINE_SUM_ON_HOST(FireSums)

}  // namespace trine::motion
