"""Whole evaluations of PET on a GPU: `trine bench step` for every case of the acceptance list, its figures and its gates.

A step is energy and forces of a box of water whose atoms stay where they are. Figures named `.ms` are of all of it, from positions on the
host to forces on the host, with the neighbour list that the device keeps. `.without_list_ms` is the same less checks, positions on their way and
list, and is what the gates judge, because the rivals' figures hold neither list nor copies; forces on their way back are still in it.
`.md_step_over_evaluation` sets a whole step of molecular dynamics, lists searched anew included, against an evaluation without its list."""
import dataclasses
import itertools
import json
import os
import pathlib
import sys
import time

import gate_figures
import gate_programs
import receipt

SECONDS = 150  # for everything here together
CASE_SECONDS = 60
ERRORS_AT_ONCE = 6
MODELS = {"xs": "synthetic:xs", "s32": "synthetic:s32", "l": "synthetic:l", "trine_mini": "models/trine-mini.ckpt"}
# Atoms -> how often the box of 192 is repeated, or molecules along each edge of a box of its own.
BOXES = {192: (1, 1, 1), 648: 6, 1536: (2, 2, 2), 5184: (3, 3, 3), 17280: (3, 5, 6), 51840: (5, 6, 9), 138240: (8, 9, 10),
         255552: (11, 11, 11)}
