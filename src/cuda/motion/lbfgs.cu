#include "motion/lbfgs.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(LbfgsCurvature)
TRINE_FOR_EACH_ON_DEVICE(LbfgsScale)
TRINE_FOR_EACH_ON_DEVICE(LbfgsMove)
TRINE_FOR_EACH_ON_DEVICE(LbfgsCount)
TRINE_SUM_ON_DEVICE(LbfgsRemember)
TRINE_SUM_ON_DEVICE(LbfgsBackward)
TRINE_SUM_ON_DEVICE(LbfgsForward)
TRINE_MAXIMUM_ON_DEVICE(LbfgsLength)
