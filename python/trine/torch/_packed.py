"""Weights in the words of a method, kept as long as they hold what the weight holds.

A packed weight is good for one tensor object, its address, and its version, which every in-place operation
counts up. That is autograd's own rule for tensors it has saved, and has the same gap: what is written through
`tensor.data` is not seen. `forget` drops what is kept.
"""

from __future__ import annotations

import functools
import threading
from typing import Any, Optional

import torch
from torch.utils.weak import TensorWeakRef, WeakTensorKeyDictionary

from .. import _trine

_ALIGNMENT = 256
_FEW_ROWS = 512  # so many rows may gain from a workspace (docs/gemm.md)
_lock = threading.RLock()
_kept: WeakTensorKeyDictionary = WeakTensorKeyDictionary()  # weight -> {method: entry}
_freed_later: list[_trine.GemmWeight] = []


@functools.lru_cache(maxsize=None)
def context(device: int) -> _trine.GemmContext:
    """The products of a GPU; made once."""
    return _trine.GemmContext(device)


def forget(model: Optional[torch.nn.Module] = None) -> None:
    """Drops the packed weights of a model, or all: for weights that were written through `.data`."""
    with _lock:
        for tensor in list(_kept) if model is None else list(model.parameters()):
            _kept.pop(tensor, None)


class _OnGpu:
    """A weight packed on a GPU.

    What is kept has memory of its own: PyTorch's would belong to whichever pool is in use at the time, such as that of
    a CUDA graph. What is packed in a graph has PyTorch's, which the graph keeps.
    """

    def __init__(self, weight: torch.Tensor, method: str, in_graph: bool) -> None:
        self.gemm = context(weight.get_device())
        self.device = weight.device
        self.n, self.k = weight.shape
        address = 0
        if in_graph:
            size = self.gemm.packed_bytes(method, self.n, self.k)
            self.memory = torch.empty(size + _ALIGNMENT, dtype=torch.uint8, device=weight.device)
            address = self.memory.data_ptr() + -self.memory.data_ptr() % _ALIGNMENT
        else:
            _freed_later.clear()
        self.packed = self.gemm.place(method, self.n, self.k, address)
        self.stream: Any = None
        self.done: Any = None

    def __del__(self) -> None:
        if hasattr(self, "packed") and torch.cuda.is_current_stream_capturing():
            _freed_later.append(self.packed)  # a capture forbids to free memory

    def pack(self, weight: torch.Tensor, bias: Optional[torch.Tensor]) -> None:
        weight = weight.detach()
        rows = weight if weight.stride(1) == 1 and weight.stride(0) >= self.k else weight.contiguous()
        self.stream = torch.cuda.current_stream(self.device)
        self.gemm.repack(self.packed, rows.data_ptr(), rows.stride(0),
                         0 if bias is None else bias.detach().contiguous().data_ptr(), self.stream.cuda_stream)
        self.done = None
        if not torch.cuda.is_current_stream_capturing():
            self.done = torch.cuda.Event()
            self.done.record(self.stream)

    def _start(self) -> int:
        """Makes the current stream wait for the words, and returns its handle."""
        stream = torch.cuda.current_stream(self.device)
        # A capture begins after all work of the device has ended, and may not wait for what is outside.
        if stream != self.stream and self.done is not None and not torch.cuda.is_current_stream_capturing():
            stream.wait_event(self.done)
        return stream.cuda_stream

    def _workspace(self, x: torch.Tensor) -> Optional[torch.Tensor]:
        rows = x.shape[0]
        if rows > _FEW_ROWS and x.data_ptr() % 16 == 0 and x.stride(0) % 4 == 0:
            return None
        size = self.gemm.workspace_bytes(self.packed, rows)
        return torch.empty(size, dtype=torch.uint8, device=x.device) if size else None

    def _run(self, product: Any, x: torch.Tensor, columns: int) -> torch.Tensor:
        y = torch.empty((x.shape[0], columns), dtype=torch.float32, device=x.device)
        if not x.shape[0]:
            return y
        workspace = self._workspace(x)
        product(self.packed, x.shape[0], x.data_ptr(), x.stride(0), y.data_ptr(), columns,
                0 if workspace is None else workspace.data_ptr(), self._start())
        return y

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._run(self.gemm.forward, x, self.n)

    def backward(self, dy: torch.Tensor) -> torch.Tensor:
        return self._run(self.gemm.backward, dy, self.k)


