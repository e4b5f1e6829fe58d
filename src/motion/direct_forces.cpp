#include "motion/direct_forces.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(SubtractMeanForce)
TRINE_SUM_ON_HOST(DirectForce)

}  // namespace trine::motion
