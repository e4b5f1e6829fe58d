#include "motion/thermostat.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(DrawVelocityFactor)
TRINE_FOR_EACH_ON_HOST(AdvanceChain)
TRINE_FOR_EACH_ON_HOST(ChainEnergy)
TRINE_FOR_EACH_ON_HOST(MinusFirstVariable)

}  // namespace trine::motion
