#include "motion/barostat.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(SetMobility)
TRINE_FOR_EACH_ON_DEVICE(BeginStrain)
TRINE_FOR_EACH_ON_DEVICE(StrainCell)
TRINE_FOR_EACH_ON_DEVICE(StrainAtom)
TRINE_FOR_EACH_ON_DEVICE(EndStrain)
TRINE_FOR_EACH_ON_DEVICE(CellEnergy)
