#!/usr/bin/env python3
"""Checks what nvcc made of the kernels, without a GPU.

    check_kernels.py BUILD_FOLDER [--all]

For every object OBJECT.cu.o below the folder: what ptxas said of it (OBJECT.cu.o.ptxas, kept by keep_ptxas.sh) and its machine
code (cuobjdump and nvdisasm, from the PATH, the toolkit, or PyPI's wheels, unpacked into the build folder). An error is: spilled
registers, a local stack frame, a note of lost performance (serialised wgmma), a Tensor Core kernel without its instruction or with
a foreign one, a method without kernels. Prints a table; exit status 1 if there are errors. Where the tools cannot be had, only
what ptxas said is checked.
"""
import argparse
import collections
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

from source_files import report

WHEELS = ("nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm")
METHODS = ("tf32", "tf32x3", "bf16", "bf16x3", "bf16x6", "bf16x9", "fp16", "fp16x3")
# Object files of one method, and the kernels in them that must use Tensor Cores.
METHOD_FILE = re.compile(r"(?P<family>sm80|sm90)_(?P<method>[a-z0-9]+)(_planes)?\.cu\.o$")
TENSOR_CORE_KERNEL = re.compile(r"gemm_(sm80|sm90)")
# Part of a kernel's name and architecture -> bytes of registers that may be spilled.
MAY_SPILL = {
    ("tiled_backward", "sm_100a"): 128,  # wide heads; there has been no such device to tune them on
}
# Family and word -> the only instruction allowed.
INSTRUCTION = {
    ("sm80", "tf32"): r"HMMA\.1688\.F32\.TF32", ("sm80", "bf16"): r"HMMA\.16816\.F32\.BF16", ("sm80", "fp16"): r"HMMA\.16816\.F32",
    ("sm90", "tf32"): r"HGMMA\.64x\d+x8\.F32\.TF32", ("sm90", "bf16"): r"HGMMA\.64x\d+x16\.F32\.BF16", ("sm90", "fp16"): r"HGMMA\.64x\d+x16\.F32",
}
OPERATION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?(?P<name>[A-Z][A-Za-z0-9_.]*)", re.MULTILINE)
# Work of one thread per system, whose 3 x 3 matrices are indexed in loops.
MAY_HAVE_FRAME = ("ForceOnCell",)


def short_name(name):
    """As in the sources, without parameters, if binutils are here."""
    done = subprocess.run(["c++filt", "-p", name], capture_output=True, text=True) if shutil.which("c++filt") else None
    return done.stdout.strip() if done else name


class Kernel:
    """One kernel as compiled for one architecture."""

    def __init__(self, source, name, arch):
        self.source, self.name, self.arch = source, name, arch
        self.registers = self.shared = self.stack = self.spilled = 0
        self.products = None  # Counter of Tensor Core instructions; None if the machine code was not read
        self.local = 0  # instructions that use local memory

    def where(self):
        return f"{os.path.basename(self.source)}: {short_name(self.name)} for {self.arch}"


def parse_ptxas(source, text):
    """({(name, arch): Kernel}, notes and warnings) of the output of ptxas -v."""
    kernels, notes, current = {}, [], None
    for line in text.splitlines():
        entry = re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line)
        if entry:
            current = kernels.setdefault(entry.groups(), Kernel(source, *entry.groups()))
        elif re.search(r"Potential Performance Loss|\(C75\d\d\)|ptxas warning", line):
            notes.append(f"{os.path.basename(source)}: {line.strip()}")
        elif current and (frame := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)):
            current.stack = int(frame[1])
            current.spilled = int(frame[2]) + int(frame[3])
        elif current and (used := re.search(r"Used (\d+) registers", line)):
            current.registers = int(used[1])
            shared = re.search(r"(\d+) bytes smem", line)
            current.shared = int(shared[1]) if shared else 0
    return kernels, notes


def read_sass(text, kernels):
    """Counts the Tensor Core and local memory instructions of `cuobjdump -sass` into `kernels`."""
    arch = None
    for part in re.split(r"^\s*(?=Function : |code for )", text, flags=re.MULTILINE):
        head = re.match(r"code for (\w+)", part)
        if head:
            arch = head[1]
            continue
        function = re.match(r"Function : (\S+)", part)
        kernel = kernels.get((function[1], arch)) if function else None
        if kernel is None:
            continue
        names = [match["name"] for match in OPERATION.finditer(part)]
        kernel.products = collections.Counter(n for n in names if "MMA" in n.split(".")[0])
        kernel.local = sum(n.split(".")[0] in ("LDL", "STL") for n in names)


