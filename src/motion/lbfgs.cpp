#include "motion/lbfgs.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(LbfgsCurvature)
TRINE_FOR_EACH_ON_HOST(LbfgsScale)
TRINE_FOR_EACH_ON_HOST(LbfgsMove)
TRINE_FOR_EACH_ON_HOST(LbfgsCount)
TRINE_SUM_ON_HOST(LbfgsRemember)
TRINE_SUM_ON_HOST(LbfgsBackward)
TRINE_SUM_ON_HOST(LbfgsForward)
TRINE_MAXIMUM_ON_HOST(LbfgsLength)

}  // namespace trine::motion
