#include "motion/momentum.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(SubtractMomentum)
TRINE_SUM_ON_DEVICE(Momentum)
TRINE_MAXIMUM_ON_DEVICE(LargestComponents)
