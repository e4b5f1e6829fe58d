"""Machine-learned interatomic potentials.

    import trine
    model = trine.load("models/trine-mini.ckpt")
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
from ._structures import convert_all, is_single
from ._trine import ModelInfo, TargetInfo

if TYPE_CHECKING:
    import ase

    Structure = Union[ase.Atoms, dict[str, Any]]

_trine.set_cublas_folders(cublas_folders())

__version__ = _trine.__version__
__all__ = ["ConvergenceError", "Error", "InputError", "Model", "ModelInfo", "NotSupportedError",
           "OutOfMemoryError", "TargetInfo", "UsageError", "ValidationError", "load"]


def load(path: str | os.PathLike[str], *, device: str = "auto", precision: str = "fp32", energy: str = "",
         threads: int = 0) -> Model:
    """Loads a model and makes it ready to run.

    path       a metatrain checkpoint (PET); a name such as "trine-mini", the model that comes along, looked for where
               the program looks (docs/command-line.md); or "synthetic:xs|s|s32|m|l" for random weights
    device     "cpu", "cuda" (the first GPU), "cuda:N", or "auto": a GPU if there is one that can be used
    precision  arithmetic of the network: "fp32", "fp64", a method of matrix products such as "fp16x3", which
               a CPU emulates slowly, or "@FILE" for a file with one method per layer
    energy     energy target, such as "energy/pbe"; empty: "energy", or the only one there is
    threads    of a CPU; 0: all cores

    Raises InputError for damaged files, NotSupportedError for models and devices that trine cannot use, and
    UsageError for options that do not exist.
    """
    return Model(_trine.load(os.fspath(path), device=device, precision=precision, energy=energy, threads=threads))


class Model:
    """A model in memory, made by `load`. Threads may share it; their calls take turns."""

    def __init__(self, loaded: _trine.Model) -> None:
        self._loaded = loaded

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
        """As given to `load`."""
        return self._loaded.precision

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
