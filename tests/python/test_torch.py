"""trine.torch: split linear layers in PyTorch, on the CPU through the emulation, and on a GPU with TRINE_DEVICE=cuda."""

import copy
import gc
import io
import os

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import trine  # noqa: E402
import trine.torch as tt  # noqa: E402
from trine import _trine  # noqa: E402
from trine.torch import _packed  # noqa: E402

DEVICE = os.environ.get("TRINE_DEVICE", "cpu")
ACCURATE = [name for name, fp32_class, _ in _trine.gemm_methods() if fp32_class and name != "fp32"]
ON_GPU = pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU (TRINE_DEVICE=cuda)")

if DEVICE != "cpu" and not torch.cuda.is_available():
    pytest.skip("TRINE_DEVICE names a GPU and PyTorch sees none", allow_module_level=True)


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(DEVICE)


def arch():
    return _packed.context(torch.device(DEVICE).index or 0).arch if DEVICE != "cpu" else "sm_90"


def emulated(x, weight, method, backward=False):
    """The product as the emulation has it, bit for bit."""
    x, weight = x.detach().cpu().contiguous(), weight.detach().cpu().contiguous()
    gemm = _trine.EmulatedGemm(method, arch(), weight.data_ptr(), weight.shape[1], *weight.shape)
    y = torch.empty(x.shape[0], weight.shape[1 if backward else 0])
    run = gemm.backward if backward else gemm.forward
    run(x.shape[0], x.data_ptr(), x.shape[1], y.data_ptr(), y.shape[1], 1)
    return y


def error(y, x, weight):
    """rms of y - x w^T in units of 2^-24 |x| |w|."""
    x, weight = x.detach().double().cpu(), weight.detach().double().cpu()
    return float((((y.detach().double().cpu() - x @ weight.T) / (2.0**-24 * (x.abs() @ weight.abs().T)))**2).mean().sqrt())


@pytest.mark.parametrize("method", ACCURATE)
@pytest.mark.parametrize("rows, n, k", [(5, 64, 128), (33, 70, 130), (1, 3, 7)])
def test_bits_of_the_emulation(method, rows, n, k):
    x, weight = random(rows, k, seed=1), random(n, k, seed=2)
    y = tt.split_linear(x, weight, None, method)
    assert torch.equal(y.cpu(), emulated(x, weight, method))
    assert not torch.equal(y.cpu(), torch.nn.functional.linear(x, weight).cpu()) or n * rows < 10
    grad = torch.ops.trine.split_linear_input_grad(y, weight, method)
    assert torch.equal(grad.cpu(), emulated(y, weight, method, backward=True))


def test_accuracy_is_that_of_fp32():
    x, weight = random(200, 256, seed=1), random(128, 256, seed=2)
    plain = error(torch.nn.functional.linear(x, weight), x, weight)
    for method in ACCURATE:
        assert error(tt.split_linear(x, weight, None, method), x, weight) < 1.1 * plain
    assert error(tt.split_linear(x, weight, None, "bf16"), x, weight) > 100 * plain


def test_shapes_and_strides():
    weight, bias = random(32, 48, seed=1), random(32, seed=2)
    x = random(4, 5, 48, seed=3)
    y = tt.split_linear(x, weight, bias)
    assert y.shape == (4, 5, 32)
    flat = tt.split_linear(x.reshape(20, 48), weight, bias)
    assert torch.equal(y.reshape(20, 32), flat)
    assert torch.equal(tt.split_linear(x[0, 0], weight, bias), flat[0])
    wide = random(20, 49, seed=4)
    assert torch.equal(tt.split_linear(wide[:, 1:], weight), tt.split_linear(wide[:, 1:].contiguous(), weight))
    columns = random(48, 20, seed=5)
    assert torch.equal(tt.split_linear(columns.T, weight), tt.split_linear(columns.T.contiguous(), weight))
    one = random(1, 48, seed=6)
    assert torch.equal(tt.split_linear(one.expand(3, 48), weight), tt.split_linear(one.repeat(3, 1), weight))
    turned = random(48, 32, seed=7).T
    assert torch.equal(tt.split_linear(one, turned), tt.split_linear(one, turned.contiguous()))
    assert tt.split_linear(x[:0], weight, bias).shape == (0, 5, 32)


