#!/bin/sh
# Builds the program and runs its main job: energies, forces and stress of liquid water.
set -eu
cd "$(dirname "$0")"
. tools/setup.sh
require_packages program

build=build/release
if [ ! -f $build/build.ninja ]; then
  echo "Configuring and building (a minute or two, the first time only)"
  cmake --preset release -DTRINE_DEVELOPER=OFF
fi
cmake --build --preset release --target trine_cli
echo

trine=$build/trine
model=models/trine-mini.ckpt
result=build/water192_result.xyz
$trine predict $model examples/water192.xyz --uncertainty -o $result

cat <<END

All energies and forces are in $result (extended XYZ, as ASE reads it).

What to try next:
  $trine info $model
      what the model holds
  $trine predict $model YOUR.xyz --json result.json
      your own structures; the model knows H C O Cr Mn Fe Co Ni Pt
  $trine md $model examples/water192.xyz --steps 100 --ensemble nvt-langevin --trajectory build/water192.h5 --every 10
      molecular dynamics
  $trine relax $model examples/water192.xyz -o build/water192_relaxed.xyz --fmax 0.5
      a minimum of the energy
  $trine bench step synthetic:s32 examples/water192.xyz
      speed of a published model size, with random weights
  $trine help predict
      all options
END
