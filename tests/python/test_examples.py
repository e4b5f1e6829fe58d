"""The examples of ASE, run as they are: what they print is right."""

import importlib.util
import pathlib
import re

import pytest
from conftest import ROOT

EXAMPLES = ROOT / "examples/python"


@pytest.fixture
def numbers(mini, capsys):
    """Runs an example with trine-mini; the numbers that it prints, line by line."""

    def run(name):
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
        example.main(mini)
        return [[float(n) for n in re.findall(r"-?\d+\.\d+", line)]
                for line in capsys.readouterr().out.splitlines()]

    return run


def test_geometry_optimisation(numbers):
    start, end = numbers("geometry_optimisation")
    (energy_before, force_before, pressure_before, _), (energy, force, pressure, volume) = start, end
    assert energy < energy_before
    assert force <= 0.02 < force_before
    assert abs(pressure) < 0.1 < abs(pressure_before)
    assert 10 < volume < 13


def test_nve(numbers):
    (picoseconds, temperature, potential, total, drift), = numbers("nve")
    assert picoseconds == 0.2
    assert 150 < temperature < 450  # half of 600 K has become potential energy; 93 coordinates fluctuate by 15 %
    assert total < 0.01 * potential  # meV/atom: what is exchanged is a hundred times what is lost
    assert abs(drift) < 0.5  # meV/atom/ps


def test_phonons(numbers):
    gamma, x, longitudinal_at_l = numbers("phonons")
    # The acoustic sum rule: 0.02 THz is a force constant of fp32's rounding, 5e-6 eV/A over 0.02 A.
    assert max(abs(mode) for mode in gamma) < 0.02 * max(x)
    for low, middle, high in (x, longitudinal_at_l):
        assert 0 < low <= middle < high
        assert middle - low < 0.05 * high  # transverse modes are alike there
    assert 4 < max(x) < 7  # 5.8 in experiments


def test_equation_of_state_and_elastic_constants(numbers):
    (lattice_constant, energy, from_energies), = numbers("equation_of_state")
    (c11, c12, c44, from_stresses), = numbers("elastic_constants")
    assert 3.9 < lattice_constant < 4.05 and -7 < energy < -5
    assert abs(from_stresses - (c11 + 2 * c12) / 3) < 0.2  # what is printed has one digit
    assert abs(from_energies / from_stresses - 1) < 0.06  # one by strains of 2 %, the other of 0.5 %
    assert c11 > c12 > 0 and c44 > 0  # stable


def test_every_example_is_tested():
    here = pathlib.Path(__file__).read_text()
    assert all(f'numbers("{path.stem}")' in here for path in EXAMPLES.glob("*.py"))
