#include "cuda/list/neighbor_list.hpp"
