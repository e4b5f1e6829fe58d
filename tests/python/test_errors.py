"""Errors of the library are exceptions with its text, and structures that make no sense are refused."""

import re
import subprocess

import numpy as np
import pytest

import trine

NAN = float("nan")


class ArrayOnGpu:
    """Does as arrays of PyTorch and CuPy do that NumPy cannot see."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("it is on a GPU")


def test_text_is_that_of_the_program(program, model_path, tmp_path):
    file = tmp_path / "broken.ckpt"
    file.write_bytes(b"no checkpoint")
    said = subprocess.run([program, "info", file], capture_output=True, text=True).stderr
    with pytest.raises(trine.InputError) as raised:
        trine.load(file, device="cpu")
    assert str(raised.value) and str(raised.value) in said
    assert raised.value.code == "bad_input"


@pytest.mark.parametrize("options, kind, also, code, text", [
    ({"precision": "fp17"}, trine.UsageError, ValueError, "usage", r"unknown precision 'fp17' \(known are auto, fp64, fp32"),
    ({"precision": "@"}, trine.UsageError, ValueError, "usage", "unknown precision '@'"),
    ({"precision": "@/no/such/file"}, trine.InputError, ValueError, "bad_input", "/no/such/file"),
    ({"threads": -1}, trine.UsageError, ValueError, "usage", r"threads is -1 \(it cannot be negative\)"),
    ({"device": "gpu"}, trine.UsageError, ValueError, "usage", "gpu"),
    ({"device": "cuda:63"}, trine.NotSupportedError, NotImplementedError, "not_supported", "cuda"),
    ({"memory_gib": -1}, trine.UsageError, ValueError, "usage", "memory is -1.0* GiB"),
    ({"memory_gib": NAN}, trine.UsageError, ValueError, "usage", "memory is nan GiB"),
    ({"recompute": "some"}, trine.UsageError, ValueError, "usage", "unknown recompute 'some'"),
    ({"energy": "none"}, trine.InputError, ValueError, "bad_input", "no energy named 'none'"),
    ({"energy": "energy/none"}, trine.InputError, ValueError, "bad_input", "no energy named 'energy/none'"),
])
def test_options(options, kind, also, code, text, model_path):
    with pytest.raises(kind, match=text) as raised:
        trine.load(model_path, **{"device": "cpu", **options})
    assert isinstance(raised.value, trine.Error) and isinstance(raised.value, also)
    assert raised.value.code == code


def test_memory_error():
    assert issubclass(trine.OutOfMemoryError, MemoryError) and trine.OutOfMemoryError.code == "out_of_memory"


@pytest.mark.parametrize("change, text", [
    ({"numbers": [8, 1]}, "structure: 2 species but 3 positions"),
    ({"numbers": [8, 1, 3]}, "structure: atom 3 is Li, which this model does not know"),
    ({"numbers": [8, 1, 0]}, "structure: atom 3 of 3 has atomic number 0"),
    ({"numbers": [8, 1, 2**32 + 1]}, "structure: atom 3 of 3 has atomic number 4294967297"),
    ({"numbers": [8.0, 1.0, 1.0]}, "structure: numbers holds float64"),
    ({"numbers": ["O", "H", "H"]}, "structure: numbers holds <U1"),
    ({"positions": [0, 0, 0]}, r"structure: positions has shape \(3,\) \(\(N, 3\) is needed\)"),
    ({"positions": [[0, 0, 0], [1, 0], [0, 1, 0]]}, "structure: positions is no array"),
    ({"positions": ArrayOnGpu()}, r"structure: positions is no array \(it is on a GPU\).*evaluate_on_device"),
    ({"positions": [[0, 0, 0], [1, 0, 0], [0, 1, 1j]]}, "structure: positions holds complex128"),
    ({"positions": [[0, 0, 0], [1, 0, 0], [0, 1, NAN]]}, "structure: coordinate z of atom 3 of 3 is nan"),
    ({"cell": [1, 2, 3]}, r"structure: cell has shape \(3,\) \(\(3, 3\) is needed\)"),
    ({"pbc": True}, "structure: the cell cannot be used"),
    ({"pbc": "no"}, r"structure: pbc has shape \(\)"),
    ({"pbc": [True, [False]]}, "structure: pbc is no array"),
    ({"pbc": [True, False]}, r"structure: pbc has shape \(2,\)"),
    ({"charge": "many"}, "structure: charge is 'many'"),
    ({"velocities": None}, "structure: unknown key 'velocities'"),
])
def test_structures(change, text, mini, water):
    with pytest.raises(trine.InputError, match=text):
        mini.evaluate({**water, **change})


def test_place_in_a_batch(mini, water):
    with pytest.raises(trine.InputError, match="structure 1: coordinate x of atom 1"):
        mini.evaluate([water, {**water, "positions": np.full((3, 3), NAN)}])
    with pytest.raises(trine.InputError, match="structure 1: int is no structure"):
        mini.evaluate([water, 5])
    with pytest.raises(trine.InputError, match="structure: the key 'positions' is missing"):
        mini.evaluate({"numbers": [1]})
    for wrong in (5, "water.xyz", None):
        with pytest.raises(trine.InputError, match=re.escape(f"{type(wrong).__name__} is no structure")):
            mini.evaluate(wrong)


def test_model_goes_on_after_an_error(mini, water):
    before = mini.evaluate(water)["energy"]
    with pytest.raises(trine.InputError):
        mini.evaluate({**water, "numbers": [8, 1, 3]})
    assert mini.evaluate(water)["energy"] == before
