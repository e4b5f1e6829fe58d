#include "cuda/network/attention.hpp"