MAY_NOT_FIT = 100_000  # atoms, from which on a device may lack the memory
SCALING = range(192, 138241)  # boxes whose time per atom is compared
LEAST = 7  # GiB that do for the case with least memory
ACCURATE = gate_figures.ACCURATE
ONE_PASS = ("tf32", "bf16", "fp16")  # reported beside them


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of `trine bench step`: its time and memory, or its error against float64 on the same device."""

    model: str
    atoms: int
    method: str
    error: bool = False
    profile: bool = False  # a table of operations for people
    memory: int = 0  # GiB that intermediates may take; 0: as much as there is
    dynamics: int = 0  # steps of molecular dynamics that are timed as well

    @property
    def name(self):
        return f"pet.{self.model}.{self.atoms}.{self.method}"

    @property
    def label(self):
        return self.name + (".error" if self.error else "") + (f".lean{self.memory}" if self.memory else "")

    @property
    def repeats(self):
        return 1 if self.error else max(3, min(100, 150_000 // self.atoms))


def times(model, atoms, *methods, profile=False, dynamics=0):
    return [Case(model, atoms, method, profile=profile, dynamics=dynamics) for method in methods]


def errors(model, *methods):
    return [Case(model, 192, method, error=True) for method in ("fp32",) + methods]


# What matters most comes first: when the time is over, the rest is not run.
TIMED = (times("s32", 17280, "fp16x3", profile=True, dynamics=40) + times("s32", 192, "fp16x3", profile=True, dynamics=400) + times("l", 192, "fp16x3")
         + times("xs", 17280, "fp16x3") + times("xs", 192, "fp16x3") + times("s32", 17280, "fp32", "tf32x3", "bf16x6", "bf16x9"))
LEAN = [Case("s32", 17280, "fp16x3", memory=14), Case("s32", 17280, "fp16x3", memory=LEAST)]
ERRORS = errors("s32", *ACCURATE, *ONE_PASS) + errors("trine_mini", *ACCURATE) + errors("l", *ACCURATE)
SIZES = [case for atoms in (648, 1536, 5184, 51840, 138240, 255552) for case in times("s32", atoms, "fp16x3")]
STAGES = (TIMED, ERRORS, LEAN + times("s32", 192, "fp32", "tf32x3", "bf16x6", "bf16x9") + SIZES)
QUICK = (times("s32", 192, "fp16x3", "fp32"), errors("trine_mini", "fp16x3"), [])

# Figure and most that it may be, of an H200; or least, where said.
SPEED_GATES = [
    ("pet.s32.17280.fp16x3.without_list_ms", 100),
    ("pet.s32.17280.fp32.without_list_ms", 320),
    ("pet.s32.17280.tf32x3.without_list_ms", 180),
    ("pet.s32.17280.bf16x9.without_list_ms", 225),
    ("pet.s32.192.fp16x3.without_list_ms", 2.4),
    ("pet.l.192.fp16x3.without_list_ms", 9.5),
    ("pet.xs.17280.fp16x3.without_list_ms", 15),
    ("pet.xs.192.fp16x3.without_list_ms", 1.0),
    ("pet.s32.17280.fp16x3.md_step_over_evaluation", 1.05),
    ("pet.s32.192.fp16x3.md_step_over_evaluation", 1.05),
    ("pet.s32.17280.fp16x3.peak_gib", 15),
    ("pet.s32.17280.fp16x3.peak_error", 0.02),
    ("pet.s32.fp16x3.scaling", 1.05),
    ("pet.s32.max_atoms", 250_000),
]
AT_LEAST = ("pet.s32.max_atoms",)
# Of any device.
ERROR_GATES = [(f"pet.{model}.192.{method}.force_error_over_fp32", 1.25 if method == "tf32x3" else 1.1)
               for model in ("s32", "l", "trine_mini") for method in ACCURATE]


def repeated(text, shape):
    """A box of water in extended XYZ, repeated along its cell vectors; without numpy, which a machine need not have."""
    count, comment, *rows = text.splitlines()
    numbers = [float(word) for word in comment.split('Lattice="')[1].split('"')[0].split()]
    cell = [numbers[3 * k:3 * k + 3] for k in range(3)]
    lines = []
    for steps in itertools.product(*map(range, shape)):
        shift = [sum(n * vector[k] for n, vector in zip(steps, cell)) for k in range(3)]
        for symbol, *position in (row.split()[:4] for row in rows[:int(count)]):
            lines.append(" ".join([symbol] + [f"{float(x) + d:.8f}" for x, d in zip(position, shift)]))
    lattice = " ".join(repr(n * x) for n, vector in zip(shape, cell) for x in vector)
    return "\n".join([str(len(lines)), f'Lattice="{lattice}" Properties=species:S:1:pos:R:3 pbc="T T T"'] + lines) + "\n"


def make_box(folder, root, atoms):
    """The extended XYZ file of that many atoms, or None: a box that is not a repeated one needs numpy."""
    path, shape = pathlib.Path(folder) / f"water{atoms}.xyz", BOXES[atoms]
    if isinstance(shape, tuple):
        path.write_text(repeated((root / "examples" / "water192.xyz").read_text(), shape))
        return path
    status, _ = gate_programs.run([sys.executable, root / "bench" / "make_water.py", "--side", shape, "-o", path], os.environ, 60)
    return path if status == 0 else None


class Runner:
    """Runs cases on one device; what they print and report goes to a folder."""

    def __init__(self, program, device, env, folder, root, seconds):
        self.program, self.device, self.env, self.folder, self.root = program, device, env, pathlib.Path(folder), root
        self.deadline = time.monotonic() + seconds
        self.boxes = {}

    def command(self, case, report):
        model = MODELS[case.model]
        model = model if ":" in model else self.root / model
        words = [self.program, "bench", "step", model, self.boxes[case.atoms], "--device", self.device, "--precision", case.method,
                 "--repeats", case.repeats, "--baseline", "fp64" if case.error else "none", "--json", report]
        words += ["--memory", case.memory] if case.memory else []
        words += ["--md-steps", case.dynamics] if case.dynamics else []
        return words + ["--profile"] if case.profile else words

    def run(self, case):
        """(report or None, entry of the receipt)."""
        seconds = min(CASE_SECONDS, self.deadline - time.monotonic())
        late = None, receipt.test(case.label, "not run", reason="the seconds for steps were over")
        if seconds <= 0:
            return late
        if self.boxes[case.atoms] is None:
            return None, receipt.test(case.label, "not run", reason="to make this box of water needs numpy")
        report = self.folder / f"{case.label}.json"
        report.unlink(missing_ok=True)
        status, output = gate_programs.run(self.command(case, report), self.env, seconds)
        (self.folder / f"{case.label}.txt").write_text(output)
        if status is None and seconds < CASE_SECONDS:
            return late
        if status == 0 and report.exists():
            return json.loads(report.read_text()), receipt.test(case.label, "passed")
        why = f"it took more than {seconds:.0f} s" if status is None else f"exit status {status}: {gate_programs.last_line(output)}"
        # 7: not supported here, which is what a machine without a GPU answers. 5: not enough memory.
        unable = status == 7 or (status == 5 and case.atoms >= MAY_NOT_FIT)
        return None, receipt.test(case.label, "not run" if unable else "failed", reason=why)

    def run_all(self, stages):
        """({case: report}, entries of the receipt)."""
        cases = [case for stage in stages for case in stage]
        self.boxes = {atoms: make_box(self.folder, self.root, atoms) for atoms in {case.atoms for case in cases}}
        done = {}
        for stage in stages:
            timed, untimed = [c for c in stage if not c.error], [c for c in stage if c.error]
            done.update({case: self.run(case) for case in timed})
            done.update(zip(untimed, gate_programs.in_parallel(ERRORS_AT_ONCE, self.run, [(c,) for c in untimed])))
        return {c: done[c][0] for c in cases if done[c][0]}, [done[c][1] for c in cases]


def run(binaries, device, env, folder, root, stages, seconds=SECONDS):
    """({case: report}, entries of the receipt) of all cases, one after the other where time counts."""
    program = pathlib.Path(binaries) / "trine"
    if not program.is_file():
        return {}, [receipt.test("pet", "not run", reason="there is no trine among the binaries")]
    folder = pathlib.Path(folder) / "pet"
    folder.mkdir(parents=True, exist_ok=True)
    return Runner(program, device, env, folder, root, seconds).run_all(stages)


def floor_figure(case, report, device):
    """How much of a step its matrix products would take at the chip's full rate; needs a profile."""
    peak = gate_figures.peak_of(device)
    if not peak or "profile" not in report:
        return
    tflop = sum(o["tflops"] * o["ms"] * 1e-3 for o in report["profile"]["operations"] if "tflops" in o)
    best = peak[gate_figures.word_of(case.method)] / gate_figures.words_products(case.method)
    floor = tflop / best * 1e3
    baseline = f"{floor:.4g} ms: {tflop:.4g} TFLOP at {best:.4g} TFLOP/s"
    yield receipt.figure(f"{case.name}.floor_fraction", floor / report["median_ms"], "1", baseline, floor / report["median_ms"])


