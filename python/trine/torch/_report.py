"""Errors of every linear layer of a model against float64, on the numbers that the model itself computes with."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Optional

import torch

from .._errors import UsageError
from ._linear import METHODS, check_method
from ._packed import packed
from ._patch import Patterns, _listed, linear_layers, matches

_UNIT = 2.0**-24


@dataclasses.dataclass(frozen=True)
class LayerRow:
    """Errors of one product, in units of 2^-24 sum |x| |w|: for each method (rms, largest)."""

    name: str
    direction: str  # "forward" or "input gradient"
    rows: int  # of x, all calls together
    n: int
    k: int
    errors: dict[str, tuple[float, float]]


@dataclasses.dataclass(frozen=True)
class LayerReport:
    """What `report` found; str() is a table."""

    methods: list[str]
    layers: list[LayerRow]
    output: Any

    def to_dict(self) -> dict[str, Any]:
        return {"methods": self.methods, "layers": [dataclasses.asdict(row) for row in self.layers]}

    def worst(self, method: str) -> float:
        """The largest rms error of `method` over that of fp32, of all layers."""
        ratios = [row.errors[method][0] / row.errors["fp32"][0] for row in self.layers if row.errors["fp32"][0] > 0]
        return max(ratios, default=0.0)

    def __str__(self) -> str:
        width = max([len(row.name) for row in self.layers], default=5)
        head = f"{'layer':{width}}  {'product':14} {'rows':>9} {'n':>5} {'k':>5}  {'fp32':>6}"
        lines = ["rms error in 2^-24 |x| |w|, of methods over fp32's", head + "".join(f" {m:>8}" for m in self.methods)]
        for row in self.layers:
            fp32 = row.errors["fp32"][0]
            ratios = "".join(f" {row.errors[m][0] / fp32 if fp32 else float('nan'):8.3f}" for m in self.methods)
            lines.append(f"{row.name:{width}}  {row.direction:14} {row.rows:9} {row.n:5} {row.k:5}  {fp32:6.3f}{ratios}")
        return "\n".join(lines)


def report(model: torch.nn.Module, inputs: Any, methods: Optional[Sequence[str]] = None, include: Patterns = None,
           exclude: Patterns = None, rows: int = 64) -> LayerReport:
    """Runs `model` once and compares every linear layer's products with float64.

    inputs    a tuple of arguments, a dictionary of keyword arguments, or one argument
    methods   to compare with fp32; by default those of FP32 accuracy
    include, exclude   as for `patch`
    rows      of each layer's input that are compared, spread over all

    Products for input gradients are compared where the model computes them, which potentials do that return
    forces. float64 is computed on the device of the layer.
    """
    methods = [m for m, (fp32_class, _) in METHODS.items() if fp32_class and m != "fp32"] if methods is None else list(methods)
    for method in methods:
        check_method(method)
        if method in ("auto", "fp32"):
            raise UsageError(f"{method} is nothing to compare (fp32 is compared in any case), leave it out")
    watch = _Watch(methods, rows)
    wanted, unwanted = _listed(include), _listed(exclude) or []
    with contextlib.ExitStack() as hooks:
        for name, layer in linear_layers(model):
            if layer.weight.dtype == torch.float32 and (wanted is None or matches(name, wanted)) and not matches(name, unwanted):
                hooks.callback(layer.register_forward_hook(watch.hook(name, layer)).remove)
        output = model(*inputs) if isinstance(inputs, tuple) else model(**inputs) if isinstance(inputs, dict) else model(inputs)
    return LayerReport(methods, list(watch.layers()), output)


@dataclasses.dataclass
class _Sums:
    n: int
    k: int
    rows: int = 0
    count: int = 0
    squares: dict[str, float] = dataclasses.field(default_factory=dict)
    largest: dict[str, float] = dataclasses.field(default_factory=dict)


class _Watch:
    """Collects errors, call by call."""

    def __init__(self, methods: list[str], rows: int) -> None:
        self.methods, self.rows = methods, rows
        self.sums: dict[tuple[str, str], _Sums] = {}

    def hook(self, name: str, layer: torch.nn.Linear) -> Any:
        def compare(module: torch.nn.Module, arguments: tuple, output: torch.Tensor) -> None:
            weight = layer.weight
            self.compare((name, "forward"), arguments[0].detach(), weight.detach(),
                         lambda method, x: packed(weight, method, None).forward(x))
            if output.requires_grad:
                output.register_hook(lambda grad: self.compare(
                    (name, "input gradient"), grad.detach(), weight.detach().mT,
                    lambda method, dy: packed(weight, method, None).backward(dy)))
        return compare

    def compare(self, key: tuple[str, str], x: torch.Tensor, w: torch.Tensor, multiply: Any) -> None:
        """Products of x with w (n, k); multiply(method, x) is that by a method."""
        n, k = w.shape
        x = x.reshape(-1, k)
        sums = self.sums.setdefault(key, _Sums(n, k))
        sums.rows += x.shape[0]
        if not x.shape[0]:
            return
        x = x[:: -(-x.shape[0] // self.rows)].contiguous()
        exact = x.double() @ w.double().mT
        unit = _UNIT * (x.double().abs() @ w.double().abs().mT)
        sums.count += exact.numel()
        for method in ["fp32", *self.methods]:
            product = _plain(x, w) if method == "fp32" else multiply(method, x)
            errors = torch.where(unit > 0, (product.double() - exact) / unit, 0)
            sums.squares[method] = sums.squares.get(method, 0.0) + float((errors**2).sum())
            sums.largest[method] = max(sums.largest.get(method, 0.0), float(errors.abs().max()))

    def layers(self) -> Iterator[LayerRow]:
        for (name, direction), sums in self.sums.items():
            if sums.count:
                errors = {m: ((sums.squares[m] / sums.count)**0.5, sums.largest[m]) for m in sums.squares}
                yield LayerRow(name, direction, sums.rows, sums.n, sums.k, errors)


def _plain(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The product in FP32, whatever the program allows."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        return x @ w.mT
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
