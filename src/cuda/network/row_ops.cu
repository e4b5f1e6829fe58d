#include "cuda/network/row_ops.hpp"
