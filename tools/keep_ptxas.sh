#!/bin/sh
# Runs a CUDA compiler and keeps what ptxas says (nvcc -Xptxas -v) in OBJECT.ptxas beside the object:
#   keep_ptxas.sh nvcc ... -o OBJECT
# Everything else that the compiler says goes where it always does.
set -u
object=
previous=
for word in "$@"; do
  if [ "$previous" = -o ]; then object=$word; fi
  previous=$word
done
[ -n "$object" ] || exec "$@"
"$@" 2>"$object.stderr"
status=$?
# Lines of -v: "ptxas info    : ...", and below it one that begins with spaces.
grep -E '^ptxas |^ +[0-9]+ bytes ' "$object.stderr" >"$object.ptxas"
grep -vE '^ptxas info|^ +[0-9]+ bytes |^$' "$object.stderr" >&2
rm -f "$object.stderr"
exit $status
