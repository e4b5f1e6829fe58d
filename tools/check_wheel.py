#!/usr/bin/env python3
"""Checks a wheel of the Python package, needs readelf and objdump.

    check_wheel.py WHEEL

An error is: a file that is missing, or one too many; a tag other than cp310-abi3; more than 40 MB without the model; a library of
CUDA, of Python or of unknown kind that must be there to load; a path of libraries that is not relative; machine code that not every
x86-64 processor has, outside the functions that are called only where it is there. These are in the namespaces isa_avx2 and isa_avx512
(src/cpu/kernels), emulation_avx2 and emulation_avx512 (src/cpu/emulation): what is compiled with them but has another name, such as
a template of the standard library, may be what everybody calls.
Libraries that `auditwheel repair` has added (trine.libs) choose their instructions themselves and are not looked into.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import zipfile

from source_files import report

SIZE_LIMIT = 40_000_000  # bytes in the wheel, without the model
MODEL = r"trine/share/trine/models/trine-mini\.ckpt"
BINARIES = (r"trine/_trine\.abi3\.so", r"trine/lib[^.]*/libtrine\.so\.\d+\.\d+", r"trine/lib[^.]*/libtrine_gemm\.so\.\d+\.\d+", r"trine/bin/trine")
# Each must be there once.
WANTED = (*BINARIES, MODEL, r"trine_program\.py", r"trine/__init__\.py", r"trine/__main__\.py", r"trine/py\.typed", r"trine/_trine\.pyi",
          r"trine-[\d.]+\.dist-info/METADATA", r"trine-[\d.]+\.dist-info/WHEEL", r"trine-[\d.]+\.dist-info/RECORD",
          r"trine-[\d.]+\.dist-info/entry_points\.txt", r"trine-[\d.]+\.dist-info/licenses/LICENSE")
# May be there.
ALLOWED = (r"trine/([a-z_]+/)*[a-z_]+\.py", r"trine\.libs/lib[^/]+\.so[.\d]*", r"trine-[\d.]+\.dist-info/sboms/[^/]+")
# What the dynamic linker may have to find (regular expressions): ours, the system's, and what the library is made of, which auditwheel
# names after its contents.
NEEDED = (r"libtrine(_gemm)?\.so\.\d+\.\d+", r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+", r"ld-linux-x86-64\.so\.2",
          r"lib(gomp|fmt|zip|z|crypto|openblas(p-r\d+)?|dnnl|hdf5(_serial)?)(-[0-9a-f]{8})?[.\d]*\.so[.\d]*")

FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>.+)>:$")
OPERATION = re.compile(r"^\s*[0-9a-f]+:\s+(?P<text>(?:(?:rep[a-z]*|lock|notrack|data16|cs) )*(?P<name>[a-z][a-z0-9]*).*)$")
DISPATCHED = re.compile(r"\d(isa|emulation)_(?P<set>avx2|avx512)")
AVX512 = re.compile(r"%zmm|%k[0-7]\b|%[xy]mm(1[6-9]|2\d|3[01])\b")
# Everything whose name begins with v; and what came between the first x86-64 processors and AVX2.
AFTER_BASELINE = re.compile(
    r"v.*|andn|bextr|bls(i|r|msk)|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx|movbe|lzcnt|popcnt|crc32[bwlq]?|palignr|pshufb|pabs[bwd]|ph(add|sub).*|"
    r"p(max|min)(sb|sd|ud|uw)|pmulld|pmuldq|ptest|packusdw|pcmp(eq|gt)q|pblend.*|blendv?p[sd]|round[ps][sd]|dpp[sd]|insertps|extractps|"
    r"p(extr|insr)[bdq]|h(add|sub)p[sd]|addsubp[sd]|movddup|movs[hl]dup|lddqu")


def content_problems(names):
    for pattern in WANTED:
        found = [name for name in names if re.fullmatch(pattern, name)]
        if len(found) != 1:
            yield f"{pattern}: there {'is none' if not found else 'are ' + ', '.join(found)}, one is wanted"
    for name in names:
        if not any(re.fullmatch(pattern, name) for pattern in (*WANTED, *ALLOWED)):
            yield f"{name}: does not belong into the wheel"


def size_problem(sizes):
    """`sizes`: name -> bytes in the wheel."""
    total = sum(size for name, size in sizes.items() if not re.fullmatch(MODEL, name))
    if total > SIZE_LIMIT:
        yield f"{total / 1e6:.1f} MB without the model, {SIZE_LIMIT / 1e6:.0f} MB are allowed"


def tag_problems(wheel_name, wheel_file):
    """`wheel_file`: text of the file WHEEL."""
    if not re.fullmatch(r"trine-[\d.]+-cp310-abi3-(many)?linux_[a-z0-9_.]+\.whl", wheel_name):
        yield f"the name {wheel_name} has not the tag cp310-abi3 of a Linux"
    if not re.search(r"^Tag: cp310-abi3-", wheel_file, re.MULTILINE):
        yield "the file WHEEL has not the tag cp310-abi3"


def linking_problems(name, dynamic):
    """`dynamic`: what `readelf -dW` prints."""
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not any(re.fullmatch(pattern, library) for pattern in NEEDED):
            yield f"{name}: does not load without {library}"
    for paths in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        for path in paths.split(":"):
            if not re.match(r"\$ORIGIN(/|$)", path):
                yield f"{name}: looks for libraries in {path or 'the current folder'}"


def code_problems(name, listing):
    """One for each function with instructions that it may not have; `listing`: lines of `objdump -d`."""
    function, found = "", collections.OrderedDict()
    functions = 0
    for line in listing:
        if match := FUNCTION.match(line):
            function = match["name"]
            functions += 1
        elif (match := OPERATION.match(line)) and function not in found:
            chosen = DISPATCHED.search(function)
            if AVX512.search(match["text"]):
                allowed = chosen and chosen["set"] == "avx512"
            else:
                allowed = chosen or not AFTER_BASELINE.fullmatch(match["name"])
            if not allowed:
                found[function] = " ".join(match["text"].split())
    if not functions:
        yield f"{name}: objdump shows no function"
    for function, operation in found.items():
        yield f"{name}: {function} is for all x86-64 processors but has '{operation}'"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def binary_problems(name, path):
    if ".symtab" not in output_of("readelf", "-SW", path):
        yield f"{name}: has no names of functions (strip removes them), so that nothing can be said of its machine code"
        return
    yield from linking_problems(name, output_of("readelf", "-dW", path))
    yield from code_problems(name, output_of("objdump", "-dw", "--no-show-raw-insn", path).splitlines())


def problems_of(wheel):
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        entries = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
        yield from content_problems(sorted(entries))
        yield from size_problem({name: entry.compress_size for name, entry in entries.items()})
        about = next((name for name in entries if name.endswith(".dist-info/WHEEL")), None)
        yield from tag_problems(os.path.basename(wheel), archive.read(about).decode() if about else "")
        for name in entries:
            if any(re.fullmatch(pattern, name) for pattern in BINARIES):
                yield from binary_problems(name, archive.extract(name, folder))
            if name == "trine/bin/trine" and not entries[name].external_attr >> 16 & 0o100:
                yield f"{name}: is not executable"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel")
    return report(list(problems_of(parser.parse_args().wheel)), "wheel check")


if __name__ == "__main__":
    sys.exit(main())
