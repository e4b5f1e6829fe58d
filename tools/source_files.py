"""Finds the project's own source files and strips what is no code from them."""
import os
import re
import sys

FOLDERS = ("include", "src", "apps", "tests", "bench", "examples", "tools", "cmake", "python")
CXX = (".cpp", ".hpp", ".cu", ".cuh", ".h")


def source_files(root, suffixes):
    """Paths relative to `root`, sorted, of files whose names end in one of `suffixes`."""
    found = []
    for folder in FOLDERS:
        for path, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [f for f in folders if f not in ("data", "__pycache__") and not f.startswith("build")]
            found += [os.path.relpath(os.path.join(path, n), root) for n in names if n.endswith(suffixes)]
    return sorted(found)


def read_text(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


# A comment, a raw string, a string, or a character; a quote between digits separates thousands.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)


def blank_strings_and_comments(text):
    """C++ text of the same length and lines, with comments and literals replaced by spaces."""
    return NO_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def report(problems, what):
    """Prints `file:line: message` lines; the exit status of a check."""
    for problem in problems:
        print(problem)
    print(f"{what}: {len(problems)} problem(s)" if problems else f"{what}: ok", file=sys.stderr)
    return 1 if problems else 0
