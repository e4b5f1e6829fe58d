#!/bin/sh
# Builds everything and runs all tests. Needs nothing but Debian 12 or Ubuntu 24.04, or newer.
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
