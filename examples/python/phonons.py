"""Phonons of platinum by finite displacements.

    python phonons.py [MODEL]
"""
import sys
import tempfile

import numpy as np
from ase import units
from ase.build import bulk
from ase.phonons import Phonons

from trine.ase import TrineCalculator

POINTS = {"Gamma": (0, 0, 0), "X": (0, 0.5, 0.5), "L": (0.5, 0.5, 0.5)}  # of the fcc lattice
THZ_PER_EV = units._e / units._hplanck * 1e-12


def frequencies(crystal, points, supercell=(4, 4, 4), displacement=0.02):
    """THz, (points, 3 N), ascending; imaginary ones are negative. Points are in units of the reciprocal lattice."""
    with tempfile.TemporaryDirectory() as folder:
        phonons = Phonons(crystal, crystal.calc, supercell=supercell, delta=displacement, name=f"{folder}/phonons")
        phonons.run()
        phonons.read(acoustic=False)  # the sum rule is left to the model
        energies = phonons.band_structure(np.array(points, dtype=float), verbose=False)
    return THZ_PER_EV * energies


def main(model="trine-mini"):
    crystal = bulk("Pt", a=3.98)
    crystal.calc = TrineCalculator(model)
    for name, modes in zip(POINTS, frequencies(crystal, list(POINTS.values()))):
        print(f"{name:6s}", *(f"{mode:7.3f}" for mode in modes), "THz")


if __name__ == "__main__":
    main(*sys.argv[1:])
