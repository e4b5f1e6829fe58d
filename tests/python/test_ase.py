"""The calculator for ASE: its results, its cache, and programs of ASE that use it."""

import ase
import ase.build
import numpy as np
import pytest
from ase.calculators.calculator import PropertyNotImplementedError
from ase.calculators.fd import calculate_numerical_forces, calculate_numerical_stress
from ase.eos import EquationOfState
from ase.optimize import BFGS

import trine
from trine.ase import TrineCalculator


class CountedModel(trine.Model):
    """Counts evaluations, and which had gradients."""

    def __init__(self, model):
        super().__init__(model._loaded)
        self.gradients = []

    def evaluate(self, structures, *, gradients=True, **options):
        self.gradients.append(gradients)
        return super().evaluate(structures, gradients=gradients, **options)


def test_results_are_those_of_the_model(mini, alloy):
    expected = mini.evaluate(alloy)
    alloy.calc = TrineCalculator(mini)
    assert alloy.get_potential_energy() == expected["energy"]
    assert alloy.get_potential_energy(force_consistent=True) == expected["energy"]
    assert np.array_equal(alloy.get_potential_energies(), expected["energies"])
    assert np.array_equal(alloy.get_forces(), expected["forces"])
    assert np.array_equal(alloy.get_stress(voigt=False), expected["stress"])


def test_forces_and_stress_are_derivatives(mini_fp64, alloy):
    alloy.calc = TrineCalculator(mini_fp64)
    alloy.set_cell(alloy.cell.array + [[0, 0.3, 0], [0, 0, 0.2], [0.1, 0, 0]], scale_atoms=True)
    numbers = [0, 7]
    forces = calculate_numerical_forces(alloy, eps=1e-4, iatoms=numbers)
    assert np.abs(forces).max() > 0.1
    np.testing.assert_allclose(alloy.get_forces()[numbers], forces, rtol=0, atol=1e-6)
    stress = calculate_numerical_stress(alloy, eps=1e-5)
    assert np.abs(stress).min() > 1e-4  # so that orders and signs show
    np.testing.assert_allclose(alloy.get_stress(), stress, rtol=0, atol=1e-7)


def test_cache(mini, alloy):
    model = CountedModel(mini)
    alloy.calc = TrineCalculator(model)
    alloy.get_potential_energy()
    assert model.gradients == [False]
    for _ in range(2):
        alloy.get_forces(), alloy.get_stress(), alloy.get_potential_energy(), alloy.get_potential_energies()
    assert model.gradients == [False, True]
    alloy.set_initial_charges(np.ones(len(alloy)))  # of which models know nothing
    alloy.get_forces()
    assert model.gradients == [False, True]
    before = alloy.get_forces()
    alloy.positions[0, 0] += 0.1
    assert not np.array_equal(alloy.get_forces(), before)
    assert model.gradients == [False, True, True]


def test_results_cannot_be_changed_from_outside(mini, alloy):
    alloy.calc = TrineCalculator(mini)
    before = alloy.get_forces()
    alloy.get_forces()[:] = 0
    assert np.array_equal(alloy.get_forces(), before)


def test_charge_and_spin_come_from_info(conditioned, water):
    atoms = ase.Atoms(**water)
    atoms.calc = TrineCalculator(conditioned)
    neutral = atoms.get_potential_energy()
    atoms.info["charge"] = -1
    atoms.info["spin_multiplicity"] = 2
    ion = atoms.get_potential_energy()
    assert ion == conditioned.evaluate({**water, "charge": -1, "spin": 2})["energy"] != neutral
    del atoms.info["charge"], atoms.info["spin_multiplicity"]
    assert atoms.get_potential_energy() == neutral
    atoms.info["spin"] = 3
    assert atoms.get_potential_energy() == conditioned.evaluate({**water, "spin": 3})["energy"] != neutral


def test_no_stress_without_a_volume(mini, water):
    atoms = ase.Atoms(**water)
    atoms.calc = TrineCalculator(mini)
    with pytest.raises(PropertyNotImplementedError):
        atoms.get_stress()
    assert np.all(np.isfinite(atoms.get_forces()))


def test_errors(mini, model_path, water):
    atoms = ase.Atoms(**water)
    atoms.calc = TrineCalculator(mini)
    energy = atoms.get_potential_energy()
    atoms.numbers[2] = 3
    for _ in range(2):
        with pytest.raises(trine.InputError, match="atom 3 is Li"):
            atoms.get_potential_energy()
    atoms.numbers[2] = 1
    assert atoms.get_potential_energy() == energy
    with pytest.raises(TypeError, match="device cannot be given"):
        TrineCalculator(mini, device="cpu")
    calculator = TrineCalculator(model_path, device="cpu", precision="fp64", threads=1)
    assert calculator.model.precision == "fp64"


def test_relaxation(mini, water):
    atoms = ase.Atoms(**water)
    atoms.calc = TrineCalculator(mini)
    start = atoms.get_potential_energy()
    assert BFGS(atoms, logfile=None).run(fmax=0.01, steps=50)
    assert np.linalg.norm(atoms.get_forces(), axis=1).max() <= 0.01
    assert atoms.get_potential_energy() < start


def test_equation_of_state(mini):
    volumes, energies = [], []
    for a in np.linspace(3.85, 4.10, 6):
        crystal = ase.build.bulk("Pt", a=a)
        crystal.calc = TrineCalculator(mini)
        volumes.append(crystal.get_volume())
        energies.append(crystal.get_potential_energy())
    volume, _, modulus = EquationOfState(volumes, energies).fit()
    assert volumes[0] < volume < volumes[-1]
    assert modulus > 0
