"""Lattice constant, cohesive curve and bulk modulus of platinum from energies of compressed and stretched crystals.

    python equation_of_state.py [MODEL]
"""
import sys

import numpy as np
from ase import units
from ase.build import bulk
from ase.eos import EquationOfState

from trine.ase import TrineCalculator


def fit(calculator, symbol="Pt", guess=3.98, strain=0.02, points=9):
    """Birch and Murnaghan's curve through energies of an fcc crystal whose lattice constant changes by `strain`.

    Returns the lattice constant in Angstrom, the energy there in eV/atom, and the bulk modulus in GPa.
    """
    volumes, energies = [], []
    for scale in np.linspace(1 - strain, 1 + strain, points):
        crystal = bulk(symbol, a=scale * guess)  # one atom
        crystal.calc = calculator
        volumes.append(crystal.get_volume())
        energies.append(crystal.get_potential_energy())
    volume, energy, modulus = EquationOfState(volumes, energies, eos="birchmurnaghan").fit()
    return (4 * volume) ** (1 / 3), energy, modulus / units.GPa


def main(model="trine-mini"):
    lattice_constant, energy, modulus = fit(TrineCalculator(model))
    print(f"Pt: a = {lattice_constant:.4f} A, E = {energy:.4f} eV/atom, B = {modulus:.1f} GPa")


if __name__ == "__main__":
    main(*sys.argv[1:])
