"""Results of the package: the bits of the program, whatever structures come as."""

import copy
import json
import pickle
import subprocess

import numpy as np
import pytest

import trine

# xx, yy, zz, yz, xz, xy, as the program writes stress.
VOIGT = ((0, 1, 2, 1, 0, 0), (0, 1, 2, 2, 2, 1))


def same_bits(a, b):
    """Also NaN and the sign of zero count."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def as_dictionary(atoms):
    return {"numbers": atoms.numbers, "positions": atoms.positions, "cell": atoms.cell.array, "pbc": atoms.pbc}


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_program_gives_the_same_bits(precision, program, model_path, alloy_path, alloy, device):
    text = subprocess.run(
        [program, "predict", model_path, alloy_path, "--json", "-", "--precision", precision, "--device", device,
         "--uncertainty", "--quiet"], check=True, capture_output=True, text=True).stdout
    frame = json.loads(text)["frames"][0]
    model = trine.load(model_path, device=device, precision=precision)
    result = model.evaluate(alloy, direct=True, uncertainty=True)
    result["stress"] = result["stress"][VOIGT]
    compared = set(frame) - {"natoms"}
    assert compared >= {"energy", "energies", "forces", "strain_gradient", "stress", "direct_forces",
                        "energy_uncertainty", "energy_ensemble", "num_neighbors", "adaptive_cutoff"}
    for key in compared:
        assert same_bits(frame[key], result[key]), key


def test_shapes_and_types(mini, alloy):
    result = mini.evaluate(alloy, direct=True, uncertainty=True, last_layer_features=True)
    shapes = {"energies": (16,), "forces": (16, 3), "strain_gradient": (3, 3), "stress": (3, 3),
              "adaptive_cutoff": (16,), "direct_forces": (16, 3), "last_layer_features": (16, 256),
              "energies_uncertainty": (16,), "energy_ensemble": (32,), "energies_ensemble": (16, 32)}
    for key, shape in shapes.items():
        assert result[key].shape == shape, key
        assert result[key].dtype == np.float64, key
        assert np.all(np.isfinite(result[key])), key
    assert result["num_neighbors"].dtype == np.int64
    assert set(result) - set(shapes) == {"energy", "num_neighbors", "list_edges", "energy_uncertainty"}


def test_quantities_on_request(mini, alloy, water):
    everything = mini.evaluate(alloy)
    energies = mini.evaluate(alloy, gradients=False)
    assert set(everything) - set(energies) == {"forces", "strain_gradient", "stress"}
    assert same_bits(energies["energies"], everything["energies"])
    assert "stress" not in mini.evaluate(water)  # which has no volume


def test_batch_gives_what_each_gives_alone(mini, alloy, water):
    batch = mini.evaluate([alloy, water, as_dictionary(alloy)])
    alone = [mini.evaluate(alloy), mini.evaluate(water), mini.evaluate(alloy)]
    assert len(batch) == 3
    for one, other in zip(batch, alone):
        assert set(one) == set(other)
        assert all(same_bits(one[key], other[key]) for key in one)
    assert len(mini.evaluate(iter([water]))) == 1
    assert mini.evaluate([]) == []


def test_forms_of_arrays(mini, alloy):
    expected = mini.evaluate(alloy)["forces"]
    lists = {key: value.tolist() for key, value in as_dictionary(alloy).items()}
    columns = as_dictionary(alloy)
    columns["positions"] = np.asfortranarray(alloy.positions)
    columns["numbers"] = np.repeat(alloy.numbers, 2)[::2].astype(np.uint8)
    columns["pbc"] = True
    for form in (lists, columns):
        assert same_bits(mini.evaluate(form)["forces"], expected)


def test_results_belong_to_the_caller(mini, water):
    first = mini.evaluate(water)["forces"]
    kept = first.copy()
    second = mini.evaluate({**water, "positions": 1.1 * np.array(water["positions"])})["forces"]
    assert same_bits(first, kept) and not same_bits(first, second)
    first[:] = 0
    assert same_bits(mini.evaluate(water)["forces"], kept)


def test_no_atoms(mini):
    assert mini.evaluate({"numbers": [], "positions": []})["forces"].shape == (0, 3)


def test_charge_and_spin(conditioned, water):
    neutral = conditioned.evaluate(water)["energy"]
    assert conditioned.evaluate({**water, "charge": 0, "spin": 1})["energy"] == neutral
    ion = conditioned.evaluate({**water, "charge": -1, "spin": 2})["energy"]
    assert ion != neutral
    assert conditioned.evaluate({**water, "charge": -1.0, "spin_multiplicity": 2.0})["energy"] == ion
    assert conditioned.evaluate({**water, "charge": -1})["energy"] not in (neutral, ion)


def test_information(mini, model_path, device):
    assert mini.info.path == model_path
    assert mini.info.species == [1, 6, 8, 24, 25, 26, 27, 28, 78]
    assert mini.info.cutoff == 6
    assert mini.info.hypers["d_pet"] == "128"
    assert mini.info.metadata["name"] == mini.info.name == "trine-mini"
    assert [t.name for t in mini.info.targets] == ["energy", "non_conservative_forces"]
    here = "cuda:0" if device == "cuda" else device
    assert (mini.device, mini.precision, mini.energy, mini.threads) == (here, "fp32", "energy", 1)


def test_information_outlives_its_model(model_path):
    assert trine.load(model_path, device="cpu", threads=1).info.targets[0].unit == "eV"


def test_short_names_of_energies(reference_path, alloy):
    path = reference_path("two_energies")
    models = {name: trine.load(path, device="cpu", threads=1, energy=name)
              for name in ("", "energy", "pbe", "energy/pbe")}
    energies = {name: model.evaluate(alloy, gradients=False)["energy"] for name, model in models.items()}
    assert models["pbe"].energy == "energy/pbe"
    assert energies["pbe"] == energies["energy/pbe"] != energies["energy"] == energies[""]


def test_memory_changes_no_bit(model_path, device, alloy, mini):
    expected = mini.evaluate(alloy)
    for options in ({"recompute": "layer"}, {"recompute": "light"}, {"memory_gib": 1e-6}):
        other = trine.load(model_path, device=device, precision="fp32", threads=1, **options).evaluate(alloy)
        assert all(same_bits(other[key], expected[key]) for key in expected), options


def test_automatic_precision(model_path, device, alloy, water, tmp_path, monkeypatch):
    monkeypatch.setenv("TRINE_CACHE_DIR", str(tmp_path))
    model = trine.load(model_path, device=device, threads=1)
    if device == "cpu":
        assert (model.precision, model.precision_reason) == ("fp32", "")
        return
    assert model.precision == "auto"
    with pytest.raises(trine.UsageError, match="no precision has been chosen yet"):
        model.evaluate_on_device(alloy)
    with pytest.raises(trine.InputError, match="which this model does not know"):
        model.evaluate({**water, "numbers": [8, 1, 3]})
    assert model.precision == "auto"
    found = model.evaluate(alloy)
    assert model.precision != "auto"
    assert "certificate made now" in model.precision_reason
    assert list((tmp_path / "policies").iterdir())
    named = trine.load(model_path, device=device, precision=model.precision, threads=1).evaluate(alloy)
    assert all(same_bits(found[key], named[key]) for key in named)
    again = trine.load(model_path, device=device, threads=1)
    again.evaluate(alloy)
    assert again.precision == model.precision and "kept in" in again.precision_reason


def test_copies_and_pickles(mini, water):
    assert copy.copy(mini) is mini and copy.deepcopy({"model": mini})["model"] is mini
    other = pickle.loads(pickle.dumps(mini))
    assert other is not mini and other.precision == mini.precision and other.device == mini.device
    assert other.evaluate(water)["energy"] == mini.evaluate(water)["energy"]
