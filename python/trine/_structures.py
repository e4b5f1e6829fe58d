"""From the structures of users to those of the library."""

from collections.abc import Iterable, Mapping

import numpy as np

from ._errors import InputError
from ._trine import make_structure

_KEYS = ("numbers", "positions", "cell", "pbc", "charge", "spin", "spin_multiplicity")


def is_single(structures):
    """One structure, and not several?"""
    return isinstance(structures, Mapping) or _is_atoms(structures)


def convert_all(structures, given=()):
    """A list of the library's structures; what is `given` elsewhere, "positions" or "cell", they may lack."""
    if is_single(structures):
        return [_convert(structures, "structure", given)]
    if isinstance(structures, (str, bytes)) or not isinstance(structures, Iterable):
        raise InputError(
            f"{type(structures).__name__} is no structure (ase.Atoms, a dictionary, or several of "
            "them are), give one of these")
    return [_convert(entry, f"structure {i}", given) for i, entry in enumerate(structures)]


def conditions(info):
    """Charge and spin multiplicity, None where not given. `spin` is another name for the latter."""
    spin = info.get("spin_multiplicity")
    return info.get("charge"), info.get("spin") if spin is None else spin


def _is_atoms(entry):
    return all(hasattr(entry, name) for name in ("numbers", "positions", "cell", "pbc", "info"))


def _convert(entry, where, given):
    if _is_atoms(entry):
        arrays = {name: getattr(entry, name) for name in ("numbers", "positions", "cell", "pbc")}
        return _make(arrays, conditions(entry.info), where)
    if not isinstance(entry, Mapping):
        raise InputError(
            f"{where}: {type(entry).__name__} is no structure (ase.Atoms and dictionaries are), "
            "give one of these")
    for key in entry:
        if key not in _KEYS:
            raise InputError(f"{where}: unknown key {key!r} (known are {', '.join(_KEYS)}), remove it")
    arrays = _with_stand_ins(entry, given)
    for key in ("numbers", "positions"):
        if key not in arrays:
            raise InputError(f"{where}: the key {key!r} is missing (every structure needs it), add it")
    return _make(arrays, conditions(entry), where)


def _with_stand_ins(entry, given):
    """Valid values that nobody uses, for what is given elsewhere."""
    arrays = dict(entry)
    if "positions" in given and "numbers" in arrays:
        arrays.setdefault("positions", np.zeros((np.size(arrays["numbers"]), 3)))
    if "cell" in given:
        arrays.setdefault("cell", np.eye(3))
    return arrays


def _make(arrays, charge_and_spin, where):
    charge, spin = (
        _number(name, value, where) for name, value in zip(("charge", "spin multiplicity"), charge_and_spin))
    cell = arrays.get("cell")
    return make_structure(
        _atomic_numbers(arrays["numbers"], where),
        _array("positions", arrays["positions"], "fiu", (-1, 3), where, np.float64),
        _array("cell", np.zeros((3, 3)) if cell is None else cell, "fiu", (3, 3), where, np.float64),
        _periodic(arrays.get("pbc"), where),
        charge, spin, where)


def _array(name, value, kinds, shape, where, dtype):
    """A dense array of `dtype`; -1 in `shape` stands for any length."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:  # TypeError: an array on a GPU
        raise InputError(f"{where}: {name} is no array ({error}), give one of shape {_text(shape)} on the host, or use "
                         "evaluate_on_device") from error
    if array.size == 0 and shape[0] == -1:
        array = np.zeros((0, *shape[1:]), dtype)
    fits = array.ndim == len(shape) and all(want in (-1, have) for want, have in zip(shape, array.shape))
    if not fits:
        raise InputError(f"{where}: {name} has shape {array.shape} ({_text(shape)} is needed), reshape it")
    if array.dtype.kind not in kinds:
        raise InputError(f"{where}: {name} holds {array.dtype} (numbers that trine can take as "
                         f"{np.dtype(dtype)} are needed), convert it")
    return np.ascontiguousarray(array, dtype=dtype)


def _text(shape):
    lengths = ["N" if length == -1 else str(length) for length in shape]
    return f"({lengths[0]},)" if len(lengths) == 1 else f"({', '.join(lengths)})"


def _atomic_numbers(value, where):
    numbers = _array("numbers", value, "iu", (-1,), where, np.int64)
    for i in np.flatnonzero((numbers < 1) | (numbers > 118))[:1]:  # what the library sees are 32 bits
        raise InputError(f"{where}: atom {i + 1} of {len(numbers)} has atomic number {numbers[i]} (elements "
                         "go from 1 to 118), correct its species")
    return numbers.astype(np.int32)


def _periodic(value, where):
    if value is None or isinstance(value, (bool, np.bool_)):
        value = [bool(value)] * 3
    return _array("pbc", value, "biu", (3,), where, np.bool_)


def _number(name, value, where):
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {name} is {value!r} (a number is needed), correct it") from error
