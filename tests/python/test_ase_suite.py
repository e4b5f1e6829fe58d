"""What ASE's own tests ask of a calculator: its cache, files, copies, constraints, filters, other calculators around
it, and how often it computes."""

import copy
import pickle

import ase.build
import ase.db
import ase.io
import numpy as np
import pytest
from ase import units
from ase.calculators.calculator import PropertyNotImplementedError
from ase.calculators.fd import FiniteDifferenceCalculator
from ase.calculators.mixing import MixedCalculator, SumCalculator
from ase.calculators.singlepoint import SinglePointCalculator
from ase.constraints import FixAtoms, FixCom
from ase.filters import FrechetCellFilter, StrainFilter, UnitCellFilter
from ase.mep import NEB
from ase.md.verlet import VelocityVerlet
from ase.optimize import BFGS, FIRE
from conftest import CountedModel

from trine.ase import TrineCalculator


@pytest.fixture
def crystal(mini):
    """Four atoms of platinum out of their places in a cell with no angle of 90 degrees."""
    atoms = ase.build.bulk("Pt", a=3.98, cubic=True)
    atoms.set_cell(atoms.cell.array @ [[1.01, 0, 0.02], [0.01, 0.99, 0], [0, -0.02, 1.02]], scale_atoms=True)
    atoms.rattle(0.05, seed=3)
    atoms.calc = TrineCalculator(mini)
    return atoms


def test_types_and_shapes(crystal):
    found = crystal.get_properties(["energy", "free_energy", "energies", "forces", "stress"])
    assert type(found["energy"]) is float and found["energy"] == found["free_energy"]
    assert found["energies"].shape == (4,) and found["forces"].shape == (4, 3) and found["stress"].shape == (6,)
    assert crystal.get_stress(voigt=False).shape == (3, 3)
    for unknown in ("dipole", "magmom", "charges", "stresses"):
        with pytest.raises(PropertyNotImplementedError):
            crystal.calc.get_property(unknown, crystal)


def test_energies_of_atoms(mini):
    atoms = ase.build.bulk("Pt", a=3.98, cubic=True)
    atoms.calc = TrineCalculator(mini)
    energies = atoms.get_potential_energies()
    np.testing.assert_allclose(energies, energies[0], rtol=1e-5)  # all have the same surroundings
    atoms.rattle(0.05, seed=1)
    assert np.ptp(atoms.get_potential_energies()) > 1e-3
    assert abs(atoms.get_potential_energies().sum() - atoms.get_potential_energy()) < 1e-9


CHANGES = {
    "positions": lambda a: a.positions.__setitem__((0, 0), a.positions[0, 0] + 1e-10),
    "numbers": lambda a: a.numbers.__setitem__(0, 28),
    "cell": lambda a: a.set_cell(1.001 * a.cell.array),
    "pbc": lambda a: a.set_pbc([True, True, False]),
}


@pytest.mark.parametrize("what", CHANGES)
def test_every_change_is_noticed(crystal, what):
    calculator = crystal.calc
    energy, forces = crystal.get_potential_energy(), crystal.get_forces()
    assert calculator.check_state(crystal) == []
    assert not calculator.calculation_required(crystal, ["energy", "forces", "stress", "energies", "free_energy"])
    CHANGES[what](crystal)
    assert calculator.check_state(crystal) == [what]
    assert calculator.calculation_required(crystal, ["energy"])
    assert calculator.get_property("energy", crystal, allow_calculation=False) is None
    found = crystal.get_potential_energy(), crystal.get_forces()
    fresh = crystal.copy()
    fresh.calc = TrineCalculator(calculator.model)
    assert found[0] == fresh.get_potential_energy()
    np.testing.assert_array_equal(found[1], fresh.get_forces())
    assert found[0] != energy or not np.array_equal(found[1], forces)


def test_cache_is_a_copy(crystal):
    """The calculator compares with the atoms as they were, whatever becomes of the object."""
    calculator = crystal.calc
    energy = crystal.get_potential_energy()
    crystal.positions[0] += 0.1
    assert calculator.get_property("energy") == energy  # of the atoms of the last calculation
    assert crystal.get_potential_energy() != energy
    crystal.positions[0] -= 0.1
    calculator.reset()
    assert calculator.results == {} and calculator.atoms is None
    assert crystal.get_potential_energy() == pytest.approx(energy, abs=1e-5)


def test_only_what_is_asked_for(crystal):
    calculator = crystal.calc
    assert calculator.get_property("energy", crystal, allow_calculation=False) is None
    crystal.get_potential_energy()
    assert "forces" not in calculator.results
    assert calculator.calculation_required(crystal, ["energy", "forces"])
    assert not calculator.calculation_required(crystal, ["energy", "free_energy", "energies"])


@pytest.mark.parametrize("name", ["frames.traj", "frames.xyz", "frames.json"])
def test_files(crystal, tmp_path, name):
    wanted = crystal.get_forces(), crystal.get_stress(), crystal.get_potential_energy()
    ase.io.write(tmp_path / name, crystal)
    found = ase.io.read(tmp_path / name)
    assert isinstance(found.calc, SinglePointCalculator)
    digits = 1e-7 if name.endswith("xyz") else 0  # a file of text with eight digits
    for one, other in zip((found.get_forces(), found.get_stress(), found.get_potential_energy()), wanted):
        np.testing.assert_allclose(one, other, rtol=0, atol=digits)
    found.get_forces()[:] = 42
    np.testing.assert_allclose(found.get_forces(), wanted[0], rtol=0, atol=digits)


