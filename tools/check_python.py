#!/usr/bin/env python3
"""Checks that every Python script of the project compiles; writes nothing.

    check_python.py [--root FOLDER]
"""
import argparse
import os
import sys

from source_files import read_text, report, source_files


def problems_of(root, path):
    try:
        compile(read_text(root, path), path, "exec")
    except (SyntaxError, ValueError) as error:
        yield f"{path}:{getattr(error, 'lineno', 1)}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    root = parser.parse_args().root
    return report([p for path in source_files(root, (".py",)) for p in problems_of(root, path)], "python check")


if __name__ == "__main__":
    sys.exit(main())
