#!/bin/sh
# Builds everything and runs all tests. Where nvcc is, it also compiles the GPU kernels and checks their machine code.
# Needs nothing but Debian 12 or Ubuntu 24.04, or newer.
set -eu
cd "$(dirname "$0")"
. tools/setup.sh
require_packages program tests

mkdir -p build
log=build/configure.log
cmake --preset release -DTRINE_DEVELOPER=ON >$log 2>&1 || { cat $log; exit 1; }
cmake --build --preset release
# Tests run side by side, so threads that wait should give their core away.
OMP_WAIT_POLICY=passive ctest --preset release -j "$(nproc)"

# The Python package as a user gets it.
timeout -k 10 900 tools/test_python.sh build/release || {
  test $? -ne 124 || echo "The Python package was not tested within 15 minutes" >&2
  exit 1
}

# Kernels need nvcc to compile, and a GPU to run: tools/gpu_gate.
if ! command -v nvcc >/dev/null; then
  echo "nvcc is not installed: the kernels for GPUs were not compiled" >&2
  exit 0
fi
log=build/configure_cuda.log
cmake --preset cuda -DTRINE_DEVELOPER=ON >$log 2>&1 || { cat $log; exit 1; }
cmake --build --preset cuda --target trine_gemm trine_gpu_programs
tools/check_kernels.py build/cuda
