"""Puts split layers where a model has nn.Linear, and takes them out again."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Iterator
from typing import Optional, Union

import torch

from ._linear import SplitLinear, check_method
from ._packed import forget

Patterns = Optional[Union[str, Iterable[str]]]


@dataclasses.dataclass(frozen=True)
class PatchReport:
    """What `patch` did: layers (name, n, k) that it replaced, and (name, reason) that it left."""

    method: str
    replaced: list[tuple[str, int, int]]
    skipped: list[tuple[str, str]]

    def __str__(self) -> str:
        lines = [f"{len(self.replaced)} layers through {self.method}, {len(self.skipped)} left as they were"]
        lines += [f"  {name}: {n} x {k}" for name, n, k in self.replaced]
        lines += [f"  left {name}: {reason}" for name, reason in self.skipped]
        return "\n".join(lines)


def patch(model: torch.nn.Module, method: str = "fp16x3", include: Patterns = None,
          exclude: Patterns = None) -> PatchReport:
    """Turns the nn.Linear layers of `model`, in place, into SplitLinear; parameters, hooks and names stay.

    include, exclude   names of modules as `model.named_modules()` has them, or patterns with * and ?; without
                       include all layers are meant

    Layers of subclasses of nn.Linear, of other types than float32, and inside TorchScript are left, and named
    in what is returned with the reason.
    """
    check_method(method)
    replaced, skipped = [], []
    for name, layer in linear_layers(model):
        reason = _reason_to_skip(name, layer, _listed(include), _listed(exclude) or [])
        if reason:
            skipped.append((name, reason))
            continue
        # The same object: whoever holds the layer, or has hooks on it, keeps it.
        layer.__class__ = SplitLinear
        layer.method = method
        replaced.append((name, layer.out_features, layer.in_features))
    skipped += [(name, "it is inside TorchScript") for name, module in model.named_modules()
                if isinstance(module, torch.jit.ScriptModule) and getattr(module, "original_name", "") == "Linear"]
    return PatchReport(method, replaced, skipped)


def unpatch(model: torch.nn.Module) -> int:
    """Turns all SplitLinear layers of `model` into nn.Linear and returns how many there were."""
    layers = [layer for _, layer in linear_layers(model) if type(layer) is SplitLinear]
    for layer in layers:
        layer.__class__ = torch.nn.Linear
        del layer.method
    forget(model)
    return len(layers)


def linear_layers(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Linear]]:
    return ((name, m) for name, m in model.named_modules() if isinstance(m, torch.nn.Linear))


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _listed(patterns: Patterns) -> Optional[list[str]]:
    return patterns if patterns is None else [patterns] if isinstance(patterns, str) else list(patterns)


def _reason_to_skip(name: str, layer: torch.nn.Linear, include: Optional[list[str]], exclude: list[str]) -> str:
    if type(layer) not in (torch.nn.Linear, SplitLinear):
        return f"it is a {type(layer).__name__}, not nn.Linear itself"
    if include is not None and not matches(name, include):
        return "include does not name it"
    if matches(name, exclude):
        return "exclude names it"
    if layer.weight.dtype != torch.float32:
        return f"its weight is {layer.weight.dtype}"
    return ""
