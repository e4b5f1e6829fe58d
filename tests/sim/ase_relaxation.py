#!/usr/bin/env python3
"""Relaxes 20 frames with trine and with ASE's optimisers on the same energies, and compares the minima.

    ase_relaxation.py SERVER MODEL FRAMES.xyz

SERVER is relaxation_server.cpp. A frame's key `cell` (fixed, isotropic, full) says what may move, `optimizer` with
what. Frames are crystals or have atoms that are held: PET lets molecules turn, which takes hundreds of steps. Exits with status 77 where there is no ASE with scipy.
"""
import struct
import subprocess
import sys
import time

try:
    import numpy as np
    from ase.calculators.calculator import Calculator, all_changes
    from ase.filters import FrechetCellFilter
    from ase.io import read
    from ase.optimize import FIRE, LBFGS
    from ase.stress import full_3x3_to_voigt_6_stress
    import scipy.linalg  # noqa: F401, of the filter
except ImportError as error:
    print(f"skipped: ASE of 3.23 or later with scipy is needed ({error})")
    sys.exit(77)

try:
    from ase.optimize import FIRE2
except ImportError:
    from ase.optimize.fire2 import FIRE2

FMAX = 1e-4  # eV/A
PRESSURE = 1.0  # GPa, where the cell moves
GIGAPASCAL = 1 / 160.2176634  # eV/A^3
OPTIMIZERS = {"fire2": (1, FIRE2), "fire": (2, FIRE), "lbfgs": (3, LBFGS)}
CELLS = {"fixed": 0, "isotropic": 1, "full": 2}


class Server:
    """trine at the other end of a pipe."""

    def __init__(self, program, model):
        self.process = subprocess.Popen([program, model], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.evaluations = 0

    def ask(self, atoms, kind=0, cell=0):
        held = np.zeros(len(atoms))
        for constraint in atoms.constraints:
            held[constraint.index] = 1
        numbers = [kind, cell, FMAX, PRESSURE if cell else 0.0, len(atoms), *atoms.pbc, *atoms.cell.array.ravel()]
        for number, is_held, position in zip(atoms.numbers, held, atoms.positions):
            numbers += [number, is_held, *position]
        self.process.stdin.write(struct.pack(f"{len(numbers)}d", *numbers))
        self.process.stdin.flush()
        size = 21 + 6 * len(atoms)
        answer = np.frombuffer(self.process.stdout.read(8 * size))
        self.evaluations += 1
        rows = answer[21:].reshape(-1, 6)
        return {"status": int(answer[0]), "steps": int(answer[1]), "energy": answer[2],
                "cell": answer[3:12].reshape(3, 3), "strain_gradient": answer[12:21].reshape(3, 3),
                "positions": rows[:, :3], "forces": rows[:, 3:]}


class Trine(Calculator):
    implemented_properties = ["energy", "free_energy", "forces", "stress"]

    def __init__(self, server):
        super().__init__()
        self.server = server

    def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
        super().calculate(atoms, properties, system_changes)
        found = self.server.ask(self.atoms)
        self.results = {"energy": found["energy"], "free_energy": found["energy"], "forces": found["forces"]}
        if all(self.atoms.pbc):
            gradient = (found["strain_gradient"] + found["strain_gradient"].T) / 2
            self.results["stress"] = full_3x3_to_voigt_6_stress(gradient / self.atoms.get_volume())


def relax_by_ase(atoms, server, optimizer, cell):
    atoms.calc = Trine(server)
    target = atoms
    if cell != "fixed":
        target = FrechetCellFilter(atoms, hydrostatic_strain=cell == "isotropic", scalar_pressure=PRESSURE * GIGAPASCAL)
    run = OPTIMIZERS[optimizer][1](target, logfile=None)
    converged = run.run(fmax=FMAX, steps=2000)
    return converged, run.nsteps


def compare(frame, number, server):
    """Problems of one frame."""
    optimizer, cell = frame.info["optimizer"], frame.info["cell"]
    ours = server.ask(frame, OPTIMIZERS[optimizer][0], CELLS[cell])
    theirs = frame.copy()
    converged, steps = relax_by_ase(theirs, server, optimizer, cell)
    name = f"frame {number} ({frame.get_chemical_formula()}, {optimizer}, cell {cell})"
    if ours["status"] != 0 or not converged:
        return [f"{name}: not converged (trine: status {ours['status']} after {ours['steps']}, ASE: {steps} steps)"]
    moved = theirs.positions
    if not frame.constraints:  # sums of forces are zero but for roundings: the crystal may have drifted
        moved = moved - (moved - ours["positions"]).mean(axis=0)
    energy = abs(theirs.get_potential_energy() - ours["energy"])
    place = np.linalg.norm(moved - ours["positions"], axis=1).max()
    edge = np.abs(theirs.cell.cellpar()[:3] - np.linalg.norm(ours["cell"], axis=1)).max()
    print(f"{name}: {ours['steps']} and {steps} steps, {energy:.1e} eV, {place:.1e} A, cell {edge:.1e} A", flush=True)
    good = energy <= 1e-4 and place <= 1e-3 and edge <= 1e-3
    # FIRE and L-BFGS are the same algorithms there, step by step.
    same = optimizer == "fire2" or cell != "fixed" or abs(steps - ours["steps"]) <= 1
    return ([] if good else [f"{name}: not the same minimum"]) + ([] if same else [f"{name}: not as many steps"])


def main():
    program, model, path = sys.argv[1:]
    server = Server(program, model)
    frames = read(path, ":")
    start = time.time()
    problems = [p for k, frame in enumerate(frames) for p in compare(frame, k + 1, server)]
    print(f"{len(frames)} frames, {server.evaluations} requests, {time.time() - start:.0f} s")
    for problem in problems:
        print(problem)
    if len(frames) != 20:
        problems.append("20 frames are wanted")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
