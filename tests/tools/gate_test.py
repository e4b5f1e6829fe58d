#!/usr/bin/env python3
"""tools/gpu_gate with programs that only pretend: what goes into the receipt, and which gates fail."""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
import gate_figures  # noqa: E402
import receipt  # noqa: E402

METHODS = ("fp32", "tf32", "tf32x3", "bf16x6", "bf16x9", "fp16x3")
SPEED = {"fp32": 1, "tf32": 5, "tf32x3": 2.2, "bf16x6": 2.4, "bf16x9": 1.6, "fp16x3": 4}

TEST_PROGRAM = """#!{python}
import json, os, sys
if "--gtest_list_tests" in sys.argv:
    print("Gemm.\\n  {small}Bits")
    sys.exit(0)
if "--gtest_filter=*Small*" in sys.argv:
    print("[  PASSED  ] 2 tests.")
    sys.exit(0)
out = next(a for a in sys.argv if a.startswith("--gtest_output=json:"))[20:]
assert "NVIDIA_TF32_OVERRIDE" not in os.environ and os.environ["LD_LIBRARY_PATH"].startswith({folder!r})
cases = {cases!r}
print("[ RUN      ] Gemm.Ran\\n[       OK ] Gemm.Ran\\n[ RUN      ] Gemm.Other\\na.cpp:3: Skipped\\nno such kernel\\n\\n[  SKIPPED ] Gemm.Other")
json.dump({{"testsuites": [{{"name": "Gemm", "testsuite": cases}}]}}, open(out, "w"))
sys.exit({status})
"""

BENCHMARK = """#!{python}
import sys
assert sys.argv[sys.argv.index("--models") + 1] == "s32"
open(sys.argv[sys.argv.index("--json") + 1], "w").write({report!r})
"""

SANITIZER = """#!{python}
import subprocess, sys
tool = sys.argv[sys.argv.index("--tool") + 1]
if {slow}:
    child = subprocess.Popen(["sleep", "60"])
    open(sys.argv[0] + "." + tool, "w").write(str(child.pid))
    child.wait()
if tool == "racecheck":
    print("========= Error: Race reported\\n========= at kernel")
    sys.exit(int(sys.argv[sys.argv.index("--error-exitcode") + 1]))
if tool == "synccheck":
    print("========= Error: Device not supported")
    sys.exit(1)
sys.exit(subprocess.run(sys.argv[5:]).returncode)
"""

SMI = """#!/bin/sh
case "$*" in *=name,*) echo 'NVIDIA H200, 580.2' ;; *) echo '1980, 1980, 3201, 120.5, 700.00, 40' ;; esac
"""


def figure(method, seconds, rms):
    return {"method": method, "us": seconds * 1e6, "sm_clock_mhz": 1400, "normal": {"rms": rms}}


def product(rows, count, automatic="fp16x3"):
    figures = [figure(m, 1e-3 / SPEED[m], 0.5) for m in METHODS]
    return {"rows": rows, "count": count, "auto": automatic, "figures": figures}


def group(atoms):
    summary = [{"method": m, "complete": True, "ms": 1.0, "tflops": 50.0 * SPEED[m], "speedup": SPEED[m], "rms_over_fp32": 0.5,
                "max_over_fp32": 0.6, "bias_u": -3.0, "max_over_bound": 0.1} for m in METHODS]
    return {"model": "s32", "atoms": atoms, "summary": summary, "products": [product(atoms, 3), product(38 * atoms, 10)]}


def report():
    return {"device": "NVIDIA H200", "driver": "580.1", "toolkit": "CUDA 13.0, cuBLAS 13.1", "sets": [group(17280), group(192)]}


def case(name, result="COMPLETED", **more):
    return {"name": name, "status": "RUN", "result": result, **more}


