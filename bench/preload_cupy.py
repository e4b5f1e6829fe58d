#!/usr/bin/env python3
"""An unmodified CuPy program with libtrine_blas.so before cuBLAS, and without: products of FP32 matrices.

    preload_cupy.py --blas build/cuda/src/blas/libtrine_blas.so --json out.json
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

PROGRAM = """
import json, cupy as cp
rows = []
for m, n, k in [(100000, 256, 768), (100000, 768, 256), (4096, 4096, 4096), (20000, 2048, 1024)]:
    rng = cp.random.RandomState(1)
    a, b = rng.standard_normal((m, k), dtype=cp.float32), rng.standard_normal((k, n), dtype=cp.float32)
    y = a @ b
    start, end = cp.cuda.Event(), cp.cuda.Event()
    start.record()
    for _ in range(20):
        a @ b
    end.record()
    end.synchronize()
    some = slice(None, None, m // 64)
    exact = a[some].astype(float) @ b.astype(float)
    unit = 2.0**-24 * (abs(a[some]).astype(float) @ abs(b).astype(float))
    rms = float(cp.sqrt((((y[some] - exact) / unit) ** 2).mean()))
    rows.append({"m": m, "n": n, "k": k, "ms": cp.cuda.get_elapsed_time(start, end) / 20, "error": rms})
print(json.dumps(rows))
"""


def run_program(variables):
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"preload_cupy: the program failed\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blas", required=True, help="libtrine_blas.so")
    parser.add_argument("--method", default="auto", help="TRINE_GEMM (default auto)")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    plain = run_program({})
    split = run_program({"LD_PRELOAD": str(pathlib.Path(options.blas).resolve()), "TRINE_GEMM": options.method})
    rows = [{**a, "preload_ms": b["ms"], "preload_error": b["error"]} for a, b in zip(plain, split)]
    for row in rows:
        print("{m} x {n} x {k}: {ms:.3f} ms without, {preload_ms:.3f} with the library; errors {error:.3f} and {preload_error:.3f} "
              "of 2^-24 |x| |w|".format(**row))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"products": rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
