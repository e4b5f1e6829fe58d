#!/usr/bin/env python3
"""Checks that files and functions stay small and that sources are plain ASCII.

    check_sizes.py [--root FOLDER]

Limits: 500 lines per file, 70 lines per function body (200 for a CUDA kernel). Bodies are found by counting
braces, which is right for code that clang-format has formatted. Prints file:line and exits with status 1.
"""
import argparse
import ast
import os
import re
import sys

from source_files import CXX, blank_strings_and_comments, read_text, report, source_files

FILE_LINES = 500
FUNCTION_LINES = 70
KERNEL_LINES = 200

TYPE_OR_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b[^()=]*$|\bextern\s*$")
SIGNATURE_END = re.compile(r"\)\s*(const|noexcept(\([^()]*\))?|override|final|mutable|&&?|->[^;{}]*|requires[^;{}]*|\s)*$")
INITIALISERS = re.compile(r"\)\s*(noexcept\s*)?:\s*[A-Za-z_][\w:<>]*\s*(\(|$)")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def opens_function(before):
    """Does a brace after `before` (the text since the last brace or semicolon) open a function body?"""
    if TYPE_OR_SCOPE.search(before):
        return False
    return bool(SIGNATURE_END.search(before)) or bool(INITIALISERS.search(before))


def function_bodies(code):
    """(first position, last position, is a kernel) of every outermost function body."""
    stack = []  # start of the function, or None for another scope
    start = 0  # where the text before the next brace begins
    depth_in_function = 0
    parentheses = 0
    for match in re.finditer(r"[{}();]", code):
        sign, position = match.group(), match.start()
        if sign in "()":
            parentheses += 1 if sign == "(" else -1
            continue
        if sign == ";":
            start = start if parentheses else position + 1
            continue
        if sign == "{":
            before = code[start:position]
            function = not depth_in_function and not parentheses and opens_function(before)
            stack.append((position, "__global__" in before) if function else None)
            depth_in_function += bool(depth_in_function) or function
        elif stack:
            opened = stack.pop()
            depth_in_function -= depth_in_function > 0
            if opened:
                yield opened[0], position, opened[1]
        start = position + 1


def cxx_problems(path, text):
    code = blank_strings_and_comments(text)
    for first, last, kernel in function_bodies(code):
        lines = line_of(code, last) - line_of(code, first) - 1
        limit = KERNEL_LINES if kernel else FUNCTION_LINES
        if lines > limit:
            yield f"{path}:{line_of(code, first)}: function of {lines} lines (limit {limit}), split it"


def python_problems(path, text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = node.end_lineno - node.lineno
            if lines > FUNCTION_LINES:
                yield f"{path}:{node.lineno}: function {node.name} of {lines} lines (limit {FUNCTION_LINES}), split it"


def problems_of(path, text):
    lines = text.splitlines()
    if len(lines) > FILE_LINES:
        yield f"{path}:{FILE_LINES + 1}: file of {len(lines)} lines (limit {FILE_LINES}), split it"
    for number, line in enumerate(lines, 1):
        if not line.isascii():
            strange = next(c for c in line if not c.isascii())
            yield f"{path}:{number}: not ASCII ({strange!a}), write it in ASCII"
    if path.endswith(CXX):
        yield from cxx_problems(path, text)
    elif path.endswith(".py"):
        yield from python_problems(path, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    root = parser.parse_args().root
    files = source_files(root, CXX + (".py", ".sh", ".cmake", "CMakeLists.txt"))
    return report([p for path in files for p in problems_of(path, read_text(root, path))], "size check")


if __name__ == "__main__":
    sys.exit(main())