def test_gradients():
    x, weight, bias = (t.requires_grad_() for t in (random(30, 48, seed=1), random(32, 48, seed=2), random(32, seed=3)))
    grad = random(30, 32, seed=4)
    tt.split_linear(x, weight, bias).backward(grad)
    assert torch.equal(x.grad.cpu(), emulated(grad, weight, "fp16x3", backward=True))
    torch.testing.assert_close(weight.grad, grad.T @ x, rtol=0, atol=1e-4)
    torch.testing.assert_close(bias.grad, grad.sum(0), rtol=0, atol=1e-5)


def test_only_the_gradients_asked_for():
    weight = random(32, 48, seed=2)
    x = random(3, 48, seed=1).requires_grad_()
    tt.split_linear(x, weight).sum().backward()
    assert x.grad is not None and weight.grad is None
    y = tt.split_linear(x.detach(), weight.requires_grad_())
    y.sum().backward()
    assert weight.grad is not None


def test_second_derivatives_are_refused():
    x, weight = random(3, 8, seed=1).requires_grad_(), random(4, 8, seed=2)
    first, = torch.autograd.grad(tt.split_linear(x, weight).square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        first.sum().backward()


def test_errors():
    x, weight = random(3, 8), random(4, 8)
    with pytest.raises(trine.UsageError, match="unknown method 'fp31'.*fp16x3"):
        tt.split_linear(x, weight, None, "fp31")
    with pytest.raises(TypeError, match="x is torch.float64"):
        tt.split_linear(x.double(), weight)
    with pytest.raises(TypeError, match="weight is torch.float16"):
        tt.split_linear(x, weight.half())
    with pytest.raises(ValueError, match=r"\(3, 8\) and weight \(8, 4\)"):
        tt.split_linear(x, weight.T)
    with pytest.raises(TypeError, match="meta"):
        tt.split_linear(x, weight.to("meta"))


def test_fp32_is_pytorchs_own():
    x, weight, bias = random(3, 8, seed=1), random(4, 8, seed=2), random(4, seed=3)
    plain = torch.nn.functional.linear(x, weight, bias)
    assert torch.equal(tt.split_linear(x, weight, bias, "fp32"), plain)
    chosen = "fp32" if DEVICE == "cpu" else _packed.context(0).choose(3, 4, 8)
    assert torch.equal(tt.split_linear(x, weight, bias, "auto"), tt.split_linear(x, weight, bias, chosen))


class Counted:
    """How often weights were packed."""

    def __init__(self, monkeypatch):
        self.count = 0
        kind = _packed._OnCpu if DEVICE == "cpu" else _packed._OnGpu
        pack = kind.pack

        def counted(entry, weight, bias):
            self.count += 1
            pack(entry, weight, bias)
        monkeypatch.setattr(kind, "pack", counted)


def test_weights_are_packed_once(monkeypatch):
    counted = Counted(monkeypatch)
    x, weight, bias = random(3, 8).requires_grad_(), random(4, 8, seed=2), random(4, seed=3)
    for _ in range(3):
        tt.split_linear(x, weight, bias).sum().backward()
    assert counted.count == 1
    tt.split_linear(x, weight, bias, "bf16x9")
    assert counted.count == 2


@pytest.mark.parametrize("change", [
    lambda layer: (layer.weight.data.mul_(2), tt.forget(layer)),
    lambda layer: layer.weight.mul_(2),
    lambda layer: layer.bias.add_(1),
    lambda layer: layer.weight.__setitem__((0, 0), 7),
    lambda layer: layer.load_state_dict({k: v + 1 for k, v in layer.state_dict().items()}),
    lambda layer: setattr(layer, "weight", torch.nn.Parameter(random(4, 8, seed=9))),
    lambda layer: setattr(layer, "bias", torch.nn.Parameter(random(4, seed=9))),
    lambda layer: setattr(layer.weight, "data", random(4, 8, seed=9)),
    lambda layer: setattr(layer, "bias", None),
])
def test_changed_weights_are_seen(change):
    layer = tt.SplitLinear(8, 4, device=DEVICE)
    x = random(3, 8)
    before = layer(x)
    with torch.no_grad():
        change(layer)
    after = layer(x)
    assert not torch.equal(before, after)
    tt.forget(layer)
    assert torch.equal(after, layer(x))


def test_an_optimizer_step_is_seen():
    layer = tt.SplitLinear(8, 4, device=DEVICE)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    x = random(3, 8)
    for _ in range(3):
        optimizer.zero_grad()
        y = layer(x)
        torch.testing.assert_close(y, torch.nn.functional.linear(x, layer.weight, layer.bias), rtol=1e-5, atol=1e-5)
        y.square().sum().backward()
        optimizer.step()


def test_a_new_tensor_at_an_old_address_is_seen():
    x = random(3, 8)
    for seed in range(20):
        weight = random(4, 8, seed=seed)
        bias = random(4, seed=seed + 100)
        torch.testing.assert_close(tt.split_linear(x, weight, bias), torch.nn.functional.linear(x, weight, bias),
                                   rtol=1e-5, atol=1e-5)
        del weight, bias
    gc.collect()
    assert len(_packed._kept) < 20


def test_inference_mode():
    layer = tt.SplitLinear(8, 4, device=DEVICE)
    x = random(3, 8)
    with torch.inference_mode():
        y = layer(x)
        weight = random(4, 8, seed=5)
        first = tt.split_linear(x, weight)
        weight.mul_(2)
        assert torch.equal(tt.split_linear(x, weight), 2 * first)
    assert torch.equal(y, layer(x))


def small_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.SiLU(), torch.nn.Linear(32, 32, bias=False),
                               torch.nn.Sequential(torch.nn.Linear(32, 8))).to(DEVICE)


