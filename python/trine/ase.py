"""trine for ASE.

    from trine.ase import TrineCalculator
    atoms.calc = TrineCalculator("models/trine-mini.ckpt")
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import ase
from ase.calculators.calculator import Calculator, all_changes

from . import Model, load
from ._structures import conditions

# Rows and columns of a symmetric matrix in the order of Voigt, as ASE has it.
_VOIGT = ((0, 1, 2, 1, 0, 0), (0, 1, 2, 2, 2, 1))


class TrineCalculator(Calculator):
    """Energy, energies [N], forces (N, 3) and stress [6] of a model, in eV and Angstrom.

    model   a `trine.Model`, or what `trine.load` takes for one
    device, precision, energy, threads   for `trine.load`; only with a path

    stress is dE/d(strain) / volume, in the order xx, yy, zz, yz, xz, xy; it is there if the cell has a volume.
    free_energy is the energy. Models that are conditioned on the total charge and on 2S+1 take them from
    `atoms.info`: charge, and spin_multiplicity (or spin).
    """

    implemented_properties = ["energy", "free_energy", "energies", "forces", "stress"]
    # Models know the total charge and spin multiplicity, nothing of single atoms.
    ignored_changes = {"initial_charges", "initial_magmoms"}

    def __init__(self, model: Model | str | os.PathLike[str], **options) -> None:
        super().__init__()
        if isinstance(model, Model) and options:
            raise TypeError(f"{', '.join(options)} cannot be given with a model that is loaded already")
        self.model = model if isinstance(model, Model) else load(model, **options)

    def check_state(self, atoms: ase.Atoms, tol: float = 1e-15) -> list[str]:
        """What differs from the last calculation; ASE does not look at `atoms.info`."""
        changes = super().check_state(atoms, tol=tol)
        if self.atoms is not None and conditions(self.atoms.info) != conditions(atoms.info):
            changes.append("info")
        return changes

    def calculate(self, atoms: ase.Atoms | None = None, properties: Sequence[str] = ("energy",),
                  system_changes: Sequence[str] = all_changes) -> None:
        """Fills `results`; without forces or stress among `properties` there are no gradients."""
        super().calculate(atoms, properties, system_changes)
        gradients = "forces" in properties or "stress" in properties
        result = self.model.evaluate(self.atoms, gradients=gradients)
        self.results = {"energy": result["energy"], "free_energy": result["energy"], "energies": result["energies"]}
        if gradients:
            self.results["forces"] = result["forces"]
        if "stress" in result:
            self.results["stress"] = result["stress"][_VOIGT]