def kernel_problems(kernel):
    allowed = next((most for (name, arch), most in MAY_SPILL.items() if name in kernel.name and arch == kernel.arch), 0)
    if kernel.spilled > allowed:
        yield f"{kernel.where()}: {kernel.spilled} bytes of registers spilled"
    elif (kernel.stack or kernel.local) and not allowed and not any(name in kernel.name for name in MAY_HAVE_FRAME):
        yield f"{kernel.where()}: a stack frame of {kernel.stack} bytes, {kernel.local} instructions on local memory"
    method = METHOD_FILE.search(kernel.source)
    if kernel.products is None or not method or not TENSOR_CORE_KERNEL.search(kernel.name):
        return
    wanted = INSTRUCTION[method["family"], method["method"].split("x")[0]]
    strange = sorted(name for name in kernel.products if not re.fullmatch(wanted, name))
    if not kernel.products:
        yield f"{kernel.where()}: no Tensor Core instruction, expected {wanted}"
    elif strange:
        yield f"{kernel.where()}: {', '.join(strange)}, expected {wanted}"


def missing_methods(kernels):
    """Methods without a Tensor Core kernel."""
    found = {METHOD_FILE.search(k.source).group("family", "method") for k in kernels
             if METHOD_FILE.search(k.source) and TENSOR_CORE_KERNEL.search(k.name)}
    return [f"no kernel of {method} for {family} among the objects" for family in ("sm80", "sm90") for method in METHODS
            if (family, method) not in found]


def find_tools(build):
    """The folder of cuobjdump and nvdisasm, or None."""
    local = build / "cuda_tools"
    for _ in range(2):
        for folder in os.environ["PATH"].split(":") + ["/usr/local/cuda/bin"] + sorted(glob.glob(f"{local}/nvidia/*/bin")):
            if all(shutil.which(name, path=folder) for name in ("cuobjdump", "nvdisasm")):
                return folder
        if local.exists():
            return None
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", local, *WHEELS]
        if subprocess.run(download, capture_output=True).returncode != 0:
            return None
        for wheel in local.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(local)
        for program in local.glob("nvidia/*/bin/*"):
            program.chmod(0o755)
    return None


def read_object(path, build, tools):
    """(kernels, notes) of one object file."""
    source = str(path.relative_to(build))
    log = path.with_name(path.name + ".ptxas")
    if not log.exists():
        return [], [f"{source}: no {log.name} beside it (compile with tools/keep_ptxas.sh and -Xptxas -v)"]
    kernels, notes = parse_ptxas(source, log.read_text())
    if tools and kernels:
        env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        done = subprocess.run([f"{tools}/cuobjdump", "-sass", path], capture_output=True, text=True, env=env)
        read_sass(done.stdout, kernels)
        notes += [f"{k.where()}: not in the machine code ({done.stderr.strip()[:80]})" for k in kernels.values() if k.products is None]
    return list(kernels.values()), notes


def print_rows(kernels, every):
    """One row per object and architecture, or per kernel."""
    groups = collections.defaultdict(list)
    for kernel in kernels:
        name = short_name(kernel.name) if every else f"{os.path.basename(kernel.source)}"
        groups[name, kernel.arch].append(kernel)
    print(f"{'kernels':>7} {'arch':8} {'registers':>9} {'shared':>7} {'products':>9}  {'of':22} where")
    for (name, arch), members in sorted(groups.items()):
        products = sum((k.products for k in members if k.products), collections.Counter())
        kinds = ", ".join(sorted({re.sub(r"64x\d+x", "64xNx", p) for p in products}))
        print(f"{len(members):7} {arch:8} {max(k.registers for k in members):9} {max(k.shared for k in members):7} "
              f"{sum(products.values()):9}  {kinds:22} {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="folder of a build with TRINE_CUDA=ON")
    parser.add_argument("--all", action="store_true", help="a row per kernel instead of one per object")
    arguments = parser.parse_args()
    tools = find_tools(arguments.build)
    if not tools:
        print("cuobjdump and nvdisasm cannot be had here: the machine code is not checked", file=sys.stderr)
    kernels, problems = [], []
    for path in sorted(arguments.build.rglob("*.cu.o")):
        own, notes = read_object(path, arguments.build, tools)
        kernels += own
        problems += notes
    problems += [problem for kernel in kernels for problem in kernel_problems(kernel)] + missing_methods(kernels)
    print_rows(kernels, arguments.all)
    return report(problems, "kernel check")


if __name__ == "__main__":
    sys.exit(main())
