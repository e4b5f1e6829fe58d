#!/usr/bin/env python3
"""Makes frames.xyz: small structures, rattled with fixed seeds, for the comparison with ASE's optimisers."""
import os

import numpy as np
from ase.build import add_adsorbate, bulk, fcc111
from ase.constraints import FixAtoms
from ase.io import write

LENGTHS = {"Pt": 3.97, "Ni": 3.52, "Co": 3.54, "Fe": 3.6}  # of fcc cells, Angstrom


def rattled(atoms, size, seed, **info):
    random = np.random.Generator(np.random.PCG64(seed))
    atoms.positions += size * random.standard_normal(atoms.positions.shape)
    atoms.info.update(info)
    return atoms


def alloy(seed, cell=(1, 1, 1)):
    atoms = bulk("Ni", "fcc", a=3.55, cubic=True) * cell
    random = np.random.Generator(np.random.PCG64(100 + seed))
    atoms.symbols = random.choice(["Co", "Cr", "Fe", "Mn", "Ni"], len(atoms))
    return atoms


def slab_with_co(seed):
    atoms = fcc111("Pt", (1, 1, 3), a=3.97, vacuum=6.0)
    add_adsorbate(atoms, "C", 1.85, "ontop")
    add_adsorbate(atoms, "O", 3.0, "ontop")
    atoms.pbc = True
    atoms.set_constraint(FixAtoms([0]))
    return rattled(atoms, 0.05, seed, optimizer="lbfgs", cell="fixed")


def frames():
    for k, optimizer in enumerate(["fire2", "fire"] + 6 * ["lbfgs"]):
        yield rattled(alloy(k), 0.1, 20 + k, optimizer=optimizer, cell="fixed")
    for seed in (30, 31, 32, 33):
        yield slab_with_co(seed)
    for k, (cell, optimizer) in enumerate([("isotropic", "lbfgs"), ("full", "fire2"), ("full", "lbfgs"),
                                           ("full", "lbfgs")]):
        yield rattled(alloy(10 + k), 0.05, 40 + k, optimizer=optimizer, cell=cell)
    for k, (symbol, cell, optimizer) in enumerate([("Pt", "full", "lbfgs"), ("Pt", "isotropic", "lbfgs"),
                                                   ("Ni", "full", "lbfgs"), ("Co", "full", "lbfgs")]):
        atoms = bulk(symbol, "fcc", a=1.02 * LENGTHS[symbol])
        yield rattled(atoms * (2, 1, 1), 0.05, 50 + k, optimizer=optimizer, cell=cell)


if __name__ == "__main__":
    write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "frames.xyz"), list(frames()), format="extxyz")
