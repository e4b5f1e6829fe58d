// cuBLAS, which is loaded when it is first needed: trine starts without it, and without a driver.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <string>
#include <vector>

namespace trine::cuda {

/// The functions of cuBLAS that are called here, under their names. (Its headers are written for
/// that too: what they define inline calls the three `_internal` ones, which are exported for it.)
#define TRINE_CUBLAS_FUNCTIONS(X) \
  X(cublasCreate)                 \
  X(cublasDestroy)                \
  X(cublasGetProperty)            \
  X(cublasGetStatusString)        \
  X(cublasSetMathMode)            \
  X(cublasSetStream)              \
  X(cublasSetWorkspace)           \
  X(cublasSgemm_64)
#define TRINE_CUBLASLT_FUNCTIONS(X)        \
  X(cublasLtCreate)                        \
  X(cublasLtDestroy)                       \
  X(cublasLtMatmul)                        \
  X(cublasLtMatmulAlgoCheck)               \
  X(cublasLtMatmulAlgoConfigGetAttribute)  \
  X(cublasLtMatmulAlgoGetHeuristic)        \
  X(cublasLtMatmulDescInit_internal)       \
  X(cublasLtMatmulDescSetAttribute)        \
  X(cublasLtMatmulPreferenceInit_internal) \
  X(cublasLtMatmulPreferenceSetAttribute)  \
  X(cublasLtMatrixLayoutInit_internal)

struct BlasLibrary {
#define TRINE_MEMBER(name) decltype(&::name) name = nullptr;
  TRINE_CUBLAS_FUNCTIONS(TRINE_MEMBER)
  TRINE_CUBLASLT_FUNCTIONS(TRINE_MEMBER)
#undef TRINE_MEMBER
};

/// Where to look in the end: `set_cublas_folders` (trine/devices.hpp).
void set_blas_folders(std::vector<std::string> wanted);

/// Loads cuBLAS with the first call: the one that the process has already (PyTorch's, say), else
/// the one that the dynamic linker finds, else that of the folders above. Error(not_supported),
/// which says what to install, if there is none. It stays loaded. Threads may call it at the same
/// time.
const BlasLibrary& blas();

/// Why `blas` would throw, or "".
std::string why_no_blas();

}  // namespace trine::cuda
