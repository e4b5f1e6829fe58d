#!/usr/bin/env python3
"""Reads what write_sample wrote with h5py and, where it is installed, with MDAnalysis.

    read_h5md.py WRITE_SAMPLE FOLDER

Exits with 77 where there is no h5py.
"""
import os
import subprocess
import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ATOMS, FRAMES = 30, 40
EV_TO_KJ_PER_MOL = 1.602176634e-19 * 6.02214076e23 / 1000


def numbers(step, kind, atom=0, axis=0):
    """As sample_number in sample.hpp."""
    return (((step + 1) * 31 + atom * 7 + axis * 3 + kind * 1009) % 100003 - 50001) / 6.0


def vectors(kind):
    """[FRAMES, ATOMS, 3]"""
    step, atom, axis = np.meshgrid(np.arange(FRAMES), np.arange(ATOMS), np.arange(3), indexing="ij")
    return numbers(step, kind, atom, axis)


def cells():
    """[FRAMES, 3, 3]"""
    a = 20 + np.arange(FRAMES) / 6
    cell = np.zeros((FRAMES, 3, 3))
    cell[:, 0, 0] = cell[:, 1, 1] = cell[:, 2, 2] = a
    cell[:, 1, 0], cell[:, 2, 1] = 1, -2
    return cell


def check_element(group, value, unit):
    assert group["value"].attrs["unit"] == unit, group["value"].attrs["unit"]
    assert group["value"].dtype == np.float64
    assert np.array_equal(group["value"], value), group.name
    assert np.array_equal(group["step"], np.arange(FRAMES)) and group["step"].dtype == np.int64
    assert np.array_equal(group["time"], 0.5 * np.arange(FRAMES))
    assert group["time"].attrs["unit"] == "fs"


def check_h5py(path):
    with h5py.File(path, "r") as file:
        assert list(file["h5md"].attrs["version"]) == [1, 1]
        assert file["h5md/creator"].attrs["name"] == "trine" and file["h5md/creator"].attrs["version"]
        assert "name" in file["h5md/author"].attrs
        atoms = file["particles/trajectory"]
        assert list(file["particles"]) == ["trajectory"]
        assert atoms["box"].attrs["dimension"] == 3
        assert list(atoms["box"].attrs["boundary"]) == ["periodic"] * 3
        assert list(atoms["species"]) == [8 if i % 3 == 0 else 1 for i in range(ATOMS)]
        check_element(atoms["position"], vectors(0), "Angstrom")
        check_element(atoms["velocity"], vectors(1), "Angstrom fs-1")
        check_element(atoms["force"], vectors(2) * EV_TO_KJ_PER_MOL, "kJ mol-1 Angstrom-1")
        check_element(atoms["box/edges"], cells(), "Angstrom")
        step = np.arange(FRAMES)
        for kind, name in enumerate(("potential_energy", "kinetic_energy", "conserved_energy"), 3):
            check_element(file["observables"][name], numbers(step, kind), "eV")
        assert file["observables/stress/value"].shape == (FRAMES, 3, 3)
    print("h5py", h5py.__version__, "reads every number")


def check_mdanalysis(path):
    try:
        import MDAnalysis
    except ImportError as missing:
        print(f"MDAnalysis skipped: {missing}")
        return
    universe = MDAnalysis.Universe.empty(ATOMS, trajectory=False)
    universe.load_new(path, format="H5MD")
    assert len(universe.trajectory) == FRAMES
    for i, frame in enumerate(universe.trajectory):  # Angstrom, Angstrom/ps, kJ/mol/Angstrom, ps
        assert np.allclose(frame.positions, vectors(0)[i], rtol=1e-6, atol=0)
        assert np.allclose(frame.velocities, vectors(1)[i] * 1000, rtol=1e-6, atol=0)
        assert np.allclose(frame.forces, vectors(2)[i] * EV_TO_KJ_PER_MOL, rtol=1e-6, atol=0)
        assert np.isclose(frame.time, 0.0005 * i, rtol=1e-12)
        assert np.isclose(frame.volume, np.linalg.det(cells()[i]), rtol=1e-5)
        assert frame.data["potential_energy"] == numbers(i, 3) and frame.data["step"] == i
    print("MDAnalysis", MDAnalysis.__version__, "reads it")


def main():
    program, folder = sys.argv[1:]
    path = os.path.join(folder, "read_by_python.h5md")
    subprocess.run([program, path, str(ATOMS), str(FRAMES)], check=True)
    check_h5py(path)
    check_mdanalysis(path)
    os.remove(path)


if __name__ == "__main__":
    main()
