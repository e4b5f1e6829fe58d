"""The calculator for ASE: its results, its cache, and programs of ASE that use it."""

import ase
import numpy as np
import pytest
from ase.calculators.calculator import PropertyNotImplementedError
from ase.calculators.fd import calculate_numerical_forces, calculate_numerical_stress
from conftest import CountedModel

import trine
from trine.ase import TrineCalculator


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


def test_errors(mini, model_path, water, device):
    atoms = ase.Atoms(**water)
    atoms.calc = TrineCalculator(mini)
    energy = atoms.get_potential_energy()
    atoms.numbers[2] = 3
    for _ in range(2):
        with pytest.raises(trine.InputError, match="atom 3 is Li"):
            atoms.get_potential_energy()
    atoms.numbers[2] = 1
    assert atoms.get_potential_energy() == energy
    wrong = atoms.copy()
    wrong.numbers[2] = 3
    with pytest.raises(trine.InputError):
        atoms.calc.calculate(wrong, ["energy"])
    with pytest.raises(trine.InputError):  # nothing of the atoms before is left
        atoms.calc.get_property("energy", wrong)
    with pytest.raises(TypeError, match="device cannot be given"):
        TrineCalculator(mini, device="cpu")
    calculator = TrineCalculator(model_path, device=device, precision="fp64", threads=1)
    assert calculator.model.precision == "fp64"


def test_direct_heads(mini, reference_path, device, alloy):
    direct = mini.evaluate(alloy, gradients=False, direct=True)["direct_forces"]
    alloy.calc = TrineCalculator(mini, non_conservative=True)
    np.testing.assert_array_equal(alloy.get_forces(), direct - direct.mean(axis=0))
    assert np.abs(direct.mean(axis=0)).max() > 1e-6  # so that it makes a difference
    assert alloy.get_potential_energy() == mini.evaluate(alloy)["energy"]
    assert "stress" not in alloy.calc.implemented_properties  # trine-mini has no head for it
    with pytest.raises(PropertyNotImplementedError):
        alloy.get_stress()

    model = trine.load(reference_path("direct_heads"), device=device, precision="fp64", threads=1)
    direct = model.evaluate(alloy, gradients=False, direct=True)["direct_stress"]
    assert np.abs(direct).max() > 0.01
    alloy.calc = TrineCalculator(model, non_conservative=True)
    np.testing.assert_array_equal(alloy.get_stress(voigt=False), (direct + direct.T) / 2)


def test_uncertainty(mini, alloy):
    expected = mini.evaluate(alloy, uncertainty=True)
    alloy.calc = TrineCalculator(mini, uncertainty=True)
    with pytest.warns(UserWarning, match="uncertainty of atoms is above 0.1 eV"):
        crowded = alloy.copy()
        crowded.set_positions(alloy.positions * 0.8)  # which no model has seen
        alloy.calc.get_property("forces", crowded)
    names = ["energy_uncertainty", "energies_uncertainty", "energy_ensemble", "energies_ensemble"]
    for name in names:
        assert name in alloy.calc.implemented_properties
        np.testing.assert_array_equal(alloy.calc.get_property(name, alloy), expected[name])
    assert not set(names) & set(TrineCalculator(mini).implemented_properties)
    exported = alloy.calc.export_properties()
    assert "energy" in exported and "energy_uncertainty" not in exported  # of which ASE knows nothing


def test_what_a_model_lacks(conditioned):
    for option, lacking in (("non_conservative", "direct force head"), ("uncertainty", "uncertainty for energy")):
        with pytest.raises(trine.NotSupportedError, match=f"{option} is not possible with .*has no {lacking}"):
            TrineCalculator(conditioned, **{option: True})


def test_options_are_those_of_the_construction(mini):
    calculator = TrineCalculator(mini)
    with pytest.raises(trine.UsageError, match="precision cannot be set"):
        calculator.set(precision="fp64")
    assert calculator.set() == {}
