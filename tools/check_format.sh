#!/bin/sh
# Checks the format of all C++ sources: check_format.sh [--fix] [FOLDER]
# Exits with 77 (skipped) where clang-format 14 is not installed: other versions format differently.
set -eu
fix=no
if [ "${1:-}" = --fix ]; then fix=yes; shift; fi
root=${1:-$(dirname "$0")/..}
cd "$root"
for program in clang-format-14 clang-format; do
  command -v "$program" >/dev/null || continue
  "$program" --version | grep -q 'version 14\.' || continue
  mode='--dry-run --Werror'
  if [ $fix = yes ]; then mode=-i; fi
  # shellcheck disable=SC2086 # the mode is two words
  find include src apps tests bench examples python \( -name data -o -name 'build*' \) -prune -o \
    \( -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.h' \) -print 2>/dev/null |
    sort | xargs -r "$program" $mode
  exit
done
echo "format check skipped: clang-format 14 is not installed" >&2
exit 77
