"""Runs and relaxations on a GPU with the model that comes with trine: `trine md` and `trine relax`, their figures and gates.

`md.*`: 192 atoms of water at constant energy. The drift is the slope of a line through the conserved energy, the fluctuation what is left about
it. `relax.cantor539.*`: the slab of an alloy, its atoms displaced at random by three seeds. `relax.batch.speedup`: structures per second of 256
alloys of 40 atoms relaxed side by side, over those of the first of them one at a time."""
import json
import pathlib
import random
import time

import gate_figures
import gate_programs
import receipt

SECONDS = 300  # for everything here together
MODEL = "models/trine-mini.ckpt"
WATER = "examples/water192.xyz"
SLAB = "tests/data/relaxation/cantor539.xyz"
SEEDS = (1, 2, 3)
RATTLE = 0.05  # Angstrom, of each coordinate
ALLOYS = 256
ALONE = 24  # of them, one at a time
ELEMENTS = ("Co", "Cr", "Fe", "Mn", "Ni")
EDGE = 3.6  # Angstrom, of a cubic cell of the alloy
SHORT_STEPS = 4000  # of runs that only take their time
MD = ["--ensemble", "nve", "--temperature", "300", "--timestep", "0.5"]

# Figure, limit, whether it is the least that it may be.
GATES = [
    ("md.trine_mini.192.fp32.step_over_evaluation", 1.10, False),
    ("md.trine_mini.192.fp16x3.step_over_evaluation", 1.10, False),
    ("md.trine_mini.192.fp16x3.writing_over_none", 1.03, False),
    *[(f"relax.cantor539.fp32.seed{seed}.steps", 500, False) for seed in SEEDS],
    ("relax.batch.speedup", 20, True),
]


def rattled(text, seeds):
    """The frame of an extended XYZ file once per seed, with its atoms displaced."""
    count, comment, *rows = text.splitlines()
    frames = []
    for seed in seeds:
        draw = random.Random(seed)
        frames += [count, comment]
        for symbol, *position in (row.split()[:4] for row in rows[:int(count)]):
            frames.append(" ".join([symbol] + [f"{float(x) + draw.gauss(0, RATTLE):.8f}" for x in position]))
    return "\n".join(frames) + "\n"


def alloys(count):
    """Frames of 2 x 5 x 1 cubic cells, elements and displacements at random."""
    corners = [(i + x, j + y, z) for i in range(2) for j in range(5) for x, y, z in ((0, 0, 0), (0, .5, .5), (.5, 0, .5), (.5, .5, 0))]
    frames = []
    for seed in range(count):
        draw = random.Random(seed)
        frames += [str(len(corners)), f'Lattice="{2 * EDGE} 0 0 0 {5 * EDGE} 0 0 0 {EDGE}" Properties=species:S:1:pos:R:3 pbc="T T T"']
        for corner in corners:
            position = " ".join(f"{EDGE * x + draw.gauss(0, RATTLE):.8f}" for x in corner)
            frames.append(f"{draw.choice(ELEMENTS)} {position}")
    return "\n".join(frames) + "\n"


class Runner:
    """Runs the program, one call after the other, as long as there is time."""

    def __init__(self, program, device, env, folder, root, seconds):
        self.program, self.device, self.env, self.folder, self.root = program, device, env, folder, root
        self.deadline = time.monotonic() + seconds
        self.entries = []

    def run(self, name, words, good=(0,)):
        """The JSON report of a call, or None."""
        seconds = self.deadline - time.monotonic()
        path = self.folder / f"{name}.json"
        path.unlink(missing_ok=True)
        command = [self.program, *words, "--device", self.device, "--quiet", "--json", path]
        status, output = gate_programs.run(command, self.env, seconds) if seconds > 0 else (None, "")
        (self.folder / f"{name}.txt").write_text(output)
        if status in good and path.exists():
            self.entries.append(receipt.test(name, "passed"))
            return json.loads(path.read_text())
        why = "the seconds for runs were over" if status is None else f"exit status {status}: {gate_programs.last_line(output)}"
        self.entries.append(receipt.test(name, "not run" if status in (None, 7) else "failed", reason=why))
        return None

    def model(self):
        return self.root / MODEL

    def dynamics(self, name, method, steps, *more):
        return self.run(name, ["md", self.model(), self.root / WATER, *MD, "--precision", method, "--steps", steps, *more])

    def relaxation(self, name, path, method, *more, good=(0,)):
        return self.run(name, ["relax", self.model(), path, "--precision", method, "-o", self.folder / f"{name}.xyz", *more], good)


