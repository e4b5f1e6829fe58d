#!/usr/bin/env python3
"""The part of tools/gpu_gate that times whole evaluations, with a program that only pretends to."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
import gate_pet  # noqa: E402
import gate_rivals  # noqa: E402
import receipt  # noqa: E402

# Takes 1 us per atom, twice that in other methods than fp16x3; writes what `trine bench step --json` does.
PROGRAM = """#!{python}
import json, pathlib, sys
words = sys.argv[1:]
assert words[:2] == ["bench", "step"]
model, structure = words[2:4]
options = dict(zip(words[4::2], words[5::2]))
if ":" not in model:
    assert pathlib.Path(model).is_file(), model
assert options["--device"] == "cuda"
atoms = int(open(structure).readline())
assert len(open(structure).readlines()) == atoms + 2
method = options["--precision"]
if method in {broken!r}:
    print("trine: no such kernel")
    sys.exit({status})
ms = atoms * 1e-3 * (1 if method == "fp16x3" else 2)
report = {{"model": model, "atoms": atoms, "edges": 38 * atoms, "median_ms": ms, "min_ms": ms, "list_ms": ms / 8,
          "without_list_ms": ms * 7 / 8, "gpu_mib": 2048.0, "predicted_peak_mib": 2052.096}}
if "--md-steps" in options:
    report["dynamics"] = {{"steps": int(options["--md-steps"]), "time_step_fs": 0.5, "step_ms": ms * {step}, "evaluation_ms": ms,
                          "without_list_ms": ms * 7 / 8, "over_evaluation": {step}, "over_without_list": {step} * 8 / 7, "searches": 3,
                          "drift_mev_per_atom": -0.25}}
if options["--baseline"] == "fp64":
    report["baseline"] = {{"name": "fp64", "force_error": {errors!r}.get(method, 3e-6)}}
