// Marks functions that the host's compiler and a GPU's compile alike.
#pragma once

#ifdef __CUDACC__
#define TRINE_HOST_DEVICE __host__ __device__
#else
#define TRINE_HOST_DEVICE
#endif
