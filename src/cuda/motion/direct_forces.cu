#include "motion/direct_forces.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(SubtractMeanForce)
TRINE_SUM_ON_DEVICE(DirectForce)
