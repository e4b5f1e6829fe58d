#include "motion/relaxing.hpp"

#include "cuda/motion/launch.cuh"

TRINE_FOR_EACH_ON_DEVICE(ForceOnRow)
TRINE_FOR_EACH_ON_DEVICE(ForceOnCell)
TRINE_FOR_EACH_ON_DEVICE(KeepBestRow)
TRINE_FOR_EACH_ON_DEVICE(KeepBestSystem)
TRINE_FOR_EACH_ON_DEVICE(Finish)
TRINE_FOR_EACH_ON_DEVICE(DeformCell)
TRINE_FOR_EACH_ON_DEVICE(PlaceAtom)
TRINE_MAXIMUM_ON_DEVICE(RowNorm)
