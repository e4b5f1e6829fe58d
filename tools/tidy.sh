#!/bin/sh
# Runs clang-tidy on the sources given, or on all of src/ and apps/: tidy.sh [FILES...]
# Slow (minutes); needs a configured build/release for the compile commands.
set -eu
cd "$(dirname "$0")/.."
database=build/release
if [ ! -f $database/compile_commands.json ]; then
  echo "no $database/compile_commands.json (clang-tidy needs it), run: cmake --preset release" >&2
  exit 2
fi
if [ $# -gt 0 ]; then printf '%s\n' "$@"; else find src apps -name '*.cpp' | sort; fi |
  xargs -P "$(nproc)" -n 1 clang-tidy -p $database --quiet --extra-arg=-Wno-unknown-warning-option
