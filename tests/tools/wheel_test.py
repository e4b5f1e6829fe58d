#!/usr/bin/env python3
"""tools/check_wheel.py on lists of files, and on recorded output of readelf and objdump."""
import pathlib
import sys
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS))
import check_wheel  # noqa: E402

WHEEL = "trine-1.2.3-cp310-abi3-linux_x86_64.whl"
INFO = "trine-1.2.3.dist-info/"
FILES = ["trine_program.py", "trine/__init__.py", "trine/__main__.py", "trine/ase.py", "trine/torch/__init__.py", "trine/py.typed", "trine/_trine.pyi", "trine/_trine.abi3.so",
         "trine/lib/libtrine.so.1.2", "trine/lib/libtrine_gemm.so.1.2", "trine/bin/trine", "trine/share/trine/models/trine-mini.ckpt",
         INFO + "METADATA", INFO + "WHEEL", INFO + "RECORD", INFO + "entry_points.txt", INFO + "licenses/LICENSE"]

DYNAMIC = """Dynamic section at offset 0x2d30 contains 30 entries:
 0x0000000000000001 (NEEDED)             Shared library: [libtrine_gemm.so.1.2]
 0x0000000000000001 (NEEDED)             Shared library: [libstdc++.so.6]
 0x000000000000000e (SONAME)             Library soname: [libtrine.so.1.2]
 0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN]
"""

LISTING = """
0000000000001139 <_ZN5trine3cpu10isa_avx5123addEPf>:
    1139:\tvaddps %zmm0,%zmm1,%zmm1
    113f:\tkmovw  %eax,%k1

0000000000001150 <_ZN5trine3cpu8isa_avx23addEPf>:
    1150:\tvaddps %ymm0,%ymm1,%ymm1

0000000000001160 <_ZN5trine4nameEv>:
    1160:\trep stos %al,%es:(%rdi)
    1162:\taddps  %xmm0,%xmm1
    1165:\tret
"""


def code(listing):
    return list(check_wheel.code_problems("x", listing.splitlines()))


class Contents(unittest.TestCase):
    def test_a_whole_wheel_has_no_problem(self):
        self.assertEqual(list(check_wheel.content_problems(FILES)), [])

    def test_each_file_is_missed(self):
        optional = {"trine/ase.py", "trine/torch/__init__.py"}
        for name in set(FILES) - optional:
            self.assertEqual(len(list(check_wheel.content_problems([f for f in FILES if f != name]))), 1, name)

    def test_files_too_many(self):
        for extra in ("trine/lib/libtrine.so", "trine/lib/libcublas.so.13", "lib/cmake/trine/trineConfig.cmake", "trine/module.cpp"):
            self.assertEqual(len(list(check_wheel.content_problems(FILES + [extra]))), 1, extra)
        self.assertEqual(len(list(check_wheel.content_problems(FILES + ["trine/lib64/libtrine.so.1.2"]))), 1)

    def test_size_is_without_the_model(self):
        model = "trine/share/trine/models/trine-mini.ckpt"
        self.assertEqual(list(check_wheel.size_problem({model: 10**9, "trine/lib/libtrine.so.1.2": 39_999_999})), [])
        self.assertEqual(len(list(check_wheel.size_problem({model: 0, "trine/lib/libtrine.so.1.2": 40_000_001}))), 1)

    def test_tags(self):
        about = "Wheel-Version: 1.0\nTag: cp310-abi3-linux_x86_64\n"
        self.assertEqual(list(check_wheel.tag_problems(WHEEL, about)), [])
        self.assertEqual(list(check_wheel.tag_problems(WHEEL.replace("linux", "manylinux_2_36"), about)), [])
        self.assertEqual(len(list(check_wheel.tag_problems(WHEEL.replace("abi3", "cp310"), about))), 1)
        self.assertEqual(len(list(check_wheel.tag_problems(WHEEL, about.replace("abi3", "cp310")))), 1)


class Linking(unittest.TestCase):
    def problems(self, old="", new=""):
        return list(check_wheel.linking_problems("x", DYNAMIC.replace(old, new)))

    def test_known_libraries_and_relative_paths(self):
        self.assertEqual(self.problems(), [])
        for library in ("libopenblas.so.0", "libopenblasp-r0-234bd196.3.21.so", "libgomp-f9a9ad78.so.1.0.0", "libhdf5_serial.so.103"):
            self.assertEqual(self.problems("libstdc++.so.6", library), [])

    def test_libraries_that_may_be_absent(self):
        for library in ("libcublas.so.13", "libcudart.so.13", "libcuda.so.1", "libpython3.11.so.1.0", "libtorch.so"):
            self.assertIn(library, "".join(self.problems("libstdc++.so.6", library)))

    def test_paths_of_the_build_machine(self):
        for path in ("/usr/lib", "$ORIGIN:/home/someone/build", "$ORIGINAL", ""):
            self.assertEqual(len(self.problems("[$ORIGIN]", f"[{path}]")), 1, path)


class MachineCode(unittest.TestCase):
    def test_instructions_in_their_namespaces(self):
        self.assertEqual(code(LISTING), [])

    def test_instructions_in_other_functions(self):
        for instruction in ("vaddps %zmm0,%zmm1,%zmm1", "kmovw %eax,%k1", "vaddps %ymm17,%ymm1,%ymm1", "vaddss %xmm0,%xmm1,%xmm1", "shlx %rax,%rbx,%rcx",
                            "pshufb %xmm0,%xmm1", "lock popcnt %eax,%eax"):
            problems = code(LISTING.replace("addps  %xmm0,%xmm1", instruction))
            self.assertEqual(len(problems), 1, instruction)
            self.assertIn("_ZN5trine4nameEv", problems[0])

    def test_names_that_only_look_like_the_namespaces(self):
        self.assertEqual(len(code(LISTING.replace("10isa_avx512", "10my_avx512x"))), 1)
        self.assertEqual(code(LISTING.replace("3cpu10isa_avx512", "9emulation16emulation_avx512")), [])

    def test_avx512_in_functions_for_avx2(self):
        self.assertEqual(len(code(LISTING.replace("%ymm0,%ymm1,%ymm1", "%zmm0,%zmm1,%zmm1"))), 1)

    def test_no_code_is_a_problem(self):
        self.assertEqual(len(code("")), 1)


if __name__ == "__main__":
    unittest.main()
