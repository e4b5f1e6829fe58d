#!/usr/bin/env python3
"""Write a periodic box of water as extended XYZ (positions and cell in angstrom).

    make_water.py --side 6 -o water648.xyz                      216 molecules, 648 atoms
    make_water.py --side 4 --repeat 3 5 6 -o water17280.xyz     the 192-atom box repeated
    make_water.py --input water192.xyz --repeat 2 1 1 -o water384.xyz

Without `--input`, side^3 rigid molecules stand on a cubic grid at the given density, each with a random orientation
and a small random displacement. The box is not equilibrated: it has the density of the liquid, hence the liquid's
number of neighbours, which is all that a timing depends on. The same seed gives the same file on every machine.
"""
import argparse
import sys

import numpy as np

OH_LENGTH = 0.9572  # angstrom
HOH_ANGLE = np.deg2rad(104.52)
MOLECULE_MASS = 18.01528  # g/mol
AVOGADRO_PER_CUBIC_ANGSTROM = 0.602214076  # 1/mol times 1 cm^3/A^3, that is 6.022e23 * 1e-24


def rigid_molecule():
    """Positions [3][3] of O, H, H in angstrom, the oxygen at the origin."""
    half = HOH_ANGLE / 2
    x, y = OH_LENGTH * np.sin(half), OH_LENGTH * np.cos(half)
    return np.array([[0, 0, 0], [x, y, 0], [-x, y, 0]])


def random_rotations(count, generator):
    """Rotation matrices [count][3][3], uniform over all orientations (from random unit quaternions)."""
    q = generator.normal(size=(count, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def water_on_grid(side, density, displacement, seed):
    """A cubic box of side^3 molecules: (symbols [N], positions [N][3], cell [3][3]) in angstrom.

    `density` is in g/cm^3; every molecule is moved by up to `displacement` angstrom along each axis.
    """
    count = side**3
    length = (count * MOLECULE_MASS / (density * AVOGADRO_PER_CUBIC_ANGSTROM)) ** (1 / 3)
    generator = np.random.Generator(np.random.PCG64(seed))
    oxygens = (np.indices((side,) * 3).reshape(3, -1).T + 0.5) * (length / side)
    oxygens += generator.uniform(-displacement, displacement, size=oxygens.shape)
    atoms = np.einsum("nij,aj->nai", random_rotations(count, generator), rigid_molecule())
    return ["O", "H", "H"] * count, (oxygens[:, None] + atoms).reshape(-1, 3), length * np.eye(3)


def read_box(path):
    """The first frame of an extended XYZ file whose columns begin with species and position."""
    with open(path) as file:
        count, comment = int(file.readline()), file.readline()
        rows = [file.readline().split() for _ in range(count)]
    cell = np.array(comment.split('Lattice="')[1].split('"')[0].split(), float).reshape(3, 3)
    return [row[0] for row in rows], np.array([row[1:4] for row in rows], float), cell


def repeat_box(symbols, positions, cell, repeat):
    """The box repeated repeat[k] times along cell vector k."""
    offsets = np.indices(repeat).reshape(3, -1).T @ cell
    copies = (positions[None] + offsets[:, None]).reshape(-1, 3)
    return symbols * len(offsets), copies, cell * np.array(repeat)[:, None]


def write_box(file, symbols, positions, cell):
    lattice = " ".join(repr(float(v)) for v in cell.ravel())
    file.write(f'{len(symbols)}\nLattice="{lattice}" Properties=species:S:1:pos:R:3 pbc="T T T"\n')
    for symbol, (x, y, z) in zip(symbols, positions):
        file.write(f"{symbol:2s} {x:16.8f} {y:16.8f} {z:16.8f}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--side", type=int, help="molecules along each edge: side^3 molecules, 3 side^3 atoms")
    source.add_argument("--input", help="extended XYZ file to repeat instead")
    parser.add_argument("--repeat", type=int, nargs=3, default=[1, 1, 1], metavar=("A", "B", "C"))
    parser.add_argument("--density", type=float, default=0.997, help="g/cm^3 (default %(default)s)")
    parser.add_argument("--displacement", type=float, default=0.2, help="angstrom (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", default="-", help="file to write (default: standard output)")
    args = parser.parse_args()

    box = read_box(args.input) if args.input else water_on_grid(args.side, args.density, args.displacement, args.seed)
    box = repeat_box(*box, args.repeat)
    if args.output == "-":
        write_box(sys.stdout, *box)
    else:
        with open(args.output, "w") as file:
            write_box(file, *box)


if __name__ == "__main__":
    main()
