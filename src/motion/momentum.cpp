#include "motion/momentum.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(SubtractMomentum)
TRINE_SUM_ON_HOST(Momentum)
TRINE_MAXIMUM_ON_HOST(LargestComponents)

}  // namespace trine::motion
