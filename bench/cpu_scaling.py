#!/usr/bin/env python3
"""Measure how trine's cost grows with the system, its start and its neighbour list, and write a receipt.

    cpu_scaling.py --trine build/release/trine --neighbor-list build/release/bench/bench_neighbor_list \\
        --molecule ethanol.xyz --trained models/trine-mini.ckpt --receipt cpu_scaling.json

Boxes of water at the density of the liquid come from make_water.py (numpy). Figures: microseconds per atom of an
evaluation with forces, list included, against the smallest box; wall time and memory of `trine predict` from start to
result on a small molecule; seconds of the neighbour list of 0.1 atoms per cubic angstrom.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import receipt

HERE = pathlib.Path(__file__).resolve().parent


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def water_box(side, folder):
    """A box of side^3 molecules as an extended XYZ file."""
    path = folder / f"water{3 * side**3}.xyz"
    run([sys.executable, "-B", str(HERE / "make_water.py"), "--side", str(side), "-o", str(path)])
    return path


def scaling_figures(args, folder):
    """Microseconds per atom for each box; the ratio is to the smallest one."""
    figures, smallest = [], None
    for side in args.sides:
        box = water_box(side, folder)
        step = [args.trine, "bench", "step", f"synthetic:{args.size}", str(box), "--baseline", "none", "--json", "-"]
        report = json.loads(run([*step, "--threads", str(args.threads), "--repeats", str(args.repeats)]))
        per_atom = 1e3 * report["median_ms"] / report["atoms"]
        smallest = smallest or per_atom
        name = f"cpu.{args.size}.{report['atoms']}"
        figures.append(receipt.figure(f"{name}.us_per_atom", per_atom, "us", f"{args.sides[0]}^3 molecules", per_atom / smallest))
        figures.append(receipt.figure(f"{name}.peak_memory", report["peak_rss_mib"], "MiB"))
        print(figures[-2], file=sys.stderr)
    return figures


def start_figures(args):
    """Wall seconds (median) and peak memory from the start of the program to its result."""
    seconds = []
    for _ in range(args.starts):
        begin = time.perf_counter()
        process = subprocess.Popen([args.trine, "predict", args.trained, args.molecule, "--quiet"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - begin)
        if status != 0:
            raise SystemExit(f"cpu_scaling: trine predict failed with status {status}")
    atoms = int(pathlib.Path(args.molecule).read_text().split()[0])
    return [
        receipt.figure(f"cpu.predict.{atoms}.s", statistics.median(seconds), "s"),
        receipt.figure(f"cpu.predict.{atoms}.memory", usage.ru_maxrss / 1024, "MiB"),
    ]


def list_figures(args):
    """Seconds of the neighbour list: the first call, which touches its memory, and the median of three more."""
    figures = []
    for atoms in args.list_atoms:
        report = json.loads(run([args.neighbor_list, str(atoms), "7.5", str(args.threads), "3"]))
        for key in ("first_s", "median_s"):
            figures.append(receipt.figure(f"cpu.neighbor_list.{atoms}.{key}", report[key], "s", f"{report['pairs']} pairs"))
        print(figures[-1], file=sys.stderr)
    return figures


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trine", required=True, help="the program trine")
    parser.add_argument("--neighbor-list", required=True, help="the program bench_neighbor_list")
    parser.add_argument("--trained", required=True, help="checkpoint for the start of the program")
    parser.add_argument("--molecule", required=True, help="extended XYZ file of a small molecule")
    parser.add_argument("--size", default="xs", help="synthetic model of the boxes (default %(default)s)")
    parser.add_argument("--sides", nargs="+", type=int, default=[7, 9, 12, 15, 19], help="molecules along an edge")
    parser.add_argument("--list-atoms", nargs="+", type=int, default=[20000, 1000000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="evaluations per box (default %(default)s)")
    parser.add_argument("--starts", type=int, default=11, help="starts of the program (default %(default)s)")
    parser.add_argument("--receipt", required=True, help="JSON file to write")
    return parser.parse_args()


def main():
    args = parse_arguments()
    figures = start_figures(args) + list_figures(args)
    with tempfile.TemporaryDirectory() as folder:
        figures += scaling_figures(args, pathlib.Path(folder))
    receipt.write(args.receipt, figures, receipt.cpu_name(args.threads))


if __name__ == "__main__":
    main()
