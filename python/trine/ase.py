"""trine for ASE.

    from trine.ase import TrineCalculator
    atoms.calc = TrineCalculator("trine-mini")
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import ase
import numpy as np
from ase.calculators.calculator import Calculator, all_changes
from ase.outputs import Properties, all_outputs

from . import Model, ModelInfo, load
from ._errors import NotSupportedError, UsageError
from ._structures import conditions

# Rows and columns of a symmetric matrix in the order of Voigt, as ASE has it.
_VOIGT = ((0, 1, 2, 1, 0, 0), (0, 1, 2, 2, 2, 1))
_DIRECT_FORCES, _DIRECT_STRESS = "non_conservative_forces", "non_conservative_stress"
_LARGE_UNCERTAINTY = 0.1  # eV per atom


class TrineCalculator(Calculator):
    """Energy, energies [N], forces (N, 3) and stress [6] of a model, in eV and Angstrom.

    model             a `trine.Model`, or what `trine.load` takes for one
    non_conservative  forces, and stress where the model has that too, of the direct heads instead of -dE/dr: faster,
                      and energy is not conserved. The mean force is removed, stress is symmetrised
    uncertainty       also energy_uncertainty (eV, a standard deviation), energies_uncertainty [N], and, where the
                      model has an ensemble, energy_ensemble [members] and energies_ensemble (N, members), in
                      `results` and by `get_property`; a warning tells of atoms above 0.1 eV
    device, precision, energy, threads, memory_gib, recompute   for `trine.load`; only with a path

    stress is dE/d(strain) / volume, in the order xx, yy, zz, yz, xz, xy; it is there if the cell has a volume.
    free_energy is the energy. Models that are conditioned on the total charge and on 2S+1 take them from
    `atoms.info`: charge, and spin_multiplicity (or spin).

    `implemented_properties` lists what this calculator can do. Raises NotSupportedError for heads and uncertainties
    that the model does not have.
    """

    name = "trine"
    implemented_properties = ["energy", "free_energy", "energies", "forces", "stress"]

    def __init__(self, model: Model | str | os.PathLike[str], *, non_conservative: bool = False,
                 uncertainty: bool = False, **options: Any) -> None:
        super().__init__()
        if isinstance(model, Model) and options:
            raise TypeError(f"{', '.join(options)} cannot be given with a model that is loaded already")
        self.model = model if isinstance(model, Model) else load(model, **options)
        self.non_conservative = non_conservative
        self.uncertainty = uncertainty
        self.implemented_properties = _properties(self.model, non_conservative, uncertainty)

    def set(self, **options: Any) -> dict[str, Any]:
        """Refuses: what a calculator computes is decided when it is made."""
        if options:
            raise UsageError(f"{', '.join(options)} cannot be set (models do not change), make another calculator")
        return {}

    def todict(self, skip_default: bool = True) -> dict[str, Any]:
        """What it computes with, as trajectories and databases of ASE note it."""
        return {"model": self.model.info.path, "energy": self.model.energy, "precision": self.model.precision,
                "non_conservative": self.non_conservative}

    def check_state(self, atoms: ase.Atoms, tol: float = 1e-15) -> list[str]:
        """What differs from the last calculation, of what models know: charge and spin in `atoms.info` too.

        ASE's own, which compares more and is asked several times a step, takes a quarter of a millisecond.
        """
        last = self.atoms
        if last is None:
            return list(all_changes)
        changes = [name for name, one, other in (
            ("positions", last.positions, atoms.positions), ("numbers", last.numbers, atoms.numbers),
            ("cell", last.cell.array, atoms.cell.array), ("pbc", last.pbc, atoms.pbc)) if not _same(one, other, tol)]
        if conditions(last.info) != conditions(atoms.info):
            changes.append("info")
        return changes

    def export_properties(self) -> Properties:
        """Results that ASE has names for."""
        return Properties({name: value for name, value in self.results.items() if name in all_outputs})

    def calculate(self, atoms: ase.Atoms | None = None, properties: Sequence[str] = ("energy",),
                  system_changes: Sequence[str] = all_changes) -> None:
        """Fills `results`; without forces or stress among `properties` neither is computed."""
        super().calculate(atoms, properties, system_changes)
        self.results = {}  # none at all, should the evaluation fail
        wanted = "forces" in properties or "stress" in properties
        result = self.model.evaluate(
            self.atoms, gradients=wanted and not self.non_conservative, direct=wanted and self.non_conservative,
            uncertainty=self.uncertainty)
        results = {"energy": result["energy"], "free_energy": result["energy"], "energies": result["energies"]}
        results.update(_direct(result) if self.non_conservative else _gradients(result))
        results.update((key, value) for key, value in result.items() if key.endswith(("_uncertainty", "_ensemble")))
        self.results = results
        if self.uncertainty and np.any(result["energies_uncertainty"] > _LARGE_UNCERTAINTY):
            warnings.warn(f"the energy uncertainty of atoms is above {_LARGE_UNCERTAINTY} eV, the model may not "
                          "know such surroundings", stacklevel=2)


def _same(one: np.ndarray, other: np.ndarray, tol: float) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind != "f":
        return not (one != other).any()
    return bool((np.abs(one - other) <= tol).all())  # not of NaN


def _gradients(result: dict[str, Any]) -> dict[str, Any]:
    chosen = {}
    if "forces" in result:
        chosen["forces"] = result["forces"]
    if "stress" in result:
        chosen["stress"] = result["stress"][_VOIGT]
    return chosen


def _direct(result: dict[str, Any]) -> dict[str, Any]:
    chosen = {}
    if "direct_forces" in result:
        forces = result["direct_forces"]
        chosen["forces"] = forces - forces.mean(axis=0) if len(forces) else forces
    if "direct_stress" in result:
        stress = result["direct_stress"]
        chosen["stress"] = ((stress + stress.T) / 2)[_VOIGT]
    return chosen


def _has(info: ModelInfo, name: str) -> bool:
    """A target of this name, or variants of it, that can be evaluated?"""
    return any(t.supported and (t.name == name or t.name.startswith(name + "/")) for t in info.targets)


def _properties(model: Model, non_conservative: bool, uncertainty: bool) -> list[str]:
    """What can be asked for, or the error for what the model does not have."""
    properties = list(TrineCalculator.implemented_properties)
    if non_conservative:
        if not _has(model.info, _DIRECT_FORCES):
            _refuse(model.info, "non_conservative", "direct force head")
        if not _has(model.info, _DIRECT_STRESS):
            properties.remove("stress")
    if uncertainty:
        energy = next(t for t in model.info.targets if t.name == model.energy)
        if not energy.uncertainty:
            _refuse(model.info, "uncertainty", f"uncertainty for {model.energy}")
        properties += ["energy_uncertainty", "energies_uncertainty"]
        if energy.ensemble_members > 0:
            properties += ["energy_ensemble", "energies_ensemble"]
    return properties


def _refuse(info: ModelInfo, option: str, lacking: str) -> None:
    names = ", ".join(t.name for t in info.targets)
    raise NotSupportedError(f"{option} is not possible with {info.path} (the model has no {lacking}; its targets are "
                            f"{names}), leave the option out or use another model")
