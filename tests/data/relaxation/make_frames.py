#!/usr/bin/env python3
"""Makes frames.xyz: small structures, rattled with fixed seeds, for the comparison with ASE's optimisers."""
import os

import numpy as np
from ase import Atoms
from ase.build import add_adsorbate, bulk, fcc111
from ase.constraints import FixAtoms
from ase.io import write

LENGTHS = {"Pt": 3.97, "Ni": 3.52, "Co": 3.54, "Fe": 3.6}  # of fcc cells, Angstrom


def rattled(atoms, size, seed, **info):
    random = np.random.Generator(np.random.PCG64(seed))
    atoms.positions += size * random.standard_normal(atoms.positions.shape)
    atoms.info.update(info)
    return atoms


def alloy(seed, elements=("Co", "Cr", "Fe", "Mn", "Ni")):
    """Two atoms of a face-centred crystal."""
    atoms = bulk("Ni", "fcc", a=3.55, orthorhombic=True)
    random = np.random.Generator(np.random.PCG64(100 + seed))
    atoms.symbols = random.choice(elements, 2, replace=False)
    return atoms


def cluster(symbol, seed, optimizer):
    """A tetrahedron; three atoms are held, so that it cannot turn."""
    bond = 0.93 * LENGTHS[symbol] / np.sqrt(2)  # shorter than in the metal
    atoms = Atoms(4 * [symbol], bond / np.sqrt(8) * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1.0]]))
    atoms.set_constraint(FixAtoms([0, 1, 2]))
    return rattled(atoms, 0.05, seed, optimizer=optimizer, cell="fixed")


def slab_of_nickel(seed):
    atoms = fcc111("Ni", (1, 1, 3), a=LENGTHS["Ni"], vacuum=6.0)
    atoms.pbc = True
    atoms.info.clear()
    atoms.set_constraint(FixAtoms([0]))
    return rattled(atoms, 0.05, seed, optimizer="fire", cell="fixed")


def slab_with_co(seed):
    atoms = fcc111("Pt", (1, 1, 2), a=LENGTHS["Pt"], vacuum=6.0)
    add_adsorbate(atoms, "C", 1.85, "ontop")
    add_adsorbate(atoms, "O", 3.0, "ontop")
    atoms.pbc = True
    atoms.info.clear()
    atoms.set_constraint(FixAtoms([0]))
    return rattled(atoms, 0.05, seed, optimizer="lbfgs", cell="fixed")


def frames():
    for k, optimizer in enumerate(["fire2", "fire", "lbfgs"]):
        yield cluster("Pt" if k == 1 else "Ni", 10 + k, optimizer)
    for k, optimizer in enumerate(["fire2", "fire", "lbfgs", "lbfgs", "lbfgs"]):
        yield rattled(alloy(k), 0.1, 20 + k, optimizer=optimizer, cell="fixed")
    yield slab_of_nickel(30)
    for seed in (31, 32):
        yield slab_with_co(seed)
    for k, (cell, optimizer) in enumerate([("isotropic", "fire2"), ("isotropic", "fire"), ("isotropic", "lbfgs"),
                                           ("full", "fire2"), ("full", "lbfgs"), ("full", "lbfgs")]):
        yield rattled(alloy(10 + k), 0.05, 40 + k, optimizer=optimizer, cell=cell)
    for k, (symbol, optimizer) in enumerate([("Pt", "lbfgs"), ("Ni", "fire"), ("Co", "lbfgs")]):
        atoms = bulk(symbol, "fcc", a=1.02 * LENGTHS[symbol])
        yield rattled(atoms * (2, 1, 1), 0.05, 50 + k, optimizer=optimizer, cell="full")


if __name__ == "__main__":
    write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "frames.xyz"), list(frames()), format="extxyz")
