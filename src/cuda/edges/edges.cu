#include "cuda/edges/edges.hpp"