class _OnCpu:
    """The same arithmetic, emulated (slow)."""

    def __init__(self, weight: torch.Tensor, method: str, in_graph: bool) -> None:
        self.method = method
        self.n, self.k = weight.shape

    def pack(self, weight: torch.Tensor, bias: Optional[torch.Tensor]) -> None:
        rows = weight.detach().contiguous()
        self.gemm = _trine.EmulatedGemm(self.method, "sm_90", rows.data_ptr(), rows.stride(0), self.n, self.k)
        self.bias = None if bias is None else bias.detach().clone()

    def _run(self, product: Any, x: torch.Tensor, columns: int) -> torch.Tensor:
        y = torch.empty((x.shape[0], columns), dtype=torch.float32)
        if x.shape[0]:
            product(x.shape[0], x.data_ptr(), x.stride(0), y.data_ptr(), columns, torch.get_num_threads())
        return y

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self._run(self.gemm.forward, x, self.n)
        return y if self.bias is None else y + self.bias

    def backward(self, dy: torch.Tensor) -> torch.Tensor:
        return self._run(self.gemm.backward, dy, self.k)


_ANY = object()  # a bias that the caller has no use for


class _Entry:
    """A packed weight and what it was packed from."""

    def __init__(self, weight: torch.Tensor, method: str, in_graph: bool = False) -> None:
        self.packed = (_OnGpu if weight.is_cuda else _OnCpu)(weight, method, in_graph)
        self.weight: Any = None
        self.bias: Any = None

    def holds(self, weight: torch.Tensor, bias: Any) -> bool:
        if self.weight != _stamp(weight):
            return False
        if bias is _ANY or bias is None or self.bias is None:
            return bias is _ANY or bias is self.bias
        reference, stamp = self.bias
        return reference() is bias and stamp == _stamp(bias)

    def pack(self, weight: torch.Tensor, bias: Any) -> None:
        bias = None if bias is _ANY else bias
        self.packed.pack(weight, bias)
        self.weight = _stamp(weight)
        self.bias = None if bias is None else (TensorWeakRef(bias), _stamp(bias))


def _stamp(tensor: torch.Tensor) -> tuple:
    version = -1 if tensor.is_inference() else tensor._version
    return tensor.data_ptr(), version, tensor.shape, tensor.stride(), tensor.device


def packed(weight: torch.Tensor, method: str, bias: Any = _ANY) -> Any:
    """`weight` in the words of `method`, with `forward(x)`, `backward(dy)` for matrices with dense rows.

    While a CUDA graph is captured, weights that may change (they require gradients, or are not packed
    already) are packed as a part of the graph, so that a replay sees what they hold then.
    """
    with _lock:
        capturing = weight.is_cuda and torch.cuda.is_current_stream_capturing()
        entry = _kept.get(weight, {}).get(method)
        if entry is not None and entry.holds(weight, bias) and not (capturing and weight.requires_grad):
            return entry.packed
        # Inference tensors count no versions: nothing that is packed from them can be kept.
        if capturing or weight.is_inference() or (isinstance(bias, torch.Tensor) and bias.is_inference()):
            entry = _Entry(weight, method, capturing)
        elif entry is None or entry.weight[2:] != _stamp(weight)[2:]:
            entry = _kept.setdefault(weight, {})[method] = _Entry(weight, method)
        entry.pack(weight, bias)
        return entry.packed
