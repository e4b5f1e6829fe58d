#include "cuda/network/readout.hpp"