def test_module_shares_its_parameters():
    linear = torch.nn.Linear(8, 4, device=DEVICE)
    split = tt.SplitLinear.from_linear(linear, "bf16x9")
    assert split.weight is linear.weight and split.bias is linear.bias
    assert split.state_dict().keys() == linear.state_dict().keys()
    x = random(3, 8)
    for other in (copy.deepcopy(split), through_file(split)):
        assert type(other) is tt.SplitLinear and other.method == "bf16x9"
        assert torch.equal(other(x), split(x))
    assert "method=bf16x9" in repr(split)
    assert tt.SplitLinear.from_linear(torch.nn.Linear(8, 4, bias=False)).bias is None


def through_file(module):
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


def test_patch_and_back():
    model = small_model()
    x = random(5, 16)
    plain, names, parameters = model(x), list(model.state_dict()), list(model.parameters())
    calls = []
    model[0].register_forward_hook(lambda *_: calls.append(1))
    done = tt.patch(model)
    assert [name for name, _, _ in done.replaced] == ["0", "2", "3.0"] and done.replaced[1][1:] == (32, 32)
    assert "3 layers through fp16x3" in str(done)
    split = model(x)
    assert calls == [1]
    assert list(model.state_dict()) == names and all(a is b for a, b in zip(model.parameters(), parameters))
    assert not torch.equal(split, plain)
    torch.testing.assert_close(split, plain, rtol=1e-5, atol=1e-5)
    assert tt.unpatch(model) == 3
    assert torch.equal(model(x), plain)
    assert all(type(m) is torch.nn.Linear and "method" not in vars(m) for _, m in tt._patch.linear_layers(model))


def test_patch_leaves_what_it_must():
    model = small_model()
    done = tt.patch(model, include=["3.*", "2"], exclude="2")
    assert [name for name, _, _ in done.replaced] == ["3.0"]
    assert dict(done.skipped) == {"0": "include does not name it", "2": "exclude names it"}
    attention = torch.nn.MultiheadAttention(8, 2)
    done = tt.patch(torch.nn.ModuleDict({"a": attention, "b": torch.nn.Linear(4, 4).double()}))
    assert not done.replaced and "NonDynamicallyQuantizableLinear" in dict(done.skipped)["a.out_proj"]
    assert "float64" in dict(done.skipped)["b"]
    with pytest.raises(trine.UsageError):
        tt.patch(model, "fp31")


def test_patch_again_changes_the_method():
    model = small_model()
    tt.patch(model)
    tt.patch(model, "bf16x9", include="0")
    assert [m.method for m in model.modules() if isinstance(m, tt.SplitLinear)] == ["bf16x9", "fp16x3", "fp16x3"]


