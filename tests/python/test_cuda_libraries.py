"""On a machine with a GPU: which cuBLAS is loaded, and what happens without one. Each case has a process of its own."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

import trine

PROGRAM = pathlib.Path(trine.__file__).parent / "bin/trine"
# Energy on a device, and the files of cuBLAS in the process.
REPORT = """
import json, trine
model = trine.load({model!r}, device={device!r})
energy = model.evaluate({structure!r})["energy"]
maps = open("/proc/self/maps").read().split()
print(json.dumps([model.device, energy, sorted({{word for word in maps if "/libcublas.so" in word}})]))
"""


def has_gpu():
    if not PROGRAM.exists():
        return False
    done = subprocess.run([sys.executable, "-m", "trine", "devices", "--json"], capture_output=True, text=True, timeout=60)
    return any(d["name"].startswith("cuda:") and d["available"] for d in json.loads(done.stdout)["devices"])


pytestmark = pytest.mark.skipif(not has_gpu(), reason="there is no GPU with cuBLAS, or the package is not from a wheel")


@pytest.fixture
def hidden(tmp_path):
    """An environment in which the dynamic linker finds no cuBLAS: the first file of that name is empty."""
    for name in ("libcublas.so.12", "libcublas.so.13"):
        (tmp_path / name).touch()
    return {**os.environ, "LD_LIBRARY_PATH": f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}"}


def report(model, structure, device, before="", env=None):
    code = before + REPORT.format(model=model, device=device, structure=structure)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_gpu_agrees_with_the_cpu(model_path, water):
    device, energy, libraries = report(model_path, water, "cuda")
    assert device == "cuda:0" and len(libraries) == 1
    on_cpu = report(model_path, water, "cpu")
    assert on_cpu[0] == "cpu" and on_cpu[2] == []
    assert abs(energy - on_cpu[1]) < 1e-5 * abs(on_cpu[1])


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_the_cublas_of_pytorch_is_shared(model_path, water):
    before = "import torch\nx = torch.ones(64, 64, device='cuda')\nassert (x @ x)[0, 0] == 64\n"
    device, _, libraries = report(model_path, water, "cuda", before)
    assert device == "cuda:0" and len(libraries) == 1


def test_without_cublas_the_cpu_is_taken(model_path, water, hidden):
    nowhere = "import trine\ntrine._trine.set_cublas_folders([])\n"
    assert report(model_path, water, "auto", nowhere, hidden)[0] == "cpu"
    code = nowhere + f"trine.load({model_path!r}, device='cuda')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=hidden)
    assert "NotSupportedError" in done.stderr
    assert "cannot load cuBLAS" in done.stderr and "pip install 'nvidia-cublas" in done.stderr


def test_the_program_says_why_the_gpu_is_not_used(model_path, alloy_path, hidden):
    words = [str(PROGRAM), "predict", model_path, str(alloy_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=hidden)
    assert done.returncode == 0, done.stderr
    assert "cuda:0 is not used: cannot load cuBLAS" in done.stderr and "device cpu" in done.stderr
