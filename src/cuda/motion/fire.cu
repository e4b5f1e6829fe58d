#include "motion/fire.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(Fire2Decide)
TRINE_FOR_EACH_ON_DEVICE(FireDecide)
TRINE_FOR_EACH_ON_DEVICE(FireAccelerate)
TRINE_FOR_EACH_ON_DEVICE(LimitFastest)
TRINE_FOR_EACH_ON_DEVICE(FireMove)
TRINE_SUM_ON_DEVICE(FireSums)