def time_figures(case, report, device):
    ms, atoms = report["median_ms"], report["atoms"]
    if case.memory:
        time, memory = ("least_ms", "least_gib") if case.memory == LEAST else ("lean_ms", "peak_gib")
        yield receipt.figure(f"{case.name}.{time}", ms, "ms")
        yield receipt.figure(f"{case.name}.{memory}", report["gpu_mib"] / 1024, "GiB")
        return
    yield receipt.figure(f"{case.name}.ms", ms, "ms")
    yield receipt.figure(f"{case.name}.without_list_ms", report["without_list_ms"], "ms")
    yield receipt.figure(f"{case.name}.ns_per_atom", ms * 1e6 / atoms, "ns")
    if report["gpu_mib"] > 0:
        yield receipt.figure(f"{case.name}.kept_gib", report["gpu_mib"] / 1024, "GiB")
        error = abs(report["predicted_peak_mib"] / report["gpu_mib"] - 1)
        yield receipt.figure(f"{case.name}.peak_error", error, "1", f"{report['predicted_peak_mib'] / 1024:.4g} GiB predicted")
    yield from floor_figure(case, report, device)
    if "dynamics" in report:
        yield from dynamics_figures(case, report["dynamics"])


def dynamics_figures(case, run):
    yield receipt.figure(f"{case.name}.md_step_ms", run["step_ms"], "ms", f"mean of {run['steps']} steps, {run['searches']} of which searched for pairs")
    for name, ratio, ms in (("evaluation", "over_without_list", "without_list_ms"), ("evaluation_with_list", "over_evaluation", "evaluation_ms")):
        yield receipt.figure(f"{case.name}.md_step_over_{name}", run[ratio], "x", f"{run[ms]:.4g} ms, same run", run[ratio])
    if run["drift_mev_per_atom"] is not None:  # JSON's word for what is no number
        yield receipt.figure(f"{case.name}.md_drift", run["drift_mev_per_atom"], "meV/atom", f"{run['steps'] * run['time_step_fs']:g} fs")


def error_figures(reports):
    """Relative rms force errors, and how they compare with the device's own fp32."""
    found = {(c.model, c.method): r["baseline"]["force_error"] for c, r in reports.items() if c.error}
    for case in (c for c in reports if c.error):
        error, base = found[case.model, case.method], found.get((case.model, "fp32"))
        if error is None:  # JSON's word for what is no number
            continue
        yield receipt.figure(f"{case.name}.force_error", error, "1", "float64, same device")
        if base and case.method != "fp32":
            yield receipt.figure(f"{case.name}.force_error_over_fp32", error / base, "x", f"fp32, same device: {base:.3g}", error / base)


def size_figures(reports):
    """The largest box that fitted; and the most that the time per atom grows from one size of the box to the next."""
    sized = sorted((c.atoms, r["median_ms"] / r["atoms"]) for c, r in reports.items()
                   if (c.model, c.method, c.error, c.memory) == ("s32", "fp16x3", False, 0))
    if sized and sized[-1][0] >= MAY_NOT_FIT:
        yield receipt.figure("pet.s32.max_atoms", sized[-1][0], "atoms", "the largest box that was tried" if sized[-1][0] == max(BOXES) else None)
    sized = [pair for pair in sized if pair[0] in SCALING]
    if {atoms for atoms, _ in sized} >= {atoms for atoms in BOXES if atoms < MAY_NOT_FIT}:
        yield receipt.figure("pet.s32.fp16x3.scaling", max(b / a for (_, a), (_, b) in zip(sized, sized[1:])), "x", "the next smaller box")


def figures_of(reports, device):
    found = [figure for case, report in reports.items() if not case.error for figure in time_figures(case, report, device)]
    return found + list(error_figures(reports)) + list(size_figures(reports))


def gates_of(reports, device):
    """The gates as tests; those of speed only on an H200."""
    values = {f["name"]: f["value"] for f in figures_of(reports, device)}
    # A run whose error is no number was measured, and failed.
    values.update({f"{c.name}.force_error_over_fp32": None for c, r in reports.items() if c.error and r["baseline"]["force_error"] is None})
    found = [gate_figures.gate(values, name, limit, False) for name, limit in ERROR_GATES]
    for name, limit in SPEED_GATES:
        entry = gate_figures.gate(values, name, limit, name in AT_LEAST)
        found.append(gate_figures.of_h200(entry, device))
    return found
