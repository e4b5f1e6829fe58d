#!/bin/sh
# Builds the wheel around a library that is built already, and tests it as installed in a new virtual environment:
#   tools/test_python.sh BUILD_FOLDER
# pip takes what the wheel needs from its index (PyPI, or what PIP_INDEX_URL names), and fails where it cannot.
# Without a Python that can have such an environment, there is nothing to test: that is said, and the exit status is 0.
set -eu
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
work=$PWD/build/wheel

usable='import sys, sysconfig, os, venv, ensurepip
sys.exit(sys.version_info < (3, 10) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'
python=
for candidate in python3 /usr/bin/python3; do
  if [ -z "$python" ] && "$candidate" -c "$usable" 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
  echo "Python tests skipped: there is no Python 3.10 or later with venv, ensurepip and Python.h" >&2
  exit 0
fi

# Runs pip with its own messages only if it fails.
pip() {
  "$work/venv/bin/python" -m pip --disable-pip-version-check "$@" >"$work/pip.log" 2>&1 && return
  cat "$work/pip.log" >&2
  echo "pip $1 failed (see above; without a network, PIP_INDEX_URL or PIP_FIND_LINKS must name a place that has the packages)" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
package=$(dirname "$(find "$work/prefix" -name trineConfig.cmake)")
"$python" -m venv "$work/venv"
pip wheel --no-deps -w "$work/wheel" --config-settings=build-dir="$work/build" \
  --config-settings=cmake.define.trine_DIR="$package" .
wheel=$(echo "$work"/wheel/trine-*.whl)
"$python" tools/check_wheel.py "$wheel"
pip install "$wheel[test]"
# From elsewhere, with nothing of the sources or of the build in sight.
cd "$work/venv"
unset PYTHONPATH LD_LIBRARY_PATH TRINE_PROGRAM TRINE_MODEL_DIR
PATH=$work/venv/bin:$PATH python -m pytest -q -p no:cacheprovider "$OLDPWD/tests/python"
