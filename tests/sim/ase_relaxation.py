#!/usr/bin/env python3
"""Relaxes 20 frames with trine and with ASE's optimisers on the same energies, and compares the minima.

    ase_relaxation.py SERVER MODEL FRAMES.xyz [MINIMA.json]

SERVER is relaxation_server.cpp. A frame's key `cell` (fixed, isotropic, full) says what may move, `optimizer` with
what. With MINIMA.json ASE's results are written there, which relaxation_minima_test.cpp compares trine with where
there is no ASE. Exits with status 77 where there is no ASE with scipy.
"""
import json
import os
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads for 3 x 3 matrices wait for each other

try:
    import ase
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
    # Where the curvature along a step was not positive, ASE's L-BFGS goes uphill for a while, and trine's does not.
    is_convex = optimizer != "lbfgs" or min(run.state.rho) > 0
    return converged, run.nsteps, is_convex


def compare(frame, number, server):
    """Problems of one frame, and ASE's result."""
    optimizer, cell = frame.info["optimizer"], frame.info["cell"]
    ours = server.ask(frame, OPTIMIZERS[optimizer][0], CELLS[cell])
    theirs = frame.copy()
    converged, steps, is_convex = relax_by_ase(theirs, server, optimizer, cell)
    name = f"frame {number} ({frame.get_chemical_formula()}, {optimizer}, cell {cell})"
    minimum = {"steps": steps, "is_convex": bool(is_convex), "energy": theirs.get_potential_energy(),
               "cell": theirs.cell.tolist(), "positions": theirs.positions.tolist()}
    if ours["status"] != 0 or not converged:
        states = f"trine: status {ours['status']} after {ours['steps']}, ASE: {steps} steps"
        return [f"{name}: not converged ({states})"], minimum
    moved = theirs.positions
    if not frame.constraints:  # sums of forces are zero but for roundings: the crystal may have drifted
        moved = moved - (moved - ours["positions"]).mean(axis=0)
    energy = abs(minimum["energy"] - ours["energy"])
    place = np.linalg.norm(moved - ours["positions"], axis=1).max()
    edge = np.linalg.norm(theirs.cell.array - ours["cell"], axis=1).max()
    print(f"{name}: {ours['steps']} and {steps} steps, {energy:.1e} eV, {place:.1e} A, cell {edge:.1e} A"
          f"{'' if is_convex else ', not convex'}", flush=True)
    good = energy <= 1e-4 and place <= 1e-3 and edge <= 1e-3
    # FIRE and L-BFGS are the same algorithms there, step by step.
    is_same_algorithm = optimizer != "fire2" and is_convex
    same = not is_same_algorithm or abs(steps - ours["steps"]) <= 1
    problems = ([] if good else [f"{name}: not the same minimum"]) + ([] if same else [f"{name}: not as many steps"])
    return problems, minimum


def write(path, minima):
    about = {"ase": ase.__version__, "numpy": np.__version__, "scipy": scipy.__version__, "fmax": FMAX,
             "pressure": PRESSURE}
    with open(path, "w", encoding="ascii") as file:
        lines = ",\n".join(json.dumps(m) for m in minima)
        file.write(f'{{"about": {json.dumps(about)}, "minima": [\n{lines}\n]}}\n')


def main():
    program, model, path = sys.argv[1:4]
    servers = [Server(program, model) for _ in range(2)]
    frames = read(path, ":")
    start = time.time()

    def compare_half(half):
        return {k: compare(frames[k], k + 1, servers[half]) for k in range(half, len(frames), 2)}

    with ThreadPoolExecutor(2) as pool:
        found = {k: result for half in pool.map(compare_half, (0, 1)) for k, result in half.items()}
    compared = [found[k] for k in range(len(frames))]
    problems = [p for its_problems, _ in compared for p in its_problems]
    print(f"{len(frames)} frames, {sum(s.evaluations for s in servers)} requests, {time.time() - start:.0f} s")
    for problem in problems:
        print(problem)
    if len(frames) != 20:
        problems.append("20 frames are wanted")
    if len(sys.argv) > 4:
        write(sys.argv[4], [minimum for _, minimum in compared])
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