def test_report():
    model = small_model()
    x = random(100, 16).requires_grad_()

    class Forces(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            return torch.autograd.grad(self.model(x).square().sum(), x)[0]

    forces = Forces()
    found = tt.report(forces, x, methods=["fp16x3", "bf16"], rows=20)
    rows = {(row.name, row.direction): row for row in found.layers}
    assert rows.keys() == {(f"model.{n}", d) for n in ("0", "2", "3.0") for d in ("forward", "input gradient")}
    forward = rows["model.0", "forward"]
    assert (forward.rows, forward.n, forward.k) == (100, 32, 16)
    sample = x[::5].detach()
    plain = sample @ model[0].weight.T
    assert forward.errors["fp32"][0] == pytest.approx(error(plain, sample, model[0].weight), rel=1e-6)
    split = emulated(sample, model[0].weight, "fp16x3")
    assert forward.errors["fp16x3"][0] == pytest.approx(error(split, sample, model[0].weight), rel=1e-6)
    assert found.worst("fp16x3") < 4 < 100 < found.worst("bf16")
    assert "model.3.0" in str(found) and found.to_dict()["layers"][0]["name"] == "model.0"
    assert torch.equal(found.output, forces(x))
    patched = Forces()
    tt.patch(patched)
    again = tt.report(patched, x, methods=["fp16x3"], rows=20)
    assert again.layers[0].errors["fp16x3"] == forward.errors["fp16x3"]
    tt.unpatch(model)
    with pytest.raises(trine.UsageError, match="nothing to compare"):
        tt.report(model, x, methods=["auto"])


def test_compile():
    model = small_model()
    tt.patch(model)
    x = random(7, 16).requires_grad_()
    expected = model(x)
    grad, = torch.autograd.grad(expected.square().sum(), x)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    y = compiled(x)
    assert torch.equal(y, expected)
    assert torch.equal(torch.autograd.grad(y.square().sum(), x)[0], grad)
    torch.library.opcheck(torch.ops.trine.split_linear, (x, model[0].weight, model[0].bias, "fp16x3"))


@ON_GPU
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_inductor(mode):
    model = small_model().requires_grad_(False)
    tt.patch(model)
    compiled = torch.compile(model, fullgraph=True, mode=mode)
    for seed in range(5):
        x = random(600, 16, seed=seed)
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-5)


@ON_GPU
@pytest.mark.parametrize("trained", [True, False])
def test_cuda_graphs(trained):
    layer = tt.SplitLinear(64, 32, device=DEVICE).requires_grad_(trained)
    x = random(700, 64)
    with torch.no_grad():
        layer(x)  # kernels are loaded
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = layer(x)
        for seed in range(3):
            x.copy_(random(700, 64, seed=seed))
            if trained:  # a graph of weights that may change packs them at every replay
                layer.weight.copy_(random(32, 64, seed=seed + 10))
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(y, layer(x))
        if not trained:  # weights that were packed are packed again into the same memory
            layer.weight.copy_(random(32, 64, seed=20))
            expected = layer(x)
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(y, expected)


@ON_GPU
def test_streams():
    layer = tt.SplitLinear(512, 512, device=DEVICE)
    streams = [torch.cuda.Stream() for _ in range(4)]
    x = random(5000, 512)
    torch.cuda.synchronize()
    with torch.no_grad():
        for _ in range(10):
            tt.forget(layer)
            results = []
            for stream in streams:
                with torch.cuda.stream(stream):
                    results.append(layer(x))
            torch.cuda.synchronize()
            assert all(torch.equal(r, results[0]) for r in results)


@ON_GPU
def test_threads():
    import concurrent.futures
    layer = tt.SplitLinear(256, 256, device=DEVICE)
    xs = [random(1000, 256, seed=seed) for seed in range(8)]
    with torch.no_grad():
        expected = [layer(x) for x in xs]

        def work(x):
            with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
                y = layer(x)
                torch.cuda.current_stream().synchronize()
            return y
        torch.cuda.synchronize()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for _ in range(5):
                assert all(torch.equal(a, b) for a, b in zip(pool.map(work, xs), expected))
