#!/usr/bin/env python3
"""Checks that every receipt under bench/receipts has a proper name and obeys schema.json.

    check_receipts.py [--root FOLDER]
"""
import argparse
import json
import os
import pathlib
import sys

from source_files import report

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "bench"))
import receipt  # noqa: E402


def problems_of(folder):
    for path in sorted(folder.glob("*")):
        where = os.path.join("bench", "receipts", path.name)
        if path.name == "schema.json":
            continue
        if not receipt.FILE_NAME.fullmatch(path.name):
            yield f"{where}:1: the name is not TOPIC-DEVICE-YYYYMMDD[-N].json, in small letters"
            continue
        try:
            content = json.loads(path.read_text())
        except ValueError as error:
            yield f"{where}:1: no JSON ({error})"
            continue
        yield from (f"{where}:1: {problem}" for problem in receipt.receipt_problems(content))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent)
    root = parser.parse_args().root
    return report(list(problems_of(root / "bench" / "receipts")), "receipt check")


if __name__ == "__main__":
    sys.exit(main())
