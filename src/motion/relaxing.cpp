#include "motion/relaxing.hpp"

#include "motion/launch_on_host.hpp"

namespace trine::motion {

TRINE_FOR_EACH_ON_HOST(ForceOnRow)
TRINE_FOR_EACH_ON_HOST(ForceOnCell)
TRINE_FOR_EACH_ON_HOST(KeepBestRow)
TRINE_FOR_EACH_ON_HOST(KeepBestSystem)
TRINE_FOR_EACH_ON_HOST(Finish)
TRINE_FOR_EACH_ON_HOST(DeformCell)
TRINE_FOR_EACH_ON_HOST(PlaceAtom)
TRINE_MAXIMUM_ON_HOST(RowNorm)

}  // namespace trine::motion
