#!/usr/bin/env python3
"""What a call of ASE's calculator takes beyond the evaluation in C++.

    ase_overhead.py [--model trine-mini] [--structure examples/water192.xyz] [--device auto] [--calls 200]
                    [--json FILE]

Atoms move before each call, and energy, forces and stress are asked for. The overhead of a call is its time less that of
the extension module inside it, plus that of the extension module for no atoms, which converts and makes as many
arrays: medians of all calls. Exits with status 1 if it is above the limit.
"""
import argparse
import json
import statistics
import sys
import time

import ase
import ase.io
import numpy as np

import trine
from trine.ase import TrineCalculator

LIMIT_MS = 0.3


class Timed:
    """The extension module's model, which notes the time of its last evaluation."""

    def __init__(self, loaded):
        self._loaded = loaded
        self.seconds = 0.0

    def __getattr__(self, name):
        return getattr(self._loaded, name)

    def evaluate(self, *arguments, **options):
        start = time.perf_counter()
        results = self._loaded.evaluate(*arguments, **options)
        self.seconds = time.perf_counter() - start
        return results


def milliseconds_of_calls(atoms, timed, calls):
    """Medians of whole calls, of the extension module's part, and of their differences."""
    rng = np.random.default_rng(1)
    whole, inner = [], []
    for _ in range(calls):
        atoms.positions += rng.normal(scale=1e-3, size=(len(atoms), 3))
        start = time.perf_counter()
        atoms.get_forces(), atoms.get_stress(), atoms.get_potential_energy()
        whole.append(time.perf_counter() - start)
        inner.append(timed.seconds)
    differences = [a - b for a, b in zip(whole, inner)]
    return [1e3 * statistics.median(times) for times in (whole, inner, differences)]


def measure(options):
    model = trine.load(options.model, device=options.device, precision=options.precision)
    atoms = ase.io.read(options.structure)
    timed = Timed(model._loaded)
    atoms.calc = TrineCalculator(trine.Model(timed, {}))
    milliseconds_of_calls(atoms, timed, 5)  # lists, graphs and caches
    whole, inner, difference = milliseconds_of_calls(atoms, timed, options.calls)
    nothing = ase.Atoms(calculator=TrineCalculator(trine.Model(timed, {})), cell=atoms.cell, pbc=atoms.pbc)
    empty = []
    for _ in range(options.calls):
        nothing.calc.reset()
        nothing.get_forces()
        empty.append(1e3 * timed.seconds)
    conversion = statistics.median(empty)
    return {"model": model.info.name, "device": model.device, "precision": model.precision, "atoms": len(atoms),
            "calls": options.calls, "ase": ase.__version__, "call_ms": whole, "extension_ms": inner,
            "python_ms": difference, "conversion_ms": conversion, "overhead_ms": difference + conversion,
            "limit_ms": LIMIT_MS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="trine-mini")
    parser.add_argument("--structure", default="examples/water192.xyz")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--json")
    options = parser.parse_args()
    found = measure(options)
    print("{device} {precision}, {atoms} atoms: a call takes {call_ms:.3f} ms, of which {overhead_ms:.3f} ms are ASE's and "
          "Python's (limit {limit_ms} ms; medians of {calls})".format(**found))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=2)
    return 0 if found["overhead_ms"] <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