def test_databases_note_the_calculator(crystal, tmp_path):
    forces = crystal.get_forces()
    with ase.db.connect(tmp_path / "frames.db") as base:
        base.write(crystal)
    row = ase.db.connect(tmp_path / "frames.db").get(1)
    assert row.calculator == crystal.calc.name == "trine"
    assert row.calculator_parameters["model"] == crystal.calc.model.info.path
    assert row.calculator_parameters["precision"] == "fp32"
    np.testing.assert_array_equal(row.forces, forces)


def test_copies(crystal):
    forces = crystal.get_forces()
    assert crystal.copy().calc is None
    for twin in (copy.deepcopy(crystal), pickle.loads(pickle.dumps(crystal))):
        assert twin.calc is not crystal.calc
        assert not twin.calc.calculation_required(twin, ["forces"])
        np.testing.assert_array_equal(twin.get_forces(), forces)
        twin.positions[0] += 0.1
        assert not np.array_equal(twin.get_forces(), forces)
        np.testing.assert_array_equal(crystal.get_forces(), forces)


def test_constraints(crystal):
    free = crystal.get_forces()
    crystal.set_constraint(FixAtoms([1, 2]))
    assert not crystal.get_forces()[[1, 2]].any()
    np.testing.assert_array_equal(crystal.get_forces(apply_constraint=False), free)
    np.testing.assert_array_equal(crystal.get_forces()[[0, 3]], free[[0, 3]])
    crystal.set_constraint(FixCom())
    np.testing.assert_allclose(crystal.get_forces().sum(axis=0), 0, atol=1e-12)


def test_finite_differences_around_it(mini_fp64, crystal):
    crystal.calc = TrineCalculator(mini_fp64)
    energy, forces, stress = crystal.get_potential_energy(), crystal.get_forces(), crystal.get_stress()
    crystal.calc = FiniteDifferenceCalculator(TrineCalculator(mini_fp64), eps_disp=1e-4, eps_strain=1e-5)
    assert crystal.get_potential_energy() == energy
    np.testing.assert_allclose(crystal.get_forces(), forces, rtol=0, atol=1e-6)
    np.testing.assert_allclose(crystal.get_stress(), stress, rtol=0, atol=1e-7)
    crystal.calc = FiniteDifferenceCalculator(TrineCalculator(mini_fp64), eps_disp=None, eps_strain=None)
    np.testing.assert_array_equal(crystal.get_forces(), forces)
    np.testing.assert_array_equal(crystal.get_stress(), stress)


def test_sums_of_calculators(mini, crystal):
    energy, forces, stress = crystal.get_potential_energy(), crystal.get_forces(), crystal.get_stress()
    two = TrineCalculator(mini), TrineCalculator(mini)
    for calculator, factor in ((SumCalculator(two), 2), (MixedCalculator(*two, 0.25, 0.5), 0.75)):
        crystal.calc = calculator
        assert crystal.get_potential_energy() == pytest.approx(factor * energy, rel=1e-14)
        np.testing.assert_allclose(crystal.get_forces(), factor * forces, rtol=1e-12)
        np.testing.assert_allclose(crystal.get_stress(), factor * stress, rtol=1e-12)


@pytest.mark.parametrize("kind", [FrechetCellFilter, UnitCellFilter, StrainFilter])
def test_filters(mini_fp64, crystal, kind):
    """The filter's forces are minus the derivatives of the energy along its coordinates."""
    crystal.calc = TrineCalculator(mini_fp64)
    filtered = kind(crystal)
    rows = len(filtered.get_positions())
    for row, column in ((0, 0), (rows - 1, 2), (rows - 2, 0)):
        energies = []
        for step in (1e-4, -1e-4):
            places = filtered.get_positions()
            places[row, column] += step
            moved = kind(crystal.copy())
            moved.atoms.calc = TrineCalculator(mini_fp64)
            moved.set_positions(places)
            energies.append(moved.atoms.get_potential_energy())
        assert -(energies[0] - energies[1]) / 2e-4 == pytest.approx(filtered.get_forces()[row, column], abs=2e-4)


def test_optimisers_compute_once_a_step(mini, water):
    for optimiser in (BFGS, FIRE):
        model = CountedModel(mini)
        atoms = ase.Atoms(**water)
        atoms.calc = TrineCalculator(model)
        run = optimiser(atoms, logfile=None)
        run.run(fmax=0.05, steps=100)
        assert run.converged() if optimiser is BFGS else run.nsteps > 0
        assert model.gradients == [True] * (run.nsteps + 1)


def test_dynamics_computes_once_a_step(mini, crystal):
    model = CountedModel(mini)
    crystal.calc = TrineCalculator(model)
    run = VelocityVerlet(crystal, timestep=units.fs)
    run.attach(lambda: (crystal.get_potential_energy(), crystal.get_stress()))
    run.run(5)
    assert model.gradients == [True] * 6


def test_images_share_a_calculator(mini, crystal):
    """Each image is computed anew when it is its turn, and rightly."""
    calculator = crystal.calc
    end = crystal.copy()
    end.positions[0] += [0.3, 0, 0]
    images = [crystal.copy() for _ in range(4)] + [end]
    for image in images:
        image.calc = calculator
    band = NEB(images, allow_shared_calculator=True, method="improvedtangent")
    band.interpolate()
    band.get_forces()
    for image in images[1:-1]:
        assert image.get_potential_energy() == mini.evaluate(image)["energy"]
