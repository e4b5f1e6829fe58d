#!/usr/bin/env python3
"""tools/check_kernels.py on recorded output of ptxas and cuobjdump, and tools/keep_ptxas.sh with a compiler that pretends."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS))
import check_kernels  # noqa: E402

PTXAS = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z9gemm_sm90v' for 'sm_90a'
ptxas info    : Function properties for _Z9gemm_sm90v
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 9 barriers, 1040 bytes smem, 640 bytes cmem[0]
ptxas info    : Compiling entry function '_Z4packv' for 'sm_90a'
ptxas info    : Function properties for _Z4packv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers, 376 bytes cmem[0]
"""

SASS = """
Fatbin elf code:
================
arch = sm_90a

\tcode for sm_90a
\t.target\tsm_90a

\t\tFunction : _Z4packv
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                   /* 0x00000a00ff017624 */
                                                                            /* 0x000fe400078e00ff */
        /*0010*/                   EXIT ;                                   /* 0x0000720000007b06 */

\t\tFunction : _Z9gemm_sm90v
\t.headerflags\t@"EF_CUDA_SM90"
        /*0000*/                   HGMMA.64x128x16.F32 R24, R4, gdesc[UR4], RZ, !UPT ;   /* 0x1 */
        /*0010*/              @!P0 HGMMA.64x128x16.F32 R24, R4, gdesc[UR8], R24 ;        /* 0x1 */
        /*10020*/             @P1  HGMMA.64x64x16.F32 R24, R4, gdesc[UR8], R24, gsb0 ;   /* 0x1 */
        /*10030*/                  STG.E [R2], R24 ;                                     /* 0x1 */
"""


def read(ptxas=PTXAS, sass=SASS, source="a/sm90_fp16x3.cu.o"):
    kernels, notes = check_kernels.parse_ptxas(source, ptxas)
    check_kernels.read_sass(sass, kernels)
    return {k.name: k for k in kernels.values()}, notes


def problems(**changes):
    kernels, notes = read(**changes)
    return notes + [p for k in kernels.values() for p in check_kernels.kernel_problems(k)]


class Parsing(unittest.TestCase):
    def test_a_good_object(self):
        kernels, notes = read()
        self.assertEqual(problems(), [])
        self.assertEqual(notes, [])
        gemm, pack = kernels["_Z9gemm_sm90v"], kernels["_Z4packv"]
        self.assertEqual((gemm.arch, gemm.registers, gemm.shared), ("sm_90a", 168, 1040))
        self.assertEqual(dict(gemm.products), {"HGMMA.64x128x16.F32": 2, "HGMMA.64x64x16.F32": 1})
        self.assertEqual((pack.registers, pack.shared, dict(pack.products)), (24, 0, {}))

    def test_every_problem_is_found_alone(self):
        spilled = PTXAS.replace("0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads", "8 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads", 1)
        framed = PTXAS.replace("0 bytes stack frame", "8 bytes stack frame", 1)
        serial = PTXAS + "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ...\n"
        for change, message in [
            ({"ptxas": spilled}, "24 bytes of registers spilled"),
            ({"ptxas": framed}, "a stack frame of 8 bytes"),
            ({"ptxas": serial}, "(C7510)"),
            ({"sass": SASS.replace("STG.E [R2]", "STL [R2]")}, "1 instructions on local memory"),
            ({"sass": SASS.replace("HGMMA", "FFMA")}, "no Tensor Core instruction"),
            ({"sass": SASS.replace("HGMMA.64x64x16.F32", "HGMMA.64x64x16.F32.BF16")}, "HGMMA.64x64x16.F32.BF16, expected"),
            ({"sass": SASS.replace("HGMMA.64x64x16.F32", "HGMMA.64x64x16.F16")}, "HGMMA.64x64x16.F16, expected"),
            ({"source": "sm90_tf32.cu.o"}, "expected HGMMA"),
            ({"source": "sm80_fp16.cu.o"}, "expected HMMA"),
            ({"source": "sm90_tf32x3_planes.cu.o"}, "expected HGMMA"),
        ]:
            with self.subTest(message):
                found = problems(**change)
                self.assertEqual(len(found), 1, found)
                self.assertIn(message, found[0])

    def test_instructions_of_every_word(self):
        for source, name in [("sm80_tf32x3.cu.o", "HMMA.1688.F32.TF32"), ("sm80_bf16.cu.o", "HMMA.16816.F32.BF16"), ("sm80_fp16x3.cu.o", "HMMA.16816.F32"),
                             ("sm90_tf32.cu.o", "HGMMA.64x256x8.F32.TF32"), ("sm90_bf16x9.cu.o", "HGMMA.64x128x16.F32.BF16")]:
            sass = SASS.replace("HGMMA.64x128x16.F32", name).replace("HGMMA.64x64x16.F32", name)
            self.assertEqual(problems(source=source, sass=sass), [], source)

    def test_methods_without_kernels(self):
        missing = check_kernels.missing_methods(read()[0].values())
        self.assertEqual(len(missing), 15)
        self.assertNotIn("no kernel of fp16x3 for sm90 among the objects", missing)


class KeepPtxas(unittest.TestCase):
    def test_output_is_split_and_the_status_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            compiler, wanted = pathlib.Path(folder) / "nvcc", pathlib.Path(folder) / "a.o"
            compiler.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{PTXAS}a.cu(3): warning #177-D: unused\nptxas warning : odd\nEND\nexit 3\n")
            compiler.chmod(0o755)
            done = subprocess.run([TOOLS / "keep_ptxas.sh", compiler, "-c", "a.cu", "-o", wanted], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 3)
            self.assertEqual(done.stderr, "a.cu(3): warning #177-D: unused\nptxas warning : odd\n")
            kept = pathlib.Path(f"{wanted}.ptxas").read_text()
            self.assertEqual(kept, PTXAS + "ptxas warning : odd\n")


if __name__ == "__main__":
    unittest.main()
