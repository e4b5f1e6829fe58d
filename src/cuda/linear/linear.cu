#include "cuda/linear/linear.hpp"
