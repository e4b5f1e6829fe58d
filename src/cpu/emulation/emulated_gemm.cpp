#include "trine/gemm.hpp"
