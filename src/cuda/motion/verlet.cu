#include "motion/verlet.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(Kick)
TRINE_FOR_EACH_ON_DEVICE(Drift)
TRINE_FOR_EACH_ON_DEVICE(KickAndDrift)
TRINE_FOR_EACH_ON_DEVICE(ScaleVelocities)
TRINE_FOR_EACH_ON_DEVICE(CountStep)
TRINE_SUM_ON_DEVICE(KineticTensor)
TRINE_SUM_ON_DEVICE(TwiceKineticEnergy)
