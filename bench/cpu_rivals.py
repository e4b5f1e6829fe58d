#!/usr/bin/env python3
"""Time trine and its rivals side by side on the CPU and write a receipt.

    cpu_rivals.py --trine build/trine --model xs=xs.ckpt --model s32=s32.ckpt --python venv/bin/python \
        --wheel metatrain-2026.4.1-py3-none-any.whl --structures water192.xyz water648.xyz --receipt cpu_rivals.json

One evaluation is energy and forces of one structure; building the neighbour list is part of trine's time but not of its
rivals'. The programs take turns (A B C A B C ...) on the same cores, each time in a fresh process that times several
evaluations, so that a slow minute of the machine meets all of them. A turn that other processes disturbed is taken
again, a few times at most; the receipt tells how much of the machine they still had. A program's time is the median
over its turns of each turn's median, its memory the largest resident size of any of its processes. The rivals are
metatrain's PyTorch PET, eager and compiled, and pet-kokkos with the OpenBLAS kernels that it chooses itself and with
those named by `--blas-kernels`; the interpreter given by `--python` must have torch, numpy and pet-kokkos. Without
`--trine` only the rivals are timed.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import receipt

HERE = pathlib.Path(__file__).resolve().parent
TRINE = "trine"
TORCH = "torch"
UNDISTURBED = 0.05  # share of the machine that others may use during a turn


@dataclasses.dataclass(frozen=True)
class Program:
    """One way to evaluate one case. `name` is trine, or a rival as figures call it; `mode` tells its variants apart."""

    name: str
    mode: str
    command: list
    environment: dict


@dataclasses.dataclass
class Measured:
    """What the turns of one program gave for one case: times in ms, memory in MiB."""

    program: Program
    label: str = ""
    medians: list = dataclasses.field(default_factory=list)
    minima: list = dataclasses.field(default_factory=list)
    peaks: list = dataclasses.field(default_factory=list)
    others: list = dataclasses.field(default_factory=list)  # share of the machine that other processes had

    @property
    def median_ms(self):
        return statistics.median(self.medians)

    @property
    def peak_mib(self):
        return max(self.peaks)


def parse_report(program, text):
    """(label, median ms, minimum ms, peak MiB) from the JSON object that every program prints."""
    report, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    label = report.get("program") or program.name
    return label, float(report["median_ms"]), float(report["min_ms"]), float(report["peak_rss_mib"])


def rival_programs(args, size, structure):
    """The rivals' programs for one case."""
    common = ["--size", size, "--structure", structure, "--threads", str(args.threads), "--seconds", str(args.seconds)]
    torch = [args.python, "-B", str(HERE / "rival_torch.py"), "--wheel", args.wheel, *common]
    kokkos = [args.python, "-B", str(HERE / "rival_pet_kokkos.py"), *common]
    programs = [Program(TORCH, mode, [*torch, "--mode", mode], {}) for mode in ("eager", "compile")]
    programs.append(Program("pet_kokkos", "", kokkos, {}))
    for kernels in args.blas_kernels:
        programs.append(Program("pet_kokkos", kernels.lower(), kokkos, {"OPENBLAS_CORETYPE": kernels}))
    return programs


def case_programs(args, size, structure):
    """All programs to time for one case, trine first if it takes part."""
    programs = rival_programs(args, size, structure)
    if args.trine:
        step = [args.trine, "bench", "step", args.models.get(size, size), structure, "--baseline", "none"]
        programs.insert(0, Program(TRINE, "", [*step, "--json", "-", "--threads", str(args.threads)], {}))
    return programs


