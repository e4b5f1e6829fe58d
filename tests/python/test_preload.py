"""libtrine_blas.so before cuBLAS in a PyTorch program: needs a GPU, PyTorch, and TRINE_BLAS with the library's path."""

import json
import os
import subprocess
import sys

import pytest

BLAS = os.environ.get("TRINE_BLAS", "")
pytestmark = pytest.mark.skipif(os.environ.get("TRINE_DEVICE", "cpu") == "cpu" or not BLAS,
                                reason="needs a GPU (TRINE_DEVICE=cuda) and libtrine_blas.so (TRINE_BLAS)")

PROGRAM = """
import json, threading, torch
torch.manual_seed(0)
dev = dict(device="cuda")
errors = {}

def note(name, y, x, w, extra=0.0):
    x, w = x.double(), w.double()
    unit = 2.0**-24 * (x.abs() @ w.abs())
    errors[name] = float((((y.double() - extra - x @ w) / unit) ** 2).mean().sqrt())

x, w, bias = torch.randn(6000, 300, **dev), torch.randn(500, 300, **dev), torch.randn(500, **dev)
note("linear", torch.nn.functional.linear(x, w), x, w.T)
note("bias", torch.nn.functional.linear(x, w, bias), x, w.T, bias.double())
dy = torch.randn(6000, 500, **dev)
note("input_grad", dy @ w, dy, w)
note("weight_grad", dy.T @ x, dy.T, x)
z = torch.randn(6000, 500, **dev)
note("add", torch.addmm(z, x, w.T), x, w.T, z.double())
note("scaled", torch.addmm(z, x, w.T, alpha=2) / 2, x, w.T, z.double() / 2)
u = torch.randn(6001, 301, **dev)[:-1, 1:]
note("misaligned", u @ w.T, u, w.T)
a, b = torch.randn(3, 4000, 300, **dev), torch.randn(3, 300, 500, **dev)
note("batch", a @ b, a, b)
note("small", x[:10] @ w.T, x[:10], w.T)
torch.backends.cuda.matmul.allow_tf32 = True
note("tf32", x @ w.T, x, w.T)
torch.backends.cuda.matmul.allow_tf32 = False
graph, out = torch.cuda.CUDAGraph(), None
with torch.cuda.graph(graph):
    out = x @ w.T
x.copy_(torch.randn_like(x)), w.copy_(torch.randn_like(w))
graph.replay()
torch.cuda.synchronize()
note("graph", out, x, w.T)
same = []

def work(seed):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        stream.wait_stream(torch.cuda.default_stream())
        for _ in range(20):
            same.append(bool(torch.equal(x @ w.T, out)))
        stream.synchronize()

torch.cuda.synchronize()
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
print(json.dumps({"errors": errors, "same": same}))
"""


def run(tmp_path, **variables):
    log = tmp_path / "log"
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True,
                          env={**os.environ, "LD_PRELOAD": BLAS, "TRINE_GEMM_LOG": str(log), **variables})
    return json.loads(done.stdout.splitlines()[-1]), log.read_text()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("preload")
    (folder / "off").mkdir()
    return run(folder, TRINE_GEMM="fp16x3"), run(folder / "off", TRINE_GEMM="off")


SPLIT = ["linear", "bias", "input_grad", "add", "misaligned", "batch", "graph"]
KEPT = ["weight_grad", "scaled", "small", "tf32"]


def test_errors_are_those_of_fp32(found):
    (split, _), (plain, _) = found
    for name in SPLIT:
        assert split["errors"][name] < 1.1 * plain["errors"][name] + 0.05, name
        assert split["errors"][name] != plain["errors"][name], name


def test_what_is_not_eligible_is_cublas_own(found):
    (split, log), (plain, _) = found
    for name in KEPT:
        assert split["errors"][name] == pytest.approx(plain["errors"][name], rel=1e-6), name
    for reason in ("the second operand is transposed", "alpha is not 1", "the product is small", "the handle asks for TF32"):
        assert f"original ({reason})" in log, reason


def test_threads_and_streams(found):
    (split, _), _ = found
    assert len(split["same"]) == 80 and all(split["same"])


def test_the_log_says_where_calls_went(found):
    (_, log), (_, off) = found
    for call in ("cublasSgemm_v2 TN 500 x 6000 x 300 -> fp16x3", "+bias -> fp16x3", "batch 3 -> fp16x3", " ms"):
        assert call in log, call
    assert "summary of process" in log and "original (TRINE_GEMM=off)" in off and "-> fp16x3" not in off
