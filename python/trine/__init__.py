"""Machine-learned interatomic potentials.

    import trine
    model = trine.load("trine-mini")
    results = model.evaluate({"numbers": [8, 1, 1], "positions": [[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]]})
    results["energy"], results["forces"]

`trine.ase.TrineCalculator` is the same for ASE. Lengths are in Angstrom, energies in eV.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Union, overload

from trine_program import cublas_folders

from . import _trine
from ._errors import (ConvergenceError, Error, InputError, NotSupportedError, OutOfMemoryError, UsageError,
                      ValidationError)
from ._streams import stream_handle
from ._structures import convert_all, is_single
from ._trine import ModelInfo, TargetInfo

if TYPE_CHECKING:
    import ase

    Structure = Union[ase.Atoms, dict[str, Any]]

_trine.set_cublas_folders(cublas_folders())

__version__ = _trine.__version__
__all__ = ["ConvergenceError", "Error", "InputError", "Model", "ModelInfo", "NotSupportedError",
           "OutOfMemoryError", "TargetInfo", "UsageError", "ValidationError", "load"]


def load(path: str | os.PathLike[str], *, device: str = "auto", precision: str = "auto", energy: str = "",
         threads: int = 0, memory_gib: float = 0, recompute: str = "auto") -> Model:
    """Loads a model and makes it ready to run.

    path       a metatrain checkpoint (PET); a name such as "trine-mini", the model that comes along, looked for where
               the program looks (docs/command-line.md); or "synthetic:xs|s|s32|m|l" for random weights
    device     "cpu", "cuda" (the first GPU), "cuda:N", or "auto": a GPU if there is one that can be used
    precision  arithmetic of the network: "fp32", "fp64", a method of matrix products such as "fp16x3", which
               a CPU emulates slowly, "@FILE" for a file with one method per layer, or "auto": fp32 on a CPU, and
               on a GPU the fastest that a certificate allows. That is made of the first structure that is
               evaluated, which takes some seconds, and kept for the next time, as `trine --precision auto` does
    energy     energy target, such as "energy/pbe" or "pbe"; empty: "energy", or the only one there is
    threads    of a CPU; 0: all cores
    memory_gib GiB that intermediates may take; 0: of a GPU's free memory 0.9, of the host's half
    recompute  what gradients compute twice to save memory: "none", "light", "layer", or "auto": as little as
               the memory allows. No bit of a result depends on it

    Raises InputError for damaged files, NotSupportedError for models and devices that trine cannot use, and
    UsageError for options that do not exist.
    """
    options: dict[str, Any] = {"device": device, "precision": precision, "energy": energy, "threads": threads,
                               "memory_gib": memory_gib, "recompute": recompute}
    return Model(_trine.load(os.fspath(path), **options), options)


class Model:
    """A model in memory, made by `load`. Threads may share it; their calls take turns.

    It never changes, so that copies are the model itself. A pickle holds its path and options.
    """

    def __init__(self, loaded: _trine.Model, options: dict[str, Any]) -> None:
        self._loaded = loaded
        self._options = options

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        path = self.info.path
        return _load_again, (os.path.abspath(path) if os.path.exists(path) else path, self._options)

    def __repr__(self) -> str:
        return (f"<trine.Model {self.info.name or self.info.path!r}, {self.energy}, "
                f"{self.precision} on {self.device}>")

    @property
    def info(self) -> ModelInfo:
        """What the checkpoint holds: path, name, species, targets, cutoff, hypers, metadata and so on."""
        return self._loaded.info

    @property
    def device(self) -> str:
        """"cpu" or "cuda:N"."""
        return self._loaded.device

    @property
    def precision(self) -> str:
        """As given to `load`; of "auto" what was chosen, once it was."""
        return self._loaded.precision

    @property
    def precision_reason(self) -> str:
        """Why "auto" chose it on a GPU; empty if nothing was chosen."""
        return self._loaded.precision_reason

    @property
    def energy(self) -> str:
        """The energy target that is evaluated."""
        return self._loaded.energy

    @property
    def threads(self) -> int:
        """Threads of a CPU."""
        return self._loaded.threads

    @overload
    def evaluate(self, structures: Structure, *, gradients: bool = ..., direct: bool = ..., uncertainty: bool = ...,
                 last_layer_features: bool = ...) -> dict[str, Any]: ...

    @overload
    def evaluate(self, structures: Iterable[Structure], *, gradients: bool = ..., direct: bool = ...,
                 uncertainty: bool = ..., last_layer_features: bool = ...) -> list[dict[str, Any]]: ...

    def evaluate(self, structures, *, gradients=True, direct=False, uncertainty=False, last_layer_features=False):
        """Energies, forces and more of one structure, or of several in one pass.

        `structures` is one structure or an iterable of them. A structure is an `ase.Atoms`, whose `info` may hold
        charge and spin_multiplicity (or spin), or a dictionary of

            numbers           [N] atomic numbers
            positions         (N, 3) Angstrom; atoms may lie outside the cell
            cell              (3, 3) rows are lattice vectors, Angstrom; zero if not given
            pbc               [3] or one for all: periodic along each lattice vector; False if not given
            charge            total charge, e; for models that are conditioned on it
            spin_multiplicity 2S+1, also called spin; likewise

        Returns a dictionary, or a list of them in the order of the structures, each bit for bit what the structure
        gives alone. Arrays are float64 unless said otherwise, and belong to the caller:

            energy            float, eV, composition included
            energies          [N] eV
            forces            (N, 3) eV/Angstrom, -dE/dr (gradients)
            strain_gradient   (3, 3) eV, dE/d(strain) at zero strain for x' = x (1 + strain) (gradients)
            stress            (3, 3) eV/Angstrom^3, strain_gradient / volume, symmetrised (gradients, if the cell
                              has a volume)
            adaptive_cutoff   [N] Angstrom
            num_neighbors     [N] int64, edges kept
            list_edges        int, directed pairs within the full cutoff
            direct_forces     (N, 3) eV/Angstrom, the head's own output, its mean not removed (direct, if the model
                              has the head)
            direct_stress     (3, 3) eV/Angstrom^3 (likewise)
            last_layer_features    (N, F) of the energy head (last_layer_features)
            energy_uncertainty     float, eV, standard deviation of the energy (uncertainty)
            energies_uncertainty   [N] eV (uncertainty)
            energy_ensemble        [members] eV (uncertainty, if the model has an ensemble)
            energies_ensemble      (N, members) eV (likewise)

        Other threads of Python run in the meantime. Raises InputError for structures that cannot be evaluated,
        counted from 0, and NotSupportedError for what the model does not have.
        """
        results = self._loaded.evaluate(
            convert_all(structures), gradients=gradients, direct=direct, uncertainty=uncertainty,
            last_layer_features=last_layer_features)
        return results[0] if is_single(structures) else results

    def evaluate_on_device(self, structures: Structure | Iterable[Structure], *, positions: Any = None,
                           cells: Any = None, energy: Any = None, energies: Any = None, forces: Any = None,
                           strain_gradient: Any = None, direct_forces: Any = None, stream: Any = None) -> None:
        """Evaluates from arrays to arrays in the memory of the model's device; nothing is copied.

        `structures` is what `evaluate` takes: what the atoms are, on the host. Dictionaries may lack positions and
        cell where these are given as arrays, which count in any case. Arrays are those of PyTorch, CuPy, NumPy and
        all that speak DLPack or have `__cuda_array_interface__`: float64, dense row by row, on the GPU of the model, or
        in the host's memory if that is where it computes. N atoms of all B structures lie end to end; of one
        structure the length B may be left out.

            positions        (N, 3) in, Angstrom
            cells            (B, 3, 3) in, rows are lattice vectors, Angstrom
            energy           [B] out, eV, composition included
            energies         [N] out, eV
            forces           (N, 3) out, eV/Angstrom
            strain_gradient  (B, 3, 3) out, eV, dE/d(strain), not symmetrised
            direct_forces    (N, 3) out, eV/Angstrom, the head's own output, its mean not removed

        Only arrays that are given are written, with the bits of `evaluate`. On a GPU the work comes after all that
        `stream` holds at the call and before all that it is given later; the call returns while the network is
        computed. stream is one of PyTorch or CuPy, or the number of a cudaStream_t; None is the legacy default
        stream, where both work unless told otherwise. Arrays that are in use on other streams have to be waited for
        by the caller. PyTorch's autograd sees nothing of it. Energies that are not finite are no error here.

        Raises UsageError for arrays that cannot be used as they are, and what `evaluate` raises.
        """
        given = [key for key, array in (("positions", positions), ("cell", cells)) if array is not None]
        self._loaded.evaluate_on_device(
            convert_all(structures, given), positions=positions, cells=cells, energy=energy, energies=energies,
            forces=forces, strain_gradient=strain_gradient, direct_forces=direct_forces, stream=stream_handle(stream))


def _load_again(path: str, options: dict[str, Any]) -> Model:
    return load(path, **options)
