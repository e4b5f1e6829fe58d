"""The rivals on the same GPU, in the same run: PyTorch's PET and pet-kokkos, where a folder with them is given.

The folder holds `metatrain-*.whl` (pip download --no-deps metatrain), or `pet-bench` (see bench/rival_pet_kokkos.py), or both. The Python that runs
the gate must have numpy, and torch for the former. Nothing is fetched from anywhere."""
import json
import os
import pathlib
import re
import sys
import tempfile
import time

import gate_pet
import gate_programs
import receipt

SECONDS = 240  # for all of them; compiling takes most of it
MEASURED_SECONDS = {"torch": 2, "pet_kokkos": 0.5}  # the latter measures six ways of calling it, one after the other


def pet_kokkos(size, atoms):
    return tuple(("pet_kokkos", size, atoms, mode) for mode in ("native", "tf32"))


# Rival, size, atoms, mode. What matters most, and takes least, comes first: when the time is over, the rest is not run.
RUNS = (*pet_kokkos("s32", 17280), *pet_kokkos("s32", 192), ("torch", "s32", 17280, "compile"), ("torch", "s32", 192, "eager"),
        *pet_kokkos("l", 192), *pet_kokkos("xs", 17280), *pet_kokkos("xs", 192), ("torch", "s32", 192, "compile"))


def run_driver(name, command, env, deadline):
    """(figures, entry of the receipt) of one run of a driver under bench/."""
    seconds = deadline - time.monotonic()
    late = "the seconds for rivals were over"
    if seconds <= 0:
        return [], receipt.test(name, "not run", reason=late)
    status, output = gate_programs.run([sys.executable, "-B", *command], env, seconds)
    # The report is one line; libraries may print others.
    reports = re.findall(r'^\{"program".*\}$', output, re.MULTILINE)
    if status != 0 or not reports:
        why = late if status is None else f"exit status {status}: {gate_programs.last_line(output)}"
        return [], receipt.test(name, "not run", reason=why)
    report = json.loads(reports[-1])
    figures = [receipt.figure(f"{name}.ms", report["median_ms"], "ms", report["program"])]
    if report.get("gpu_gib"):
        figures.append(receipt.figure(f"{name}.peak_gib", report["gpu_gib"], "GiB", report["program"]))
    return figures, receipt.test(name, "passed")


def commands(folder, bench, env, models):
    """Rival -> (its driver, environment), for the rivals that are there."""
    found = {}
    for wheel in sorted(folder.glob("metatrain-*.whl"))[-1:]:  # its libraries are its own affair
        found["torch"] = [bench / "rival_torch.py", "--wheel", wheel, "--device", "cuda", "--mode"], os.environ
    if (folder / "pet-bench").is_file():
        found["pet_kokkos"] = [bench / "rival_pet_kokkos.py", "--program", folder / "pet-bench", "--models", models, "--products"], env
    return found


def run(folder, env, scratch, root, seconds=SECONDS):
    """(figures, entries) of all rivals in `folder`, one after the other."""
    folder, scratch = pathlib.Path(folder).resolve(), pathlib.Path(scratch) / "pet"
    scratch.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + seconds
    figures, entries = [], []
    with tempfile.TemporaryDirectory(prefix="rivals-") as models:
        there = commands(folder, root / "bench", env, models)
        for rival, size, atoms, mode in (r for r in RUNS if r[0] in there):
            command, environment = there[rival]
            box = gate_pet.make_box(scratch, root, atoms)
            words = [*command, mode, "--size", size, "--structure", box, "--seconds", MEASURED_SECONDS[rival]]
            found, entry = run_driver(f"rival.{rival}.{size}.{atoms}.{mode}", words, environment, deadline)
            figures += found
            entries.append(entry)
    return figures, entries or [receipt.test("rival", "not run", reason=f"neither metatrain-*.whl nor pet-bench is in {folder.name}")]
