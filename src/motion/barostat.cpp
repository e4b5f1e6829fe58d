#include "motion/barostat.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(SetMobility)
TRINE_FOR_EACH_ON_HOST(BeginStrain)
TRINE_FOR_EACH_ON_HOST(StrainCell)
TRINE_FOR_EACH_ON_HOST(StrainAtom)
TRINE_FOR_EACH_ON_HOST(EndStrain)
TRINE_FOR_EACH_ON_HOST(CellEnergy)

}  // namespace trine::motion
