"""Precision certificates on a GPU: `trine validate`, what they say as figures, and what split methods have to keep to.

`certificate.trine_mini.STRUCTURE.METHOD.*`: ratios to fp32 of errors of forces, of the residual along a path and of the steps of relaxations; the
drift's distance from fp32's in combined standard errors; the speed. `certificate.quick.seconds`: what `--precision auto` waits for.
`md.recheck.share`: of a run's time, what comparing its forces with fp32's takes."""
import json
import os
import pathlib
import shutil

import gate_figures
import gate_sim
import receipt

SECONDS = 600  # for everything here together
MODEL = "models/trine-mini.ckpt"
WATER = "examples/water192.xyz"
POINTS = "single-point,invariance,smoothness,layers"
ALL = f"{POINTS},nve,relax"
PULL = ["--pull", "65,66"]  # CO from its Pt atom, 1.2 to 6.0 Angstrom
FOLDER = "tests/data/certificate"
# Name, model, structure, experiments, other options; {ps}: of the long runs at constant energy.
CERTIFICATES = [
    ("trine_mini.co_pt111_66", MODEL, f"{FOLDER}/co_pt111_66.xyz", ALL, [*PULL, "--picoseconds", "2"]),
    ("trine_mini.cantor539", MODEL, "tests/data/relaxation/cantor539.xyz", ALL, ["--picoseconds", "2"]),
    ("trine_mini.cantor500_bulk", MODEL, f"{FOLDER}/cantor500_bulk.xyz", ALL, ["--picoseconds", "2"]),
    ("s32.water192", "synthetic:s32", WATER, POINTS, []),
    ("l.water192", "synthetic:l", WATER, POINTS, []),
    ("trine_mini.water192", MODEL, WATER, ALL, ["--picoseconds", "{ps}"]),
]
SPLIT = {"fp16x3": 1.1, "tf32x3": 1.25, "bf16x6": 1.1, "bf16x9": 1.1}  # and what its force error may be of fp32's
STRUCTURES = ("co_pt111_66", "cantor539", "cantor500_bulk", "water192")
RECHECK_STEPS = 8000

# Figure, limit.
GATES = [
    *[(f"certificate.trine_mini.{s}.{m}.force_ratio", limit) for s in STRUCTURES for m, limit in SPLIT.items()],
    *[(f"certificate.trine_mini.co_pt111_66.{m}.residual_ratio", 1.2) for m in SPLIT],
    *[(f"certificate.trine_mini.water192.{m}.drift_sigmas", 3) for m in SPLIT],
    *[(f"certificate.trine_mini.cantor539.{m}.steps_ratio", 1.05) for m in SPLIT],
    ("certificate.quick.seconds", 2),
    ("md.recheck.share", 0.01),
]


def rows(report, experiment, key):
    """{arithmetic: row} of an experiment's table."""
    part = report.get(experiment)
    return {row["arithmetic"]: row for row in part[key]} if part else {}


def sigmas(run, fp32):
    """How far two slopes are apart, in combined standard errors."""
    slopes = [row["slope_mev_per_atom_ps"] for row in (run, fp32)]
    if None in slopes:
        return None
    errors = [row["slope_error_mev_per_atom_ps"] for row in (run, fp32)]
    return abs(slopes[0] - slopes[1]) / (errors[0] ** 2 + errors[1] ** 2) ** 0.5


def mean_steps(run):
    replicas = run["replicas"]
    return sum(r["steps"] for r in replicas) / len(replicas) if replicas and all(r["converged"] for r in replicas) else None


