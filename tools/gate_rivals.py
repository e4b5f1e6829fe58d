"""The rivals on the same GPU, in the same run: PyTorch's PET and pet-kokkos, where a folder with them is given.

The folder holds `metatrain-*.whl` (pip download --no-deps metatrain), or `pet-bench` (see bench/rival_pet_kokkos.py), or both. The Python that runs
the gate must have numpy, and torch for the former."""
import json
import os
import pathlib
import re
import sys

import gate_pet
import gate_programs
import receipt

SECONDS = 200  # of one run; compiling takes most of it
# Size, atoms, mode.
TORCH = (("s32", 17280, "compile"), ("s32", 192, "compile"))
PET_KOKKOS = tuple((size, atoms, mode) for size, atoms in (("s32", 17280), ("s32", 192), ("l", 192), ("xs", 17280), ("xs", 192)) for mode in ("native", "tf32"))


def run_driver(name, command, env):
    """(figures, entry of the receipt) of one run of a driver under bench/."""
    status, output = gate_programs.run([sys.executable, "-B", *command], env, SECONDS)
    # The report is one line; libraries may print others.
    reports = re.findall(r'^\{"program".*\}$', output, re.MULTILINE)
    if status != 0 or not reports:
        why = f"it took more than {SECONDS} s" if status is None else f"exit status {status}: {gate_programs.last_line(output)}"
        return [], receipt.test(name, "not run", reason=why)
    report = json.loads(reports[-1])
    figures = [receipt.figure(f"{name}.ms", report["median_ms"], "ms", report["program"])]
    if report.get("gpu_gib"):
        figures.append(receipt.figure(f"{name}.peak_gib", report["gpu_gib"], "GiB", report["program"]))
    return figures, receipt.test(name, "passed")


def drivers(folder, bench, env):
    """(name, command, size, atoms, environment) of every run, for the rivals that are there."""
    for wheel in sorted(folder.glob("metatrain-*.whl"))[-1:]:
        for size, atoms, mode in TORCH:  # its libraries are its own affair
            command = [bench / "rival_torch.py", "--wheel", wheel, "--device", "cuda", "--mode", mode]
            yield f"rival.torch.{size}.{atoms}.{mode}", command, size, atoms, os.environ
    program = folder / "pet-bench"
    for size, atoms, mode in PET_KOKKOS if program.is_file() else ():
        yield f"rival.pet_kokkos.{size}.{atoms}.{mode}", [bench / "rival_pet_kokkos.py", "--program", program, "--products", mode], size, atoms, env


def run(folder, env, scratch, root):
    """(figures, entries) of all rivals in `folder`, one after the other."""
    folder, scratch = pathlib.Path(folder).resolve(), pathlib.Path(scratch) / "pet"
    scratch.mkdir(parents=True, exist_ok=True)
    figures, entries = [], []
    for name, command, size, atoms, environment in drivers(folder, root / "bench", env):
        box = gate_pet.make_box(scratch, root, atoms)
        found, entry = run_driver(name, [*command, "--size", size, "--structure", box, "--seconds", "2"], environment)
        figures += found
        entries.append(entry)
    return figures, entries or [receipt.test("rival", "not run", reason=f"neither metatrain-*.whl nor pet-bench is in {folder.name}")]
