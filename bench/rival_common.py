"""What the drivers of the rivals share: model sizes, reading a structure, the clock and the report they print."""
import dataclasses
import json
import resource
import time

import numpy as np

ATOMIC_NUMBERS = {"H": 1, "O": 8}
SPECIES = list(range(1, 103))  # the elements that the published general-purpose models know


@dataclasses.dataclass(frozen=True)
class Size:
    """What distinguishes one published size of PET from another; the other widths follow from `d_pet`."""

    d_pet: int
    gnn_layers: int
    attention_layers: int
    cutoff: float  # angstrom
    adaptive_neighbours: int

    heads = 8
    cutoff_width = 0.5  # angstrom
    adaptive_cutoff_width = 1.0  # angstrom

    @property
    def d_node(self):
        return 4 * self.d_pet

    @property
    def d_feedforward(self):
        return 2 * self.d_pet

    @property
    def d_head(self):
        return self.d_pet


SIZES = {
    "xs": Size(d_pet=128, gnn_layers=2, attention_layers=1, cutoff=7.5, adaptive_neighbours=8),
    "s32": Size(d_pet=256, gnn_layers=3, attention_layers=1, cutoff=8.0, adaptive_neighbours=32),
    "l": Size(d_pet=512, gnn_layers=4, attention_layers=2, cutoff=9.0, adaptive_neighbours=32),
}


def add_arguments(parser):
    """The options that every rival's driver understands."""
    parser.add_argument("--size", required=True, choices=SIZES)
    parser.add_argument("--structure", required=True, help="extended XYZ file, periodic, first frame, H and O only")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to keep timing (default %(default)s)")


def read_structure(path):
    """Atomic numbers [N], positions [N][3] and cell [3][3] (rows are lattice vectors), both in angstrom."""
    with open(path) as file:
        count, comment = int(file.readline()), file.readline()
        rows = [file.readline().split() for _ in range(count)]
    cell = np.array(comment.split('Lattice="')[1].split('"')[0].split(), float).reshape(3, 3)
    numbers = np.array([ATOMIC_NUMBERS[row[0]] for row in rows])
    return numbers, np.array([row[1:4] for row in rows], float), cell


def time_calls(evaluate, seconds, warmup=2, fewest=3, most=100):
    """Wall-clock times in ms of repeated calls, after `warmup` calls that are not counted."""
    for _ in range(warmup):
        evaluate()
    times, end = [], time.perf_counter() + seconds
    while len(times) < fewest or (time.perf_counter() < end and len(times) < most):
        start = time.perf_counter()
        evaluate()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def peak_rss_mib():
    """Largest resident memory of this process so far in MiB (Linux counts it in KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_report(program, args, times, **details):
    """One JSON object on standard output: times in ms, memory in MiB."""
    report = {
        "program": program,
        "size": args.size,
        "threads": args.threads,
        "evaluations": len(times),
        "median_ms": round(float(np.median(times)), 3),
        "min_ms": round(min(times), 3),
        "peak_rss_mib": round(peak_rss_mib(), 1),
        **details,
    }
    print(json.dumps(report), flush=True)
