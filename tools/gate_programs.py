"""Runs what tools/gpu_gate runs: GPU tests, compute-sanitizer, the benchmark, nvidia-smi. Changes no setting of a device."""
import concurrent.futures
import glob
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time

import receipt

# Products, operations on the device, whole models, runs. Other tests of CUDA's code need no GPU.
TEST_PROGRAMS = ("cuda_gemm*_test", "cuda_ops_*_test", "cuda_models_*_test", "cuda_sim_*_test")
TEST_SECONDS = 240
SANITIZER_SECONDS = 150  # for all of them together
BENCHMARK_SECONDS = 420
SANITIZER_ERRORS = 86  # the exit status that compute-sanitizer is told to use for what it finds
SMALL_TESTS = "*Small*"
SANITIZER_TOOLS = ("memcheck", "racecheck", "synccheck")
TESTS_AT_ONCE = 6
SANITIZERS_AT_ONCE = 8
# Would turn SGEMM, the baseline, into something else.
FORBIDDEN = re.compile(r"CUBLAS_EMULAT|NVIDIA_TF32_OVERRIDE")
CLOCKS = ("clocks.sm", "clocks.max.sm", "clocks.mem", "power.draw", "power.limit", "temperature.gpu")


def environment(binaries):
    """The programs' environment: their libraries beside them, then CUDA's, wherever those lie."""
    folders = [str(binaries)] + sorted({str(library.parent) for library in pathlib.Path(binaries).rglob("*.so*")})
    folders.append("/usr/local/cuda/lib64")
    for site in site_packages():
        folders += sorted(glob.glob(os.path.join(site, "nvidia", "*", "lib")))
    folders += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    env = {name: value for name, value in os.environ.items() if not FORBIDDEN.match(name)}
    env["LD_LIBRARY_PATH"] = ":".join(dict.fromkeys(folder for folder in folders if folder))
    return env


def site_packages():
    """Where pip's CUDA libraries of the first python3 on the PATH are."""
    done = subprocess.run(["python3", "-c", "import site; print(*site.getsitepackages(), sep='\\n')"], capture_output=True, text=True)
    return done.stdout.split()


