#!/usr/bin/env python3
"""Plants violations in an otherwise clean tree and expects each check to find them, and nothing else."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")

CLEAN = {
    "include/trine/a.hpp": '#include <vector>\n#include "trine/b.hpp"\n',
    "include/trine/b.hpp": "// Dots: 'a' and 1'000.\n#pragma once\n",
    "src/base/check.hpp": '#include <fmt/format.h>\n#include "trine/a.hpp"\n',
    "src/ops/gemm.hpp": '#include "tensor/view.hpp"\n#include "ops/kinds.hpp"\n',
    "src/cpu/gemm.cpp": '#include <cblas.h>\n// __global__ is only a word here\nint f() { return 1; }\n',
    "src/backend.hpp": '#include "ops/gemm.hpp"\n',
    "src/backend.cpp": '#include "backend.hpp"\n#include "cpu/gemm.hpp"\n#include "cuda/gemm.hpp"\n',
    "src/cuda/gemm.cu": "#include <cuda_runtime.h>\n__global__ void k() {\n" + "  ;\n" * 150 + "}\n",
    "apps/trine/main.cpp": '#include <CLI/CLI.hpp>\n#include "own.hpp"\n#include "trine/a.hpp"\n',
    "apps/trine/own.hpp": "struct A {\n" + "  int x;\n" * 100 + "};\n",
    "tests/cpu/gemm_test.cpp": '#include <gtest/gtest.h>\n#include "cpu/gemm.hpp"\n',
    "examples/evaluate.cpp": "#include <trine/a.hpp>\n",
    "tools/script.py": "def f():\n    return 1\n",
    "tests/data/generated.cpp": '#include "../anything.hpp"\n',
}

LONG_BODY = "  int x = 0; (void)x;\n" * 71

# check, path, text, what the report must contain
VIOLATIONS = [
    ("includes", "src/ops/bad.hpp", '#include "cpu/gemm.hpp"\n', "src/ops/bad.hpp:1: src/ops may not include"),
    ("includes", "src/cpu/bad.cpp", '\n\n#include "cuda/gemm.hpp"\n', "src/cpu/bad.cpp:3: src/cpu may not include"),
    ("includes", "src/models/pet/bad.cpp", '#  include "cpu/gemm.hpp"\n', "bad.cpp:1: src/models may not include"),
    ("includes", "src/base/bad.hpp", '#include "tensor/view.hpp"\n', "bad.hpp:1: src/base may not include"),
    ("includes", "apps/trine/bad.cpp", '#include "base/check.hpp"\n', "bad.cpp:1: apps may not include"),
    ("includes", "apps/trine/bad.cpp", '#include "../../src/base/check.hpp"\n', "climbs out of its folder"),
    ("includes", "apps/trine/bad.cpp", "#include <trine/a.hpp>\n", "in quotes"),
    ("includes", "include/trine/bad.hpp", "#include <fmt/format.h>\n", "bad.hpp:1: <fmt/format.h> may be included only"),
    ("includes", "include/trine/bad.hpp", "#include <unistd.h>\n", "the standard library only"),
    ("includes", "src/atoms/bad.cpp", "#include <oneapi/dnnl/dnnl.hpp>\n", "may be included only in src/cpu"),
    ("includes", "src/cpu/bad.cpp", "#include <cuda_runtime.h>\n", "may be included only in src/cuda"),
    ("includes", "src/cpu/bad.hpp", "int a;\n__device__ int f();\n", "bad.hpp:2: device code belongs to src/cuda"),
    ("includes", "src/model.cpp", '#include "cpu/gemm.hpp"\n', "src/model.cpp:1: src may not include"),
    ("includes", "src/stray/bad.hpp", '#include "ops/gemm.hpp"\n', "bad.hpp:1: the folder is not in the table"),
    ("includes", "cmake/bad.cpp", '#include "trine/a.hpp"\n', "not in the table"),
    ("includes", "python/src/bad.cpp", '#include "ops/gemm.hpp"\n', "python may not include"),
    ("sizes", "src/cpu/bad.cpp", "int a;\n" * 501, "src/cpu/bad.cpp:501: file of 501 lines"),
    ("sizes", "src/cpu/bad.cpp", "\nvoid f(int a) {\n" + LONG_BODY + "}\n", "bad.cpp:2: function of 71 lines"),
    ("sizes", "src/cpu/bad.cpp", "struct A {\n  A() : x_(1) {\n" + LONG_BODY + "  }\n};\n", "bad.cpp:2: function of 71"),
    ("sizes", "src/cpu/bad.cpp", "namespace a {\nint f() const noexcept {\n  if (1) {\n" + LONG_BODY + "  }\n}\n}\n",
     "bad.cpp:2: function of 73 lines"),
    ("sizes", "tests/cpu/bad.cpp", "TEST(A, b) {\n" + LONG_BODY + "}\n", "bad.cpp:1: function of 71 lines"),
    ("sizes", "src/cpu/bad.cpp", 'void f() {\n  auto s = "}";  // }\n' + LONG_BODY + "}\n", "function of 72 lines"),
    ("sizes", "src/cuda/bad.cu", "__global__ void f() {\n" + LONG_BODY * 3 + "}\n", "function of 213 lines (limit 200)"),
    ("sizes", "tools/bad.py", "def f():\n" + "    x = 1\n" * 71, "bad.py:1: function f of 71 lines"),
    ("sizes", "src/cpu/bad.cpp", "int a;\n// \u00c5ngstr\u00f6m\n", "bad.cpp:2: not ASCII"),
    ("python", "tools/bad.py", "def f(:\n", "tools/bad.py:1: "),
    ("receipts", "bench/receipts/Gemm-H200.json", "{}", "Gemm-H200.json:1: the name is not TOPIC-DEVICE-YYYYMMDD"),
    ("receipts", "bench/receipts/gemm-h200-20260101-2.json", "{", "no JSON"),
    ("receipts", "bench/receipts/gemm-h200-20260101.json", "[]", "is [], not object"),
    ("format", "src/cpu/bad.cpp", "int   f( ){return 1;}\n", "bad.cpp:1:"),
]


def run_check(check, root):
    if check == "format":
        command = [os.path.join(TOOLS, "check_format.sh"), root]
    else:
        command = [sys.executable, "-B", os.path.join(TOOLS, f"check_{check}.py"), "--root", root]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def write_tree(root, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name

    def test_clean_tree_passes(self):
        write_tree(self.root, CLEAN)
        for check in ("includes", "sizes", "python", "receipts"):
            with self.subTest(check):
                status, output = run_check(check, self.root)
                self.assertEqual(status, 0, output)

    def test_every_violation_is_found_alone(self):
        for check, path, text, message in VIOLATIONS:
            with self.subTest(check=check, message=message), tempfile.TemporaryDirectory() as root:
                write_tree(root, {path: text} if check == "format" else {**CLEAN, path: text})
                status, output = run_check(check, root)
                if check == "format" and status == 77:
                    self.skipTest("clang-format 14 is not installed")
                self.assertEqual(status if check != "format" else bool(status), 1, output)
                self.assertIn(message, output)
                problems = [line for line in output.splitlines() if line.startswith(path)]
                self.assertEqual(len(problems), 1 if check != "format" else len(problems), output)


if __name__ == "__main__":
    unittest.main()
