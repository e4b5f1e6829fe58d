#!/usr/bin/env python3
"""PyTorch's linear layers beside trine's split ones, on the layers of metatrain's PET: speed and errors, in one run.

    torch_linear.py --wheel metatrain-2026.4.1-py3-none-any.whl --large water17280.xyz --small examples/water192.xyz --json out.json

Needs a GPU, torch, numpy and the Python package trine; PET's modules come from metatrain's wheel (rival_torch.py), with
random weights. Layers: the shapes that PET really has for the large structure (rows of its padded batch), with numbers from
N(0, 1). Evaluations: energy and forces, the same model in FP32, TF32 and patched; errors of forces are those of the small
structure, against the same model in float64.
"""
import argparse
import collections
import copy
import json
import statistics
import sys

import rival_common
import rival_torch
import torch

import trine.torch

METHODS = ["fp16x3", "tf32x3", "bf16x6", "bf16x9"]
WINDOWS = 5


def seconds_of(call, launches):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(launches):
        call()
    end.record()
    end.synchronize()
    return 1e-3 * start.elapsed_time(end) / launches


def medians(calls, seconds=0.02):
    """Seconds of each of several calls, which take turns so that they meet the same clocks."""
    launches = {name: max(1, round(seconds / max(1e-6, seconds_of(call, 2)))) for name, call in calls.items()}
    times = collections.defaultdict(list)
    for _ in range(WINDOWS):
        for name, call in calls.items():
            times[name].append(seconds_of(call, launches[name]))
    return {name: statistics.median(found) for name, found in times.items()}


def allow_tf32(allowed):
    torch.backends.cuda.matmul.allow_tf32 = allowed