def data_folders(programs, root, scratch):
    """Environment variables that lead tests of models, built elsewhere, to this checkout's data (tests/paths.hpp)."""
    if not any(program.name.startswith(("cuda_models_", "cuda_sim_")) for program in programs):
        return {}
    reference = pathlib.Path(scratch).resolve() / "reference"
    with tarfile.open(root / "tests" / "data" / "reference.tar.xz") as archive:
        archive.extractall(reference, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return {"TRINE_TEST_DATA": str(root / "tests" / "data"), "TRINE_REFERENCE": str(reference), "TRINE_MODELS": str(root / "models")}


def find_programs(binaries, *patterns):
    found = [p for pattern in patterns for p in pathlib.Path(binaries).rglob(pattern) if p.is_file() and os.access(p, os.X_OK)]
    return sorted({p.name: p for p in found}.values())


def run(command, env, seconds):
    """(exit status, output); the status is None if it took too long. Then what the command started ends with it: a sanitizer's program would disturb all that follows."""
    started = subprocess.Popen([str(word) for word in command], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        output = started.communicate(timeout=seconds)[0]
        return started.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        return None, started.communicate()[0]


def safe_name(*parts):
    return ".".join(re.sub(r"[^A-Za-z0-9_./-]", "_", part) for part in parts)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it printed nothing"


def skip_reasons(output):
    """Test -> why it skipped, from what a GoogleTest program printed."""
    found = {}
    for block in output.split("[ RUN      ] ")[1:]:
        name, _, text = block.partition("\n")
        if "[  SKIPPED ]" in text:
            found[name] = last_line(text.split("Skipped\n", 1)[-1].split("[  SKIPPED ]")[0])
    return found


def case_of(program, suite, case, reasons):
    """The receipt's entry of one test of a GoogleTest program."""
    name = safe_name(program, suite, case["name"])
    try:
        worst = float(case["worst"])
    except (KeyError, ValueError):
        worst = None
    if case.get("failures"):
        reason = case["failures"][0].get("failure", "")[:300]
        return receipt.test(name, "failed", worst if worst is None or math.isfinite(worst) else None, reason=reason)
    if worst is not None and not math.isfinite(worst):
        return receipt.test(name, "failed", None, reason=f"its worst error is {worst}")
    if case.get("result") != "COMPLETED":
        return receipt.test(name, "not run", None, reason=reasons.get(f"{suite}.{case['name']}", f"it was {case.get('result', 'not begun').lower()}"))
    return receipt.test(name, "passed", worst)


def run_test_program(program, env, seconds):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        status, output = run([program, f"--gtest_output=json:{report}"], env, seconds)
        entries = []
        if report.exists():
            suites = json.loads(report.read_text())["testsuites"]
            entries = [case_of(program.name, suite["name"], case, skip_reasons(output)) for suite in suites for case in suite["testsuite"]]
    failed = any(entry["status"] == "failed" for entry in entries)
    if status is None:
        entries.append(receipt.test(safe_name(program.name), "failed", reason=f"it took more than {seconds:g} s"))
    elif (status != 0 and not failed) or not entries:
        entries.append(receipt.test(safe_name(program.name), "failed", reason=f"exit status {status}: {last_line(output)}"))
    return entries


def sanitizer_entry(tool, program, env, seconds_for_all, deadline):
    name = safe_name("sanitizer", tool, program.name)
    if "Small" not in run([program, "--gtest_list_tests", f"--gtest_filter={SMALL_TESTS}"], env, 30)[1]:
        return receipt.test(name, "not run", reason="the program has no small tests")
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        return receipt.test(name, "not run", reason=f"the {seconds_for_all:g} s for sanitizers were over")
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", SANITIZER_ERRORS, program, f"--gtest_filter={SMALL_TESTS}"]
    status, output = run(command, env, seconds)
    ran = re.search(r"\[  PASSED  \] (\d+) test", output)
    if status is None:
        return receipt.test(name, "not run", reason=f"not done within the {seconds_for_all:g} s for sanitizers")
    if status == SANITIZER_ERRORS:
        errors = [line for line in output.splitlines() if line.startswith("=========")]
        return receipt.test(name, "failed", reason=" ".join(errors[1:4])[:300])
    if re.search(r"Device not supported|not supported on this", output):
        return receipt.test(name, "not run", reason="compute-sanitizer does not support this device")
    if status == 0 and (not ran or int(ran.group(1)) == 0):
        return receipt.test(name, "not run", reason="every small test skipped")
    if status != 0:
        return receipt.test(name, "failed", reason=f"exit status {status}: {last_line(output)}")
    return receipt.test(name, "passed")


def in_parallel(count, function, calls):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return [done.result() for done in [pool.submit(function, *call) for call in calls]]


def run_tests(programs, env, seconds):
    if not programs:
        return [receipt.test("gpu_tests", "not run", reason="there is no GPU test among the binaries")]
    return [entry for entries in in_parallel(TESTS_AT_ONCE, run_test_program, [(p, env, seconds) for p in programs]) for entry in entries]


def run_sanitizers(programs, env, seconds):
    reason = "no time was given to sanitizers" if seconds <= 0 else "" if shutil.which("compute-sanitizer") else "compute-sanitizer is not installed"
    if reason or not programs:
        return [receipt.test(f"sanitizer.{tool}", "not run", reason=reason or "there is no program to run") for tool in SANITIZER_TOOLS]
    deadline = time.monotonic() + seconds
    return in_parallel(SANITIZERS_AT_ONCE, sanitizer_entry, [(tool, p, env, seconds, deadline) for tool in SANITIZER_TOOLS for p in programs])


def run_benchmark(programs, env, out, arguments):
    """(report or None, entry of the receipt)."""
    if not programs:
        return None, receipt.test("benchmark", "not run", reason="there is no trine_bench_gemm among the binaries")
    report = pathlib.Path(out) / "gemm_benchmark.json"
    report.unlink(missing_ok=True)
    status, output = run([programs[0], "--json", report, "--svg", pathlib.Path(out) / "gemm_benchmark.svg", *arguments], env, BENCHMARK_SECONDS)
    (pathlib.Path(out) / "gemm_benchmark.txt").write_text(output)
    if status != 0 or not report.exists():
        why = f"it took more than {BENCHMARK_SECONDS} s" if status is None else f"exit status {status}: {last_line(output)}"
        # 7: not supported here, which is what a machine without a GPU answers.
        return None, receipt.test("benchmark", "not run" if status == 7 else "failed", reason=why)
    return json.loads(report.read_text()), receipt.test("benchmark", "passed")


def query_device(fields):
    """What nvidia-smi says of the first device, field by field, or None."""
    if not shutil.which("nvidia-smi"):
        return None
    status, output = run(["nvidia-smi", "-i", "0", f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"], os.environ, 30)
    values = [word.strip() for word in output.splitlines()[0].split(",")] if status == 0 and output else []
    return dict(zip(fields, values)) if len(values) == len(fields) else None


def read_clocks():
    values = query_device(CLOCKS)
    return values and {name: float(value) if re.fullmatch(r"[0-9.]+", value) else value for name, value in values.items()}
