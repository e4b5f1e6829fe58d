#include "motion/verlet.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(Kick)
TRINE_FOR_EACH_ON_HOST(Drift)
TRINE_FOR_EACH_ON_HOST(KickAndDrift)
TRINE_FOR_EACH_ON_HOST(ScaleVelocities)
TRINE_FOR_EACH_ON_HOST(CountStep)
TRINE_SUM_ON_HOST(KineticTensor)
TRINE_SUM_ON_HOST(TwiceKineticEnergy)

}  // namespace trine::motion
