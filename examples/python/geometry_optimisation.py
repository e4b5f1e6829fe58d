"""Relaxes atoms and cell of a CoCrFeMnNi alloy to zero force and zero pressure.

    python geometry_optimisation.py [MODEL]
"""
import pathlib
import sys

import ase.io
import numpy as np
from ase import units
from ase.filters import FrechetCellFilter
from ase.optimize import BFGS

from trine.ase import TrineCalculator

STRUCTURE = pathlib.Path(__file__).parents[1] / "cantor16.xyz"


def relax(atoms, fmax=0.02):
    """Moves atoms and cell until no force, and no stress times volume, is above `fmax` eV/Angstrom; counts steps."""
    optimiser = BFGS(FrechetCellFilter(atoms), logfile=None)
    if not optimiser.run(fmax=fmax, steps=200):
        raise RuntimeError("not converged after 200 steps")
    return optimiser.nsteps


def report(atoms):
    forces = np.linalg.norm(atoms.get_forces(), axis=1)
    pressure = -np.trace(atoms.get_stress(voigt=False)) / 3
    return (f"energy {atoms.get_potential_energy() / len(atoms):.4f} eV/atom, largest force {forces.max():.4f} eV/A, "
            f"pressure {pressure / units.GPa:.3f} GPa, volume {atoms.get_volume() / len(atoms):.4f} A^3/atom")


def main(model="trine-mini"):
    atoms = ase.io.read(STRUCTURE)
    atoms.calc = TrineCalculator(model)
    print("start:  ", report(atoms))
    steps = relax(atoms)
    print("relaxed:", report(atoms), f"after {steps} steps")


if __name__ == "__main__":
    main(*sys.argv[1:])
