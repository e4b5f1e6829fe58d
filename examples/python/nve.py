"""Molecular dynamics of platinum at constant energy, and how constant it is.

    python nve.py [MODEL]
"""
import sys

import numpy as np
from ase import units
from ase.build import bulk
from ase.md.verlet import VelocityVerlet

from trine.ase import TrineCalculator


def set_temperature(atoms, temperature, seed=1):
    """Draws momenta from the distribution of Maxwell and Boltzmann and stops the motion of all atoms together."""
    widths = np.sqrt(atoms.get_masses() * units.kB * temperature)
    momenta = np.random.default_rng(seed).normal(size=(len(atoms), 3)) * widths[:, None]
    atoms.set_velocities(momenta / atoms.get_masses()[:, None] - momenta.sum(axis=0) / atoms.get_masses().sum())


def energies_of_a_run(atoms, temperature=600, timestep=2, steps=100):
    """Runs `steps` of `timestep` fs, begun at `temperature` K. Potential and kinetic energies [steps + 1], eV/atom."""
    set_temperature(atoms, temperature)
    dynamics = VelocityVerlet(atoms, timestep=timestep * units.fs)
    potential, kinetic = [], []

    def note():
        potential.append(atoms.get_potential_energy() / len(atoms))
        kinetic.append(atoms.get_kinetic_energy() / len(atoms))

    dynamics.attach(note)
    dynamics.run(steps)
    return np.array(potential), np.array(kinetic)


def main(model="trine-mini"):
    atoms = bulk("Pt", a=3.98, cubic=True).repeat(2)
    atoms.calc = TrineCalculator(model)
    potential, kinetic = energies_of_a_run(atoms)
    total = potential + kinetic
    picoseconds = 2e-3 * (len(total) - 1)
    print(f"{len(atoms)} atoms, {picoseconds:.1f} ps: {kinetic.mean() / (1.5 * units.kB):.1f} K on average, "
          f"potential energy fluctuates by {1000 * potential.std():.3f} meV/atom, total energy by "
          f"{1000 * total.std():.3f} meV/atom and drifts by {1000 * (total[-1] - total[0]) / picoseconds:.3f} "
          "meV/atom/ps")


if __name__ == "__main__":
    main(*sys.argv[1:])
