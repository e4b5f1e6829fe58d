#include "motion/langevin.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(LangevinMove)
TRINE_FOR_EACH_ON_HOST(DrawVelocity)
TRINE_SUM_ON_HOST(FirstAtomVariable)

}  // namespace trine::motion
