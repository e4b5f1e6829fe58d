"""Writes expected.json: what ASE reads from every file of this folder.

Run in this folder with ASE 3.29 installed: python ase_expected.py
"""
import json
import pathlib

import ase.io
import numpy as np

FORMATS = {".xyz": "extxyz", ".poscar": "vasp", ".vasp": "vasp", ".data": "lammps-data"}
IDENTITY = ("numbers", "positions", "id", "type", "mol-id", "bonds", "initial_charges", "mmcharges")


def plain(value):
    return json.loads(json.dumps(value, default=lambda v: np.asarray(v).tolist()))


def frame(atoms):
    data = {
        "numbers": atoms.numbers,
        "positions": atoms.positions,
        "cell": atoms.cell.array,
        "pbc": atoms.pbc,
        "info": {k: v for k, v in atoms.info.items() if k != "comment"},
        "arrays": {k: v for k, v in atoms.arrays.items() if k not in IDENTITY},
        "results": atoms.calc.results if atoms.calc else {},
        "fixed": [c.index for c in atoms.constraints],
    }
    return plain(data)


files = sorted(p for p in pathlib.Path(".").iterdir() if p.suffix in FORMATS)
expected = {p.name: [frame(a) for a in ase.io.read(p, ":", format=FORMATS[p.suffix])] for p in files}
pathlib.Path("expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
