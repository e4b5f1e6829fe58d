#include "motion/thermostat.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(DrawVelocityFactor)
TRINE_FOR_EACH_ON_DEVICE(AdvanceChain)
TRINE_FOR_EACH_ON_DEVICE(ChainEnergy)
TRINE_FOR_EACH_ON_DEVICE(MinusFirstVariable)
