// To be included before anything that declares views: views of constants have a conversion to
// themselves, which nvcc remarks on where it is declared and nobody calls.
#pragma once

#ifdef __CUDACC__
#pragma nv_diag_suppress 554
#endif