json.dump(report, open(options["--json"], "w"))
"""

# A rival.
PET_BENCH = """#!/bin/sh
test -f "$1.safetensors" && test -f "$2" || exit 1
echo "MEM x  edges 7372  max_neighbors 46  recompute none  pool 45.600 GiB  gpu_used 46.000 GiB"
echo "TIME x                                  host     median   999.000 ms  best   999.000 ms  mean 1 ms  (n=20, list rebuilt)"
case "$PET_GEMM $PET_ATTN" in "tf32 tf32") ms=122.250 ;; *) ms=349.250 ;; esac
echo "TIME x                                  step     median   $ms ms  best   122.000 ms  mean 1 ms  (n=20, list none)"
"""


class GatePet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "binaries").mkdir()

    def put_program(self, errors=None, broken=(), status=1, step=0.9):
        path = self.folder / "binaries" / "trine"
        path.write_text(PROGRAM.format(python=sys.executable, errors=errors or {}, broken=list(broken), status=status, step=step))
        path.chmod(0o755)

    def run_stages(self, stages):
        return gate_pet.run(self.folder / "binaries", "cuda", os.environ, self.folder, ROOT, stages)

    def figures(self, stages):
        return {f["name"]: f["value"] for f in gate_pet.figures_of(self.run_stages(stages)[0], "NVIDIA H200")}

    def test_figures(self):
        self.put_program(errors={"fp32": 2e-6})
        stages = (gate_pet.times("s32", 192, "fp16x3", "fp32"), gate_pet.errors("trine_mini", "fp16x3"), gate_pet.times("xs", 17280, "fp16x3"))
        self.assertEqual(self.figures(stages), {
            "pet.s32.192.fp16x3.ms": 0.192, "pet.s32.192.fp16x3.without_list_ms": 0.168, "pet.s32.192.fp16x3.ns_per_atom": 1000, "pet.s32.192.fp16x3.kept_gib": 2, "pet.s32.192.fp16x3.peak_error": 0.002,
            "pet.s32.192.fp32.ms": 0.384, "pet.s32.192.fp32.without_list_ms": 0.336, "pet.s32.192.fp32.ns_per_atom": 2000, "pet.s32.192.fp32.kept_gib": 2, "pet.s32.192.fp32.peak_error": 0.002,
            "pet.trine_mini.192.fp32.force_error": 2e-6, "pet.trine_mini.192.fp16x3.force_error": 3e-6,
            "pet.trine_mini.192.fp16x3.force_error_over_fp32": 1.5,
            "pet.xs.17280.fp16x3.ms": 17.28, "pet.xs.17280.fp16x3.without_list_ms": 15.12, "pet.xs.17280.fp16x3.ns_per_atom": 1000, "pet.xs.17280.fp16x3.kept_gib": 2, "pet.xs.17280.fp16x3.peak_error": 0.002})

    def test_every_gate_can_be_measured_and_can_fail(self):
        """Without numpy there is no box of 648 atoms, and with it no verdict on how the time grows."""
        self.put_program()
        reports, entries = self.run_stages(gate_pet.STAGES)
        self.assertEqual(sorted({e["reason"] for e in entries if e["status"] != "passed"} - {"to make this box of water needs numpy"}), [])
        self.assertEqual(len({e["name"] for e in entries}), len(entries))
        small = gate_pet.Case("s32", 648, "fp16x3")
        reports.setdefault(small, {"median_ms": 0.648, "without_list_ms": 0.567, "atoms": 648, "gpu_mib": 0})
        gates = {g["name"]: g for g in gate_pet.gates_of(reports, "NVIDIA H200")}
        self.assertEqual(len(gates), len(gate_pet.SPEED_GATES) + len(gate_pet.ERROR_GATES))
        self.assertEqual({name for name, g in gates.items() if g["status"] != "passed"}, {"gate.pet.xs.17280.fp16x3.without_list_ms"})
        for case, report in reports.items():
            report["median_ms"] *= 100
            report["without_list_ms"] *= 100
            if "dynamics" in report:
                report["dynamics"]["over_without_list"] = 1.06
            report["gpu_mib"] *= 100
            if case.error and case.method != "fp32":
                report["baseline"]["force_error"] = 4.5e-6 if case.model != "l" else None
        reports[small]["median_ms"] *= 1.1
        del reports[gate_pet.Case("s32", 255552, "fp16x3")]
        gates = {g["name"]: g["status"] for g in gate_pet.gates_of(reports, "NVIDIA H200")}
        self.assertEqual(set(gates.values()), {"failed"}, gates)

    def test_speed_is_judged_on_an_h200_only(self):
        self.put_program()
        reports, _ = self.run_stages(([], gate_pet.errors("s32", "tf32x3"), gate_pet.times("s32", 192, "fp16x3")))
        gates = {g["name"]: g["status"] for g in gate_pet.gates_of(reports, "NVIDIA A100") if g["worst"] is not None}
        self.assertEqual(gates, {"gate.pet.s32.192.tf32x3.force_error_over_fp32": "passed", "gate.pet.s32.192.fp16x3.without_list_ms": "not run"})

    def test_floor(self):
        """3 TFLOP/s for 2 ms and 1 for 4 ms: 10 GFLOP, which take 0.0375 ms at 801 / 3 TFLOP/s."""
        report = {"median_ms": 0.75, "without_list_ms": 0.7, "atoms": 192, "gpu_mib": 0,
                  "profile": {"operations": [{"tflops": 3.0, "ms": 2.0}, {"ms": 5.0}, {"tflops": 1.0, "ms": 4.0}]}}
        reports = {gate_pet.Case("s32", 192, "fp16x3", profile=True): report}
        values = {f["name"]: f["value"] for f in gate_pet.figures_of(reports, "NVIDIA H200")}
        self.assertAlmostEqual(values["pet.s32.192.fp16x3.floor_fraction"], 10e-3 / 267 * 1e3 / 0.75, 5)
        self.assertNotIn("pet.s32.192.fp16x3.floor_fraction", [f["name"] for f in gate_pet.figures_of(reports, "NVIDIA A100")])

    def test_dynamics(self):
        self.put_program(step=1.25)
        values = self.figures((gate_pet.times("s32", 192, "fp16x3", dynamics=70), [], []))
        self.assertEqual({name: value for name, value in values.items() if ".md_" in name}, {
            "pet.s32.192.fp16x3.md_step_ms": 0.24, "pet.s32.192.fp16x3.md_step_over_evaluation": 1.42857,
            "pet.s32.192.fp16x3.md_step_over_evaluation_with_list": 1.25, "pet.s32.192.fp16x3.md_drift": -0.25})

    def test_memory(self):
        """Only the largest boxes may lack it; the largest that does not is a figure."""
        for atoms, expected in ((255552, "not run"), (17280, "failed")):
            self.put_program(broken=["bf16x9"], status=5)
            _, entries = self.run_stages((gate_pet.times("s32", atoms, "bf16x9"), [], []))
            self.assertEqual(entries[0]["status"], expected)
        self.put_program()
        self.assertEqual(self.figures(([], [], gate_pet.times("s32", 138240, "fp16x3")))["pet.s32.max_atoms"], 138240)

    def test_lean_cases(self):
        self.put_program()
        figures = self.figures(([], [], gate_pet.LEAN))
        self.assertEqual({name.split("fp16x3.")[1] for name in figures}, {"lean_ms", "peak_gib", "least_ms", "least_gib"})

    def test_failures(self):
        for status, expected in ((3, "failed"), (7, "not run")):
            self.put_program(broken=["tf32x3"], status=status)
            reports, entries = self.run_stages((gate_pet.times("s32", 192, "tf32x3", "fp16x3"), [], []))
            self.assertEqual([c.method for c in reports], ["fp16x3"])
            self.assertEqual([e["status"] for e in entries], [expected, "passed"])
            self.assertIn("no such kernel", entries[0]["reason"])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "needs numpy")
    def test_rivals(self):
        rivals = self.folder / "rivals"
        rivals.mkdir()
        (rivals / "pet-bench").write_text(PET_BENCH)
        (rivals / "pet-bench").chmod(0o755)
        figures, entries = gate_rivals.run(rivals, os.environ, self.folder, ROOT)
        self.assertEqual({e["status"] for e in entries}, {"passed"}, entries)
        values = {f["name"]: f["value"] for f in figures}
        self.assertEqual(values["rival.pet_kokkos.s32.17280.native.ms"], 349.25)
        self.assertEqual(values["rival.pet_kokkos.s32.17280.tf32.ms"], 122.25)
        self.assertEqual(values["rival.pet_kokkos.s32.17280.native.peak_gib"], 45.6)
        _, entries = gate_rivals.run(rivals, os.environ, self.folder, ROOT, seconds=0)
        self.assertEqual({(e["status"], e["reason"]) for e in entries}, {("not run", "the seconds for rivals were over")})

    def test_no_rivals(self):
        _, entries = gate_rivals.run(self.folder, os.environ, self.folder, ROOT)
        self.assertEqual([e["status"] for e in entries], ["not run"])

    def test_part_of_the_gate(self):
        """Chosen with --only; its figures and gates are in a receipt of its own name."""
        self.put_program()
        command = [sys.executable, ROOT / "tools" / "gpu_gate", "--binaries", self.folder / "binaries", "--out", self.folder / "out",
                   "--reports", self.folder / "reports", "--commit", "0123abc", "--only", "pet", "--quick"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        written = next((self.folder / "out").glob("pet_quick-unknown-*.json"))
        content = json.loads(written.read_text())
        self.assertEqual(receipt.receipt_problems(content), [])
        self.assertIn("pet.s32.192.fp16x3.ms", [f["name"] for f in content["figures"]])
        self.assertEqual({t["name"] for t in content["tests"] if t["status"] == "passed"},
                         {"pet.s32.192.fp16x3", "pet.s32.192.fp32", "pet.trine_mini.192.fp32.error", "pet.trine_mini.192.fp16x3.error",
                          "gate.pet.trine_mini.192.fp16x3.force_error_over_fp32"})
        self.assertTrue((self.folder / "reports" / "pet" / "pet.s32.192.fp16x3.json").is_file())


if __name__ == "__main__":
    unittest.main()