class GateRun(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("binaries", "bin", "out"):
            (self.folder / name).mkdir()

    def put(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def put_sanitizer(self, slow=False):
        self.put("bin/compute-sanitizer", SANITIZER.format(python=sys.executable, slow=slow))

    def put_programs(self, benchmark=None, cases=(), status=0, small="Small"):
        binaries = str(self.folder / "binaries")
        self.put("binaries/cuda_gemm_bits_test", TEST_PROGRAM.format(python=sys.executable, folder=binaries, cases=list(cases), status=status, small=small))
        if benchmark:
            self.put("binaries/trine_bench_gemm", BENCHMARK.format(python=sys.executable, report=json.dumps(benchmark)))

    def run_gate(self, *arguments):
        env = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "NVIDIA_TF32_OVERRIDE": "1"}
        command = [sys.executable, ROOT / "tools" / "gpu_gate", "--binaries", self.folder / "binaries", "--out", self.folder / "out",
                   "--reports", self.folder / "out" / "reports", "--commit", "0123abc", *arguments]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        receipts = sorted((self.folder / "out").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        self.assertTrue(receipts, done.stdout + done.stderr)
        written = json.loads(receipts[-1].read_text())
        self.assertEqual(receipt.receipt_problems(written), [])
        return done, receipts[-1].name, written, {t["name"]: t for t in written["tests"]}

    def test_everything_passes(self):
        self.put("bin/nvidia-smi", SMI)
        self.put_programs(report(), [case("Small/fp16x3", worst="0.25"), case("Other", "SKIPPED")])
        done, name, written, tests = self.run_gate()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(name, receipt.FILE_NAME)
        self.assertTrue(name.startswith("gemm-h200-"))
        self.assertEqual(written["commit"], "0123abc")
        self.assertEqual((written["driver"], written["toolkit"]), ("580.1", "CUDA 13.0, cuBLAS 13.1"))
        self.assertEqual(written["clocks"]["before"]["power.limit"], 700)
        self.assertEqual(tests["cuda_gemm_bits_test.Gemm.Small/fp16x3"], {"name": "cuda_gemm_bits_test.Gemm.Small/fp16x3", "status": "passed", "worst": 0.25})
        self.assertEqual(tests["cuda_gemm_bits_test.Gemm.Other"], {"name": "cuda_gemm_bits_test.Gemm.Other", "status": "not run", "worst": None,
                                                                   "reason": "no such kernel"})
        self.assertIn("not run  1 test: no such kernel", done.stdout)
        self.assertEqual(tests["gate.fp16x3.s32_17280.speedup"], {"name": "gate.fp16x3.s32_17280.speedup", "status": "passed", "worst": 4.0, "limit": 3.5})
        figures = {f["name"]: f["value"] for f in written["figures"]}
        for figure_name, value in {"gemm.fp16x3.s32_17280.speedup": 4, "gemm.fp16x3.s32_192.nodes_speedup": 4, "gemm.fp16x3.rms_over_sgemm": 0.5,
                                   "gemm.fp16x3.bias_u": -3, "gemm.fp32.s32_17280.tflops": 50, "gemm.auto.s32_192.worst_speedup": 4,
                                   "gemm.fp16x3.s32_17280.peak_fraction": 600 / 801}.items():
            self.assertAlmostEqual(figures[figure_name], value, 5, figure_name)
        self.assertIn("gate.bf16x9.bias_u", done.stdout)

    def test_programs_of_operations_and_models(self):
        """They are found, no others are, and those of models are told where their data are."""
        self.put_programs(report(), [case("Other")])
        for name in ("cuda_ops_norm_test", "cuda_planes_indices_test"):
            self.put(f"binaries/{name}", (self.folder / "binaries" / "cuda_gemm_bits_test").read_text())
        self.put("binaries/cuda_models_properties_test", """#!/bin/sh
test -f "$TRINE_REFERENCE/models/solver.ckpt" && test -d "$TRINE_TEST_DATA/structures" && test -f "$TRINE_MODELS/trine-mini.ckpt" && exec "$(dirname "$0")/cuda_gemm_bits_test" "$@"
""")
        _, _, _, tests = self.run_gate()
        self.assertEqual({name for name, t in tests.items() if t["status"] == "passed" and name.startswith("cuda_")},
                         {f"cuda_{name}_test.Gemm.Other" for name in ("gemm_bits", "ops_norm", "models_properties")})

    def test_sanitizers(self):
        self.put_sanitizer()
        self.put_programs(report(), [case("Small")])
        done, _, _, tests = self.run_gate()
        self.assertEqual(done.returncode, 1)
        found = {tool: tests[f"sanitizer.{tool}.cuda_gemm_bits_test"] for tool in ("memcheck", "racecheck", "synccheck")}
        self.assertEqual({tool: t["status"] for tool, t in found.items()}, {"memcheck": "passed", "racecheck": "failed", "synccheck": "not run"})
        self.assertIn("at kernel", found["racecheck"]["reason"])

    def test_no_small_tests(self):
        self.put_sanitizer()
        self.put_programs(report(), [case("Large")], small="Large")
        _, _, _, tests = self.run_gate()
        self.assertEqual(tests["sanitizer.memcheck.cuda_gemm_bits_test"]["reason"], "the program has no small tests")

    def test_nothing_outlives_its_time(self):
        """What a sanitizer started would run beside the benchmark."""
        self.put_sanitizer(slow=True)
        self.put_programs(report(), [case("Small")])
        _, _, _, tests = self.run_gate("--sanitizer-seconds", "4")
        self.assertIn("not done within", tests["sanitizer.memcheck.cuda_gemm_bits_test"]["reason"])
        child = int((self.folder / "bin" / "compute-sanitizer.memcheck").read_text())
        status = pathlib.Path(f"/proc/{child}/status")
        self.assertTrue(not status.exists() or "zombie" in status.read_text())

    def test_failures_of_tests(self):
        self.put_programs(report(), [case("Wrong", failures=[{"failure": "bits differ"}], worst="7"), case("Nan", worst="nan")], status=1)
        done, _, _, tests = self.run_gate()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(tests["cuda_gemm_bits_test.Gemm.Wrong"]["reason"], "bits differ")
        self.assertEqual(tests["cuda_gemm_bits_test.Gemm.Nan"]["status"], "failed")

    def test_a_crash_is_a_failure(self):
        self.put("binaries/cuda_gemm_bits_test", "#!/bin/sh\necho boom\nexit 139\n")
        self.put("bin/nvidia-smi", SMI)
        done, name, written, tests = self.run_gate("--quick")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(name.startswith("gemm_quick-h200-"))
        self.assertEqual(written["driver"], "580.2")
        self.assertIn("boom", tests["cuda_gemm_bits_test"]["reason"])

    def test_without_a_gpu_nothing_passes(self):
        self.put("binaries/trine_bench_gemm", "#!/bin/sh\necho 'trine: no GPU' >&2\nexit 7\n")
        done, name, written, tests = self.run_gate()
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertTrue(name.startswith("gemm-unknown-"))
        self.assertEqual({t["status"] for t in tests.values()}, {"not run"})
        self.assertIn("no GPU", tests["benchmark"]["reason"])
        self.assertEqual(written["figures"], [])
        self.assertEqual(self.run_gate()[1], name.replace(".json", "-2.json"))


class Gates(unittest.TestCase):
    def gates(self, change):
        changed = report()
        change(changed)
        return {t["name"]: t for t in gate_figures.gates_of(changed, gate_figures.figures_of(changed))}

    def test_each_limit_can_fail(self):
        def summary(all_, atoms, method):
            return next(s for g in all_["sets"] if g["atoms"] == atoms for s in g["summary"] if s["method"] == method)

        def slow(all_, row, method):
            for p in all_["sets"][1]["products"]:
                for f in p["figures"]:
                    if f["method"] == method and p["rows"] == row:
                        f["us"] = 1500

        for name, change in {
            "gate.fp16x3.rms_over_sgemm": lambda r: summary(r, 192, "fp16x3").update(rms_over_fp32=1.01),
            "gate.bf16x6.max_over_sgemm": lambda r: summary(r, 17280, "bf16x6").update(max_over_fp32=1.6),
            "gate.tf32x3.bias_u": lambda r: summary(r, 17280, "tf32x3").update(bias_u=-4.1),
            "gate.tf32.max_over_bound": lambda r: summary(r, 17280, "tf32").update(max_over_bound=1.1),
            "gate.bf16x9.bias_u": lambda r: summary(r, 192, "bf16x9").update(bias_u=None),
            "gate.fp16x3.s32_192.speedup": lambda r: slow(r, 192, "fp16x3"),
            "gate.auto.s32_192.worst_speedup": lambda r: slow(r, 192, "fp16x3"),
        }.items():
            with self.subTest(name):
                self.assertEqual(self.gates(lambda r: None)[name]["status"], "passed")
                self.assertEqual(self.gates(change)[name]["status"], "failed")

    def test_auto_may_fall_back(self):
        def change(all_):
            for p in all_["sets"][1]["products"]:
                p["auto"] = "fp32"
        self.assertEqual(self.gates(change)["gate.auto.s32_192.worst_speedup"]["worst"], 1)

    def test_another_device_has_no_speed_gates(self):
        gates = self.gates(lambda r: r.update(device="NVIDIA A100"))
        self.assertEqual(gates["gate.fp16x3.s32_17280.speedup"]["status"], "not run")
        self.assertEqual(gates["gate.fp16x3.bias_u"]["status"], "passed")

    def test_a_method_that_failed_is_reported(self):
        def change(all_):
            all_["sets"][0]["products"][0]["figures"][1] = {"method": "tf32", "reason": "NaN"}
        changed = report()
        change(changed)
        self.assertEqual([t["name"] for t in gate_figures.failed_methods(changed)], ["benchmark.tf32"])


class Receipts(unittest.TestCase):
    GOOD = {"commit": "0123abc", "date": "2026-11-30T00:00:00+00:00", "device": "x", "driver": None, "toolkit": None,
            "tests": [{"name": "a", "status": "passed", "worst": None}],
            "figures": [{"name": "a.b", "value": 1, "unit": "x", "baseline": None, "ratio": None}]}

    def test_schema(self):
        self.assertEqual(receipt.receipt_problems(self.GOOD), [])
        for change, message in [
            ({"commit": "main"}, "does not match"),
            ({"driver": 5}, "not string or null"),
            ({"extra": 1}, "has extra"),
            ({"tests": [{"name": "a", "status": "skipped", "worst": None}]}, "not one of"),
            ({"tests": [{"name": "a", "status": "passed"}]}, "has no worst"),
            ({"figures": [{**self.GOOD["figures"][0], "name": "Undotted"}]}, "does not match"),
            ({"figures": [{**self.GOOD["figures"][0], "value": float("nan")}]}, "not number"),
            ({"figures": self.GOOD["figures"] * 2}, "a.b twice"),
        ]:
            with self.subTest(message):
                found = receipt.receipt_problems({**self.GOOD, **change})
                self.assertEqual(len(found), 1, found)
                self.assertIn(message, found[0])
        self.assertEqual(receipt.receipt_problems({}), [f"receipt has no {key}" for key in self.GOOD])

    def test_writing_refuses_what_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.json"
            with self.assertRaises(ValueError):
                receipt.write(path, [receipt.figure("Undotted", 1, "x")], "x")
            receipt.write(path, [receipt.figure("a.b", 1.23456789, "x")], "x", commit="unknown")
            self.assertEqual(json.loads(path.read_text())["figures"][0]["value"], 1.23457)


if __name__ == "__main__":
    unittest.main()
