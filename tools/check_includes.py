#!/usr/bin/env python3
"""Checks who includes whom. The table below is the architecture; nothing else is allowed.

    check_includes.py [--root FOLDER]

Prints file:line for every include that breaks it and exits with status 1.
"""
import argparse
import os
import re
import sys

from source_files import CXX, blank_strings_and_comments, read_text, report, source_files

# Folder of the including file -> first parts of the quoted includes it may use. "trine" is the public
# interface; "." means files of its own folder. "src" stands for the files directly in it.
MAY_INCLUDE = {
    "include/trine": {"trine"},
    "src/backend.cpp": {"trine", "base", "tensor", "ops", "cpu", "cuda", "."},  # alone knows every device
    "src": {"trine", "base", "tensor", "ops", "atoms", "models", "."},  # the public interface's bodies
    "src/base": {"trine", "base"},
    "src/tensor": {"trine", "base", "tensor"},
    "src/ops": {"trine", "base", "tensor", "ops"},
    "src/cpu": {"trine", "base", "tensor", "ops", "cpu"},
    "src/blas": {"trine", "base", "cuda", "blas"},
    "src/cuda": {"trine", "base", "tensor", "ops", "motion", "cuda"},
    "src/atoms": {"trine", "base", "tensor", "atoms"},
    "src/models": {"trine", "base", "tensor", "ops", "atoms", "models"},
    "src/motion": {"trine", "base", "tensor", "motion"},
    "src/sim": {"trine", "base", "tensor", "atoms", "motion", "sim"},
    "src/trajectory": {"trine", "base", "atoms", "trajectory"},
    "src/validate": {"trine", "base", "atoms", "validate"},
    "apps": {"trine", "."},
    "bench": {"trine", "base", "tensor", "ops", "atoms", "backend.hpp", "."},
    "examples": {"trine", "."},
    "python": {"trine", "."},
    "tests": {"trine", "base", "tensor", "ops", "cpu", "cuda", "atoms", "models", "motion", "sim", "trajectory", "validate", "blas", "backend.hpp", "checkpoint_impl.hpp", "apps", "."},
}

# Headers of other libraries (regular expression) -> folders that may include them.
LIBRARIES = {
    r"CLI/": ("apps",),
    r"nlohmann/": ("apps", "tests", "bench", "src"),
    r"fmt/": ("apps", "tests", "bench", "src"),
    r"(oneapi/dnnl/|dnnl|cblas|openblas)": ("src/cpu", "tests", "bench"),
    r"(cuda|cublas|cub/|nvtx)": ("src/cuda", "src/blas", "tests/cuda", "examples"),
    r"zip\.h": ("src/models/checkpoint", "tests"),
    r"zlib\.h": ("src/atoms", "src/models/checkpoint", "tests"),
    r"(hdf5|H5)": ("src/trajectory", "tests/trajectory"),
    r"(gtest|gmock)/": ("tests",),
    r"benchmark/": ("bench",),
    r"(nanobind/|Python\.h)": ("python",),
}

# The one file that marks what is compiled for both.
HOST_AND_DEVICE = "src/motion/host_device.hpp"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)


def rule_of(path):
    """The folder of MAY_INCLUDE that `path` falls under, or None."""
    if os.path.dirname(path) == "src":
        return path if path in MAY_INCLUDE else "src"
    return next((f for f in MAY_INCLUDE if f != "src" and path.startswith(f + "/")), None)


def is_inside(path, folders):
    return any(path.startswith(folder + "/") for folder in folders)


def quoted_problem(root, path, target):
    rule = rule_of(path)
    if rule is None:
        return "the folder is not in the table of tools/check_includes.py, add it there"
    if target.startswith(".") or "/../" in target:
        return f'"{target}" climbs out of its folder, name it from the root of the sources'
    allowed = MAY_INCLUDE[rule]
    first = target.split("/")[0]
    if first in allowed:  # "models/engine.hpp", or a file of the root such as "backend.hpp"
        return None
    if "." in allowed and os.path.exists(os.path.join(root, os.path.dirname(path), target)):
        return None
    if "." in allowed and rule == "tests" and os.path.exists(os.path.join(root, "tests", target)):
        return None
    return f'{rule} may not include "{target}" (allowed: {", ".join(sorted(allowed))})'


def angled_problem(path, target):
    if target.startswith("trine/"):
        return f'write "{target}", in quotes' if not path.startswith("examples/") else None
    for pattern, folders in LIBRARIES.items():
        if re.match(pattern, target):
            if path.startswith("include/") or not is_inside(path, folders):
                return f"<{target}> may be included only in {', '.join(folders)}"
            return None
    if path.startswith("include/") and not re.fullmatch(r"[a-z_]+|std(def|int)\.h", target):
        return f"public headers include the standard library only, not <{target}>"
    return None


def problems_of(root, path):
    text = read_text(root, path)
    for match in INCLUDE.finditer(text):
        kind, target = match.groups()
        problem = quoted_problem(root, path, target) if kind == '"' else angled_problem(path, target)
        if problem:
            yield f"{path}:{text.count(chr(10), 0, match.start(2)) + 1}: {problem}"
    if not path.startswith("src/cuda/") and path != HOST_AND_DEVICE:
        code = blank_strings_and_comments(text)
        for match in re.finditer(r"\b__(global|device)__\b", code):
            yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}: device code belongs to src/cuda"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    root = parser.parse_args().root
    problems = [p for path in source_files(root, CXX) for p in problems_of(root, path)]
    return report(problems, "include check")


if __name__ == "__main__":
    sys.exit(main())
