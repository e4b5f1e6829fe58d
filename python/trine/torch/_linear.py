"""The split linear layer: a custom operator with its gradient, and a module."""

from __future__ import annotations

import functools
from typing import Any, Optional

import torch

from .. import _trine
from .._errors import UsageError
from ._packed import context, packed

METHODS = {name: (fp32_class, meaning) for name, fp32_class, meaning in _trine.gemm_methods()}
_library = torch.library.Library("trine", "DEF")
_library.define("split_linear(Tensor x, Tensor weight, Tensor? bias, str method) -> Tensor")
_library.define("split_linear_input_grad(Tensor grad, Tensor weight, str method) -> Tensor")


def check_method(method: str) -> None:
    if method != "auto" and method not in METHODS:
        raise UsageError(f"unknown method '{method}' (known are auto, {', '.join(METHODS)}), use one of them")


def split_linear(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor] = None,
                 method: str = "fp16x3") -> torch.Tensor:
    """y (..., n) = x (..., k) weight (n, k)^T + bias [n], float32 tensors of one device.

    method  one of `trine.gemm`'s: "fp16x3", "tf32x3", "bf16x6" and "bf16x9" have the accuracy of FP32; "fp32" is
            PyTorch's own product; "auto" is the fastest of these for the shape. A CPU emulates methods, slowly.

    Gradients: with respect to x through the split product, with respect to weight and bias through PyTorch's.
    There is no second derivative: asking for it is a RuntimeError. The packed weight is kept for the next call,
    until the weight changes (see `forget` for what cannot be seen).
    """
    check_method(method)
    for name, tensor in (("x", x), ("weight", weight), ("bias", bias)):
        if tensor is None and name == "bias":
            continue
        if tensor.dtype != torch.float32:
            raise TypeError(f"{name} is {tensor.dtype} (split products take and give float32), convert it")
        if tensor.device != x.device:
            raise TypeError(f"{name} is on {tensor.device} and x on {x.device}, move one of them")
    if weight.dim() != 2 or x.dim() < 1 or x.shape[-1] != weight.shape[1]:
        raise ValueError(f"x has shape {tuple(x.shape)} and weight {tuple(weight.shape)} (the last dimensions of "
                         "both must be equal), transpose or reshape one of them")
    return torch.ops.trine.split_linear(x, weight, bias, method)


def _rows(x: torch.Tensor, columns: int) -> torch.Tensor:
    """x as a matrix whose rows are dense and do not overlap."""
    matrix = x.reshape(-1, columns)
    dense = matrix.stride(1) == 1 and matrix.stride(0) >= columns
    return matrix if dense else matrix.contiguous()


def _choose(method: str, x: torch.Tensor, rows: int, n: int, k: int) -> str:
    if method != "auto":
        return method
    return context(x.get_device()).choose(rows, n, k) if x.is_cuda and rows > 0 else "fp32"


def _forward(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], method: str) -> torch.Tensor:
    n, k = weight.shape
    matrix = _rows(x.detach(), k)
    method = _choose(method, x, matrix.shape[0], n, k)
    if method == "fp32":
        return torch.nn.functional.linear(x, weight, bias)
    return packed(weight, method, bias).forward(matrix).reshape(*x.shape[:-1], n)


def _input_grad(grad: torch.Tensor, weight: torch.Tensor, method: str) -> torch.Tensor:
    n, k = weight.shape
    matrix = _rows(grad.detach(), n)
    method = _choose(method, grad, matrix.shape[0], k, n)
    dx = matrix @ weight if method == "fp32" else packed(weight, method).backward(matrix)
    return dx.reshape(*grad.shape[:-1], k)


for _key in ("CPU", "CUDA"):
    _library.impl("split_linear", _forward, _key)
    _library.impl("split_linear_input_grad", _input_grad, _key)


@functools.partial(torch.library.register_fake, "trine::split_linear", lib=_library)
def _(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor], method: str) -> torch.Tensor:
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


@functools.partial(torch.library.register_fake, "trine::split_linear_input_grad", lib=_library)
def _(grad: torch.Tensor, weight: torch.Tensor, method: str) -> torch.Tensor:
    return grad.new_empty((*grad.shape[:-1], weight.shape[1]))


def _save(ctx: Any, inputs: tuple, output: torch.Tensor) -> None:
    x, weight, bias, method = inputs
    ctx.method = method
    ctx.has_bias = bias is not None
    # x is kept for the weight's gradient alone.
    ctx.save_for_backward(x if weight.requires_grad else None, weight)


def _backward(ctx: Any, grad: torch.Tensor) -> tuple:
    x, weight = ctx.saved_tensors
    dx = dw = db = None
    if ctx.needs_input_grad[0]:
        dx = torch.ops.trine.split_linear_input_grad(grad, weight, ctx.method)
    rows = grad.reshape(-1, weight.shape[0])
    if ctx.needs_input_grad[1]:
        dw = rows.mT @ x.reshape(-1, weight.shape[1])
    if ctx.has_bias and ctx.needs_input_grad[2]:
        db = rows.sum(0)
    return dx, dw, db, None


def _refuse(ctx: Any, grad: torch.Tensor) -> tuple:
    raise RuntimeError("trine's split linear layers have no second derivative (training on forces would need it), "
                       "train with nn.Linear and patch the trained model")


torch.library.register_autograd("trine::split_linear", _backward, setup_context=_save, lib=_library)
torch.library.register_autograd("trine::split_linear_input_grad", _refuse, lib=_library)


class SplitLinear(torch.nn.Linear):
    """An nn.Linear whose products are split: `split_linear(x, self.weight, self.bias, self.method)`."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
                 method: str = "fp16x3") -> None:
        check_method(method)
        super().__init__(in_features, out_features, bias, device=device, dtype=torch.float32)
        self.method = method

    @classmethod
    def from_linear(cls, linear: torch.nn.Linear, method: str = "fp16x3") -> SplitLinear:
        """The layer with the very parameters of `linear`, under the same names."""
        made = cls(linear.in_features, linear.out_features, linear.bias is not None, device="meta", method=method)
        made.weight, made.bias = linear.weight, linear.bias
        return made.train(linear.training)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return split_linear(input, self.weight, self.bias, self.method)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, method={self.method}"