def layer_shapes(model, step):
    """{(rows, n, k, has a bias): how often} over all nn.Linear of an evaluation."""
    found = collections.Counter()
    hooks = [layer.register_forward_hook(lambda m, x, y: found.update(
        [(x[0].numel() // m.in_features, m.out_features, m.in_features, m.bias is not None)]))
        for layer in model.modules() if isinstance(layer, torch.nn.Linear)]
    step()
    for hook in hooks:
        hook.remove()
    return found


def layer_calls(rows, n, k, has_bias, backward):
    """For nn.Linear in FP32 and TF32 and each method: a product, or one and that of the input's gradient."""
    torch.manual_seed(rows % 1000 + n + k)
    linear = torch.nn.Linear(k, n, bias=has_bias, device="cuda").requires_grad_(False)
    x = torch.randn(rows, k, device="cuda").requires_grad_(backward)
    grad = torch.randn(rows, n, device="cuda")
    layers = {method: trine.torch.SplitLinear.from_linear(linear, method) for method in METHODS}

    def call(layer, tf32):
        allow_tf32(tf32)
        y = layer(x)
        if backward:
            torch.autograd.grad(y, x, grad)

    calls = {"torch fp32": lambda: call(linear, False), "torch tf32": lambda: call(linear, True)}
    calls.update({method: lambda layer=layer: call(layer, False) for method, layer in layers.items()})
    return calls, linear, x.detach(), layers


def layer_errors(linear, x, layers):
    """rms errors of 64 rows in units of 2^-24 sum |x| |w|."""
    x = x[:: max(1, len(x) // 64)].contiguous()
    w = linear.weight.double()
    bias = 0 if linear.bias is None else linear.bias.double()
    exact, unit = x.double() @ w.T + bias, 2.0**-24 * (x.double().abs() @ w.abs().T)
    outputs = {}
    for name, tf32 in (("torch fp32", False), ("torch tf32", True)):
        allow_tf32(tf32)
        outputs[name] = linear(x)
    outputs.update({method: layer(x) for method, layer in layers.items()})
    return {name: float(((y.double() - exact) / unit).square().mean().sqrt()) for name, y in outputs.items()}


def measure_layers(shapes):
    rows = []
    for (m, n, k, has_bias), count in sorted(shapes.items()):
        row = {"m": m, "n": n, "k": k, "bias": has_bias, "count": count}
        for direction, backward in (("forward", False), ("both", True)):
            calls, linear, x, layers = layer_calls(m, n, k, has_bias, backward)
            row[direction + "_us"] = {name: 1e6 * s for name, s in medians(calls).items()}
        row["error"] = layer_errors(linear, x, layers)
        rows.append(row)
        del calls, linear, x, layers
        torch.cuda.empty_cache()
    return rows


def print_layers(rows):
    names = ["torch fp32", "torch tf32", *METHODS]
    print(f"{'rows':>8} {'n':>5} {'k':>5} {'x':>3}  forward and input gradient, us" + "".join(f"{n:>11}" for n in names))
    for row in rows:
        print(f"{row['m']:8} {row['n']:5} {row['k']:5} {row['count']:3} {'':31}" + "".join(f"{row['both_us'][n]:11.0f}" for n in names))


def speedups(rows, direction):
    """Time of FP32 over that of each other, all layers together."""
    total = {name: sum(r["count"] * r[direction][name] for r in rows) for name in rows[0][direction]}
    return {name: total["torch fp32"] / value for name, value in total.items()}


def evaluations(model, size, structure):
    """{name: function that evaluates (energy, forces)}; the model is patched and restored by them."""
    step, _ = rival_torch.make_step(model, size, structure, False, "cuda")

    def plain(tf32):
        allow_tf32(tf32)
        return step()

    def patched(method):
        allow_tf32(False)
        trine.torch.patch(model, method)
        try:
            return step()
        finally:
            for layer in model.modules():
                if type(layer) is trine.torch.SplitLinear:
                    layer.__class__ = torch.nn.Linear

    calls = {"torch fp32": lambda: plain(False), "torch tf32": lambda: plain(True)}
    calls.update({method: lambda method=method: patched(method) for method in METHODS})
    return calls


def force_errors(model, size, structure):
    """rms error of forces, eV/A, against float64."""
    exact_model = copy.deepcopy(model).double()
    step, _ = rival_torch.make_step(exact_model, size, structure, False, "cuda", torch.float64)
    exact = step()[1]
    return {name: float((call()[1].double() - exact).square().mean().sqrt())
            for name, call in evaluations(model, size, structure).items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", required=True, help="metatrain's wheel")
    parser.add_argument("--large", required=True, metavar="FILE", help="extended XYZ whose layers are timed")
    parser.add_argument("--small", required=True, metavar="FILE", help="extended XYZ whose forces are compared")
    parser.add_argument("--size", default="s32", choices=rival_common.SIZES)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    size = rival_common.SIZES[options.size]
    model = rival_torch.make_model(rival_torch.load_backend(options.wheel), size).cuda()
    errors = force_errors(model, size, rival_common.read_structure(options.small))
    large = rival_common.read_structure(options.large)
    calls = evaluations(model, size, large)
    shapes = layer_shapes(model, calls["torch fp32"])
    milliseconds = {name: 1e3 * s for name, s in medians(calls, seconds=0.5).items()}
    del calls
    torch.cuda.empty_cache()
    rows = measure_layers(shapes)
    print_layers(rows)
    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "size": options.size,
             "atoms": len(large[0]), "layers": rows, "forward": speedups(rows, "forward_us"),
             "both": speedups(rows, "both_us"), "evaluation_ms": milliseconds, "force_error": errors}
    print(f"{'':12}{'layers, x FP32':>16}{'forward alone':>15}{'evaluation, ms':>16}{'force error / FP32':>20}")
    for name in found["both"]:
        print(f"{name:12}{found['both'][name]:16.2f}{found['forward'][name]:15.2f}{milliseconds[name]:16.1f}"
              f"{errors[name] / errors['torch fp32']:20.3f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
