# The CUDA compiler, what it compiles for, and cuBLAS's headers (the baseline and the method fp32).
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # Machine code for A100, H100/H200 and B200; 8.6 and 8.9 run that of 8.0, and newer devices its PTX.
  set(CMAKE_CUDA_ARCHITECTURES 80 90a-real 100a-real)
endif()
if(NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
  # Registers, spills and warnings of the assembler stay beside each object, for tools/check_kernels.py.
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/tools/keep_ptxas.sh)
endif()
enable_language(CUDA)
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  # CMake 3.25 does not know yet that nvcc has C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
find_package(CUDAToolkit REQUIRED)
# The library itself is loaded at run time: src/cuda/gemm/blas_library.hpp.
find_file(TRINE_CUBLAS_HEADER cublasLt.h HINTS ${CUDAToolkit_INCLUDE_DIRS} NO_DEFAULT_PATH)
if(NOT TRINE_CUBLAS_HEADER)
  message(FATAL_ERROR "cuBLAS was not found (TRINE_CUDA=ON needs it as the FP32 product and baseline), install it beside "
    "nvcc (Debian's name: libcublas-dev-${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR}) or set CUDAToolkit_ROOT to a "
    "toolkit that has it, or configure with -DTRINE_CUDA=OFF")
endif()
