"""The program trine of the package `trine`: what the command `trine` runs.

Not a part of the package, because it starts ten times as fast without importing that.
"""

from __future__ import annotations

import glob
import os
import signal
import sys
from typing import NoReturn


def cublas_folders() -> list[str]:
    """Where pip's packages have cuBLAS, on Python's path. No linker looks there."""
    places = [glob.escape(os.path.abspath(folder)) for folder in sys.path if folder]
    found = [file for place in places for file in sorted(glob.glob(f"{place}/nvidia/*/lib/libcublas.so.*"))]
    return list(dict.fromkeys(map(os.path.dirname, found)))


def main() -> NoReturn:
    """Becomes the program: process, streams, signals and exit status are the program's own."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trine", "bin", "trine")
    if not os.path.exists(program):
        sys.exit(f"trine: no program {program} (the package is not from a wheel), run the one that you have built")
    # Python ignores these, and what is ignored would stay so.
    for name in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    if folders := cublas_folders():
        before = os.environ.get("LD_LIBRARY_PATH", "").split(":")
        os.environ["LD_LIBRARY_PATH"] = ":".join([*filter(None, before), *folders])
    os.execv(program, ["trine", *sys.argv[1:]])