def step_figures(runner):
    for method in ("fp16x3", "fp32"):
        name = f"md.trine_mini.192.{method}"
        words = ["bench", "step", runner.model(), runner.root / WATER, "--precision", method, "--baseline", "none", "--repeats", 100]
        report = runner.run(f"{name}.step", [*words, "--md-steps", 2000])
        if report:
            run = report["dynamics"]
            yield receipt.figure(f"{name}.step_ms", run["step_ms"], "ms", f"{run['searches']} of {run['steps']} steps searched for pairs")
            yield receipt.figure(f"{name}.step_over_evaluation", run["over_without_list"], "x", f"{run['without_list_ms']:.4g} ms, without list, same run",
                                 run["over_without_list"])


def writing_figures(runner):
    """Every tenth frame to a file of H5MD, beside no file; the faster of two runs of each."""
    name = "md.trine_mini.192.fp16x3"
    none, writing = [], []
    for turn in (1, 2):
        none.append(runner.dynamics(f"{name}.no_file.{turn}", "fp16x3", SHORT_STEPS))
        frames = runner.folder / f"{name}.h5"
        frames.unlink(missing_ok=True)
        writing.append(runner.dynamics(f"{name}.file.{turn}", "fp16x3", SHORT_STEPS, "--trajectory", frames, "--every", 10))
    if all(none) and all(writing):
        best = [max(report["ns_per_day"] for report in reports) for reports in (none, writing)]
        yield receipt.figure(f"{name}.ns_per_day", best[0], "ns/day")
        yield receipt.figure(f"{name}.writing_over_none", best[0] / best[1], "x", f"{best[0]:.4g} ns/day, same run", best[0] / best[1])


def drift_figures(runner, picoseconds):
    for method, length in picoseconds.items():
        name = f"md.trine_mini.192.{method}.nve"
        log = runner.folder / f"{name}.csv"
        log.unlink(missing_ok=True)
        report = runner.dynamics(name, method, round(length * 2000), "--log", log, "--log-every", 100)
        if report:
            drift = report["systems"][0]["statistics"]["drift"]
            yield receipt.figure(f"{name}.drift", drift["slope_mev_per_atom_ps"], "meV/atom/ps", f"{length:g} ps")
            yield receipt.figure(f"{name}.fluctuation", drift["fluctuation_mev_per_atom"], "meV/atom", f"{length:g} ps")


def slab_figures(runner):
    path = runner.folder / "cantor539.xyz"
    path.write_text(rattled((runner.root / SLAB).read_text(), SEEDS))
    for method in ("fp32", "fp16x3"):
        report = runner.relaxation(f"relax.cantor539.{method}", path, method, "--fmax", "1e-3", "--max-steps", 1000, good=(0, 4))
        for seed, frame in zip(SEEDS, report["frames"] if report else ()):
            name = f"relax.cantor539.{method}.seed{seed}"
            steps = frame["steps"] if frame["status"] == "converged" else None
            yield receipt.figure(f"{name}.steps", steps, "steps", f"{frame['status']}, fmax {frame['fmax_ev_per_a']:.2g} eV/A, {frame['energy_ev']:.6f} eV")


def batch_figures(runner):
    many, few = runner.folder / "alloys.xyz", runner.folder / "alloys_alone.xyz"
    many.write_text(alloys(ALLOYS))
    few.write_text(alloys(ALONE))
    options = ("--fmax", "0.01", "--max-steps", 300)
    together = runner.relaxation("relax.batch.together", many, "fp16x3", *options, good=(0, 4))
    alone = runner.relaxation("relax.batch.alone", few, "fp16x3", *options, "--batch", 1, good=(0, 4))
    if together and alone:
        rates = [count / report["seconds"] for count, report in ((ALLOYS, together), (ALONE, alone))]
        yield receipt.figure("relax.batch.structures_per_second", rates[0], "1/s")
        yield receipt.figure("relax.batch.speedup", rates[0] / rates[1], "x", f"{rates[1]:.4g} structures/s one at a time, same run", rates[0] / rates[1])


def run(binaries, device, env, folder, root, picoseconds, seconds=SECONDS):
    """(figures, entries of the receipt). `picoseconds`: of runs at constant energy, by method."""
    program = pathlib.Path(binaries) / "trine"
    if not program.is_file():
        return [], [receipt.test("md", "not run", reason="there is no trine among the binaries")]
    folder = pathlib.Path(folder) / "sim"
    folder.mkdir(parents=True, exist_ok=True)
    runner = Runner(program, device, env, folder, root, seconds)
    parts = (step_figures(runner), slab_figures(runner), batch_figures(runner), writing_figures(runner), drift_figures(runner, picoseconds))
    figures = [figure for part in parts for figure in part]
    return figures, runner.entries


def gates_of(figures, device):
    """The gates as tests, of an H200 alone."""
    values = {f["name"]: f["value"] for f in figures}
    found = []
    for name, limit, at_least in GATES:
        entry = gate_figures.gate(values, name, limit, at_least)
        found.append(gate_figures.of_h200(entry, device))
    return found
