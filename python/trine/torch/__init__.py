"""Linear layers of any PyTorch model through split matrix products, with the accuracy of FP32.

    import trine.torch
    print(trine.torch.patch(model, "fp16x3"))     # replaces what is nn.Linear, says what it did
    print(trine.torch.report(model, inputs))      # errors of every layer against float64

`split_linear` is the function, `SplitLinear` the module. The forward product and the input's gradient are
split; gradients of weights and biases take PyTorch's own product. Needs PyTorch 2.4 or later.
"""

from __future__ import annotations

try:
    import torch as _torch
except ImportError as error:
    raise ImportError("trine.torch needs PyTorch 2.4 or later (it is not installed), install torch") from error
if not hasattr(_torch.library, "register_autograd"):
    raise ImportError(f"trine.torch needs PyTorch 2.4 or later (this is {_torch.__version__}), install a newer one")

from ._linear import SplitLinear, split_linear
from ._packed import forget
from ._patch import PatchReport, patch, unpatch
from ._report import LayerReport, report

__all__ = ["LayerReport", "PatchReport", "SplitLinear", "forget", "patch", "report", "split_linear", "unpatch"]