def run_program(program, threads):
    """What one run of the program reports, as `parse_report` gives it."""
    # Every program gets its threads in the way it documents; OpenMP's variable serves those that only read that.
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)} | program.environment
    done = subprocess.run(program.command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        command = " ".join(program.command)
        raise SystemExit(f"cpu_rivals: exit status {done.returncode} from: {command}\n{done.stderr[-2000:]}")
    return parse_report(program, done.stdout)


def processor_seconds():
    """Processor time in s that this machine and the children of this process have used so far."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    machine = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    return machine, children.ru_utime + children.ru_stime


def take_turn(measured, args):
    """Run one program, again if other processes disturbed it, and add what it reports."""
    for _ in range(args.attempts):
        start, machine, children = time.monotonic(), *processor_seconds()
        measured.label, median, minimum, peak = run_program(measured.program, args.threads)
        machine_now, children_now = processor_seconds()
        available = (time.monotonic() - start) * os.cpu_count()
        others = max(0.0, (machine_now - machine) - (children_now - children)) / available
        if others <= UNDISTURBED:
            break
    measured.medians.append(median)
    measured.minima.append(minimum)
    measured.peaks.append(peak)
    measured.others.append(others)


def time_case(args, size, structure):
    """All programs of one case, in turns."""
    results = [Measured(program) for program in case_programs(args, size, structure)]
    for turn in range(args.turns):
        for measured in results:
            take_turn(measured, args)
            print(
                f"{size} {pathlib.Path(structure).name} turn {turn + 1}/{args.turns}"
                f" {measured.program.name} {measured.program.mode}: {measured.medians[-1]:.2f} ms"
                f" (best {measured.minima[-1]:.2f}), {measured.peaks[-1]:.0f} MiB, others {measured.others[-1]:.0%}",
                file=sys.stderr,
            )
    return results


def rival_figures(results, case):
    """Each rival's own time (ms), best time (ms) and memory (MiB); the baseline says which program it is."""
    figures = []
    for measured in results:
        name = ".".join(part for part in ("rival", measured.program.name, case, measured.program.mode) if part)
        figures.append(receipt.figure(f"{name}.ms", measured.median_ms, "ms", measured.label))
        figures.append(receipt.figure(f"{name}.min_ms", min(measured.minima), "ms", measured.label))
        figures.append(receipt.figure(f"{name}.memory", measured.peak_mib, "MiB", measured.label))
    return figures


def trine_figures(trine, rivals, case):
    """trine against the fastest rival (ratio: how many times faster) and against PyTorch's memory (trine / PyTorch)."""
    fastest = min(rivals, key=lambda measured: measured.median_ms)
    leanest = min((m for m in rivals if m.program.name == TORCH), key=lambda measured: measured.peak_mib)
    speedup = fastest.median_ms / trine.median_ms
    time_baseline = f"{fastest.label}: {fastest.median_ms:.3f} ms"
    memory_baseline = f"{leanest.label}: {leanest.peak_mib:.1f} MiB"
    return [
        receipt.figure(f"cpu.{case}.speedup", speedup, "x", time_baseline, speedup),
        receipt.figure(f"cpu.{case}.ms", trine.median_ms, "ms", time_baseline, speedup),
        receipt.figure(f"cpu.{case}.min_ms", min(trine.minima), "ms"),
        receipt.figure(f"cpu.{case}.memory", trine.peak_mib, "MiB", memory_baseline, trine.peak_mib / leanest.peak_mib),
    ]


def case_figures(results, case):
    trine = [measured for measured in results if measured.program.name == TRINE]
    rivals = [measured for measured in results if measured.program.name != TRINE]
    figures = trine_figures(trine[0], rivals, case) if trine else []
    disturbance = max(share for measured in results for share in measured.others)
    return figures + rival_figures(rivals, case) + [receipt.figure(f"disturbance.{case}", disturbance, "share of the machine")]


def count_atoms(structure):
    """Atoms of the first frame of an extended XYZ file."""
    with open(structure) as file:
        return int(file.readline())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trine", help="the program trine; left out, only the rivals are timed")
    parser.add_argument("--model", action="append", default=[], metavar="SIZE=MODEL",
                        help="what trine loads for a size (default: the size's name)")
    parser.add_argument("--python", default=sys.executable, help="interpreter with torch, numpy and pet-kokkos")
    parser.add_argument("--wheel", required=True, help="metatrain's wheel")
    parser.add_argument("--structures", nargs="+", required=True, help="extended XYZ files; figures name their atoms")
    parser.add_argument("--sizes", nargs="+", default=["xs", "s32"], help="model sizes (default: xs s32)")
    parser.add_argument("--blas-kernels", nargs="*", default=["SkylakeX"],
                        help="OPENBLAS_CORETYPE to time pet-kokkos with as well (default: SkylakeX)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3, help="turns of each program (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=3.0, help="timing in one rival's turn (default %(default)s)")
    parser.add_argument("--attempts", type=int, default=3,
                        help="how often at most to take a turn that other processes disturbed (default %(default)s)")
    parser.add_argument("--commit", help="commit to write (default: that of this checkout)")
    parser.add_argument("--receipt", required=True, help="JSON file to write")
    args = parser.parse_args()
    args.models = dict(pair.split("=", 1) for pair in args.model)
    return args


def main():
    args = parse_arguments()
    # Children inherit the set, so that every program runs on the same cores.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])
    figures = []
    for size in args.sizes:
        for structure in args.structures:
            figures += case_figures(time_case(args, size, structure), f"{size}.{count_atoms(structure)}")
            receipt.write(args.receipt, figures, receipt.cpu_name(args.threads), commit=args.commit)  # after every case, so that a failure later loses nothing


if __name__ == "__main__":
    main()
