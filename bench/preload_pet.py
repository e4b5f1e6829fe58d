#!/usr/bin/env python3
"""An unmodified PyTorch program with libtrine_blas.so before cuBLAS, and without: metatrain's PET, eager, in FP32.

    preload_pet.py --blas build/cuda/src/blas/libtrine_blas.so --wheel metatrain-2026.4.1-py3-none-any.whl \\
        --large water17280.xyz --small examples/water192.xyz --json out.json

Every evaluation runs in a process of its own that knows nothing of trine. Times are those of the large structure; errors of
forces those of the small one, against the same model in float64 (without the library).
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import rival_common

LOG_LINES = 14  # of the summary, printed


def evaluate(wheel, size, structure, dtype, seconds, out):
    """The program that is accelerated: energy and forces, into a file."""
    import rival_torch
    import torch

    size = rival_common.SIZES[size]
    model = rival_torch.make_model(rival_torch.load_backend(wheel), size).to("cuda", getattr(torch, dtype))
    step, _ = rival_torch.make_step(model, size, rival_common.read_structure(structure), False, "cuda", getattr(torch, dtype))
    energy, forces = step()
    times = rival_common.time_calls(step, seconds)
    np.savez(out, energy=energy.detach().double().cpu(), forces=forces.double().cpu(), milliseconds=1e3 * np.median(times))


def run_program(options, structure, dtype, seconds, log=None):
    """What the program found, with the library before cuBLAS if there is a log."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.npz")
        environment = dict(os.environ)
        if log:
            environment.update(LD_PRELOAD=options.blas, TRINE_GEMM=options.method)
            if options.log:
                environment.update(TRINE_GEMM_LOG=str(log))
        subprocess.run([sys.executable, __file__, "--child", options.wheel, options.size, structure, dtype, str(seconds), str(out)],
                       env=environment, check=True)
        return dict(np.load(out))


def error(found, exact):
    return float(np.sqrt(np.mean((found["forces"] - exact["forces"]) ** 2)))


def measure(options, folder):
    exact = run_program(options, options.small, "float64", 0)
    plain = run_program(options, options.small, "float32", options.seconds)
    options.log = True
    split = run_program(options, options.small, "float32", 0, folder / "small.log")
    logged = run_program(options, options.large, "float32", 0, folder / "large.log")
    options.log = False
    quick = run_program(options, options.small, "float32", options.seconds, folder)
    large_plain = run_program(options, options.large, "float32", options.seconds)
    large = run_program(options, options.large, "float32", options.seconds, folder)
    assert np.array_equal(large["forces"], logged["forces"]) or error(large, logged) < 1e-3
    return {
        "method": options.method, "size": options.size, "atoms": len(large["forces"]),
        "small_atoms": len(exact["forces"]),
        "plain_ms": float(large_plain["milliseconds"]), "preload_ms": float(large["milliseconds"]),
        "small_plain_ms": float(plain["milliseconds"]), "small_preload_ms": float(quick["milliseconds"]),
        "plain_error": error(plain, exact), "preload_error": error(split, exact),
        "difference_large": error(large, large_plain),
    }


def main():
    if sys.argv[1:2] == ["--child"]:
        wheel, size, structure, dtype, seconds, out = sys.argv[2:]
        return evaluate(wheel, size, structure, dtype, float(seconds), out)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blas", required=True, help="libtrine_blas.so")
    parser.add_argument("--wheel", required=True, help="metatrain's wheel")
    parser.add_argument("--large", required=True, metavar="FILE")
    parser.add_argument("--small", required=True, metavar="FILE")
    parser.add_argument("--size", default="s32", choices=rival_common.SIZES)
    parser.add_argument("--method", default="auto", help="TRINE_GEMM (default auto)")
    parser.add_argument("--seconds", type=float, default=3, help="of timed evaluations (default 3)")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    options.blas = str(pathlib.Path(options.blas).resolve())
    options.log = False
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options, pathlib.Path(folder))
        summary = pathlib.Path(folder, "large.log").read_text().partition("summary of process")[2].splitlines()
    found["summary"] = summary
    print("\n".join(summary[:LOG_LINES]))
    print("{atoms} atoms: {plain_ms:.1f} ms without, {preload_ms:.1f} ms with the library; {small_atoms} atoms: {small_plain_ms:.2f} and "
          "{small_preload_ms:.2f} ms, force errors {plain_error:.3g} and {preload_error:.3g} eV/A".format(**found))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
