#include "motion/langevin.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(LangevinMove)
TRINE_FOR_EACH_ON_DEVICE(DrawVelocity)
TRINE_SUM_ON_DEVICE(FirstAtomVariable)
