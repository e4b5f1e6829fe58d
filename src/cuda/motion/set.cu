#include "motion/set.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(SetZero)
TRINE_FOR_EACH_ON_DEVICE(Scale)
TRINE_FOR_EACH_ON_DEVICE(Copy)
TRINE_FOR_EACH_ON_DEVICE(SetStep)
