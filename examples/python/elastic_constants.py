"""Elastic constants of platinum from stresses of strained crystals.

    python elastic_constants.py [MODEL]
"""
import sys

import numpy as np
from ase import units
from ase.build import bulk

from trine.ase import TrineCalculator


def stiffness(crystal, strain=0.005):
    """(6, 6) GPa, d(stress)/d(strain) by central differences in the order of Voigt; atoms move with the cell.

    In crystals whose atoms are not all centres of inversion they would have to be relaxed under each strain.
    """
    def stress_at(deformation):
        strained = crystal.copy()
        strained.calc = crystal.calc
        strained.set_cell(crystal.cell @ (np.eye(3) + deformation), scale_atoms=True)
        return strained.get_stress() / units.GPa

    columns = []
    for i, j in ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)):
        deformation = np.zeros((3, 3))
        deformation[i, j] += strain / 2  # twice if i is j; else two halves of the engineering strain
        deformation[j, i] += strain / 2
        columns.append((stress_at(deformation) - stress_at(-deformation)) / (2 * strain))
    return np.array(columns).T


def cubic_constants(c):
    """C11, C12, C44 of a cubic crystal in a (6, 6) matrix: means of what symmetry makes equal."""
    c12 = np.mean([c[i, j] for i in range(3) for j in range(3) if i != j])
    return np.mean(np.diag(c)[:3]), c12, np.mean(np.diag(c)[3:])


def main(model="trine-mini"):
    crystal = bulk("Pt", a=3.98, cubic=True)
    crystal.calc = TrineCalculator(model)
    c11, c12, c44 = cubic_constants(stiffness(crystal))
    print(f"Pt: C11 = {c11:.1f} GPa, C12 = {c12:.1f} GPa, C44 = {c44:.1f} GPa, "
          f"B = (C11 + 2 C12) / 3 = {(c11 + 2 * c12) / 3:.1f} GPa")


if __name__ == "__main__":
    main(*sys.argv[1:])