def figures_of(name, report):
    """One certificate's figures."""
    def figure(method, what, value, unit, beside=None):
        return receipt.figure(f"certificate.{name}.{method}.{what}", value, unit, beside)

    for method, row in rows(report, "single_point", "errors").items():
        yield figure(method, "force_error", row["force_rms_ev_per_a"], "eV/A", "float64, same device")
        yield figure(method, "force_ratio", row["force_ratio"], "x", "fp32, same run")
        yield figure(method, "energy_error", row["energy_ev_per_atom"], "eV/atom", "float64, same device")
        yield figure(method, "speedup", row["speedup"], "x", "fp32, same run")
    for method, row in rows(report, "smoothness", "curves").items():
        if method != "fp64":
            yield figure(method, "residual_ratio", row["residual_ratio"], "x", "fp32, same run")
            yield figure(method, "jitter", row["jitter_mev"], "meV", "float64, same device")
    runs = rows(report, "nve", "runs")
    for method, row in runs.items():
        error = row["slope_error_mev_per_atom_ps"]
        yield figure(method, "drift", row["slope_mev_per_atom_ps"], "meV/atom/ps", f"standard error {error:.2g}" if error else None)
        if method != "fp32":
            yield figure(method, "drift_sigmas", sigmas(row, runs["fp32"]), "1", "fp32, same run")
    runs = rows(report, "relax", "runs")
    own = mean_steps(runs["fp32"]) if runs else None
    for method, row in runs.items():
        steps = mean_steps(row)
        yield figure(method, "steps", steps, "steps", "stalled" if row["stalled"] else "mean of the replicas")
        if method != "fp32":
            yield figure(method, "steps_ratio", steps / own if steps and own else None, "x", "fp32, same run")


def named(runner, path):
    """As the report shall name it: from where the gate was started."""
    return os.path.relpath(runner.root / path)


def earlier_report(runner, name, folder):
    """The report that a run before left in `folder`: the long ones do not fit into one call on every machine."""
    path = folder and pathlib.Path(folder) / f"certificate.{name}.json"
    if not path or not path.exists():
        return None
    report = json.loads(path.read_text())
    runner.entries.append(receipt.test(f"certificate.{name}", "passed", reason=f"made on {report['date']} on {report['device']}"))
    return report


def certificates(runner, picoseconds, names, earlier):
    for name, model, structure, experiments, options in CERTIFICATES:
        if report := earlier_report(runner, name, earlier):
            yield from figures_of(name, report)
            continue
        if names and name not in names:
            continue
        model = model if model.startswith("synthetic:") else named(runner, model)
        folder = runner.folder / name
        words = ["validate", model, named(runner, structure), "--methods", "all", "--tests", experiments, "--report", os.path.relpath(folder)]
        words += [option.format(ps=picoseconds) for option in options]
        report = runner.run(f"certificate.{name}", words, good=(0, 6))
        if report:
            yield from figures_of(name, report)


def automatic(runner):
    words = ["validate", runner.root / MODEL, runner.root / WATER, "--tests", "quick"]
    report = runner.run("certificate.quick", words, good=(0, 6))
    if report:
        yield receipt.figure("certificate.quick.seconds", report["seconds"], "s", "192 atoms, models made, file read")
    words = ["md", runner.root / MODEL, runner.root / WATER, "--steps", RECHECK_STEPS, "--precision", "fp16x3", "--recheck-every", 2000]
    report = runner.run("md.recheck", words)
    if report:
        checks = report["rechecks"]
        share = checks["seconds_of_call"] / report["seconds"]
        yield receipt.figure("md.recheck.share", share, "1", f"{checks['checks']} in {RECHECK_STEPS} steps of 192 atoms, {report['seconds']:.3g} s")


def run(binaries, device, env, folder, root, picoseconds, names=(), earlier=None, seconds=SECONDS):
    """(figures, entries of the receipt). `names`: of the certificates, all if there are none. Reports stay in `folder`/certificate; those in
    `earlier` are taken as they are. A figure whose value is None was not reached: it is for the gates alone."""
    program = pathlib.Path(binaries) / "trine"
    if not program.is_file():
        return [], [receipt.test("certificate", "not run", reason="there is no trine among the binaries")]
    folder = pathlib.Path(folder) / "certificate"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    runner = gate_sim.Runner(program, device, env, folder, root, seconds)
    figures = [figure for part in (automatic(runner), certificates(runner, picoseconds, names, earlier)) for figure in part]
    return figures, runner.entries


def gates_of(figures, device, names=()):
    """The gates of what was to be measured, as tests, of an H200 alone."""
    values = {f["name"]: f["value"] for f in figures}
    found = []
    for name, limit in GATES:
        parts = name.split(".")
        if name not in values and names and len(parts) > 4 and ".".join(parts[1:3]) not in names:
            continue
        entry = gate_figures.gate(values, name, limit, False)
        found.append(gate_figures.of_h200(entry, device))
    return found
