"""Evaluations from arrays to arrays where the model computes, and arrays that cannot be used."""

import numpy as np
import pytest

import trine

OUTPUTS = ("energy", "energies", "forces", "strain_gradient", "direct_forces")


class Library:
    """What the tests need of a library of arrays."""

    def __init__(self, name, device):
        self.name, self.on_gpu = name, device != "cpu"
        self.module = pytest.importorskip(name)
        if name == "torch" and self.on_gpu and not self.module.cuda.is_available():
            pytest.skip("torch sees no GPU")

    def array(self, values):
        values = np.array(values, dtype=np.float64)
        if self.name == "torch":
            return self.module.from_numpy(values).to("cuda" if self.on_gpu else "cpu")
        return self.module.array(values)

    def empty(self, shape):
        return self.array(np.full(shape, np.nan))

    def numpy(self, array):
        if self.name == "torch":
            return array.cpu().numpy()
        return array.get() if self.name == "cupy" else array

    def address(self, array):
        if self.name == "torch":
            return array.data_ptr()
        return array.data.ptr if self.name == "cupy" else array.ctypes.data

    def stream(self):
        """A new stream, and a context in which the library uses it."""
        if self.name == "torch":
            stream = self.module.cuda.Stream()
            return stream, self.module.cuda.stream(stream)
        stream = self.module.cuda.Stream(non_blocking=True)
        return stream, stream


@pytest.fixture(params=["numpy", "torch", "cupy"])
def library(request, device):
    if request.param == "cupy" and device == "cpu":
        pytest.skip("cupy has arrays on GPUs, the model is on the CPU")
    if request.param == "numpy" and device != "cpu":
        pytest.skip("numpy has arrays on the host, the model is on a GPU")
    return Library(request.param, device)


class OnlyInterface:
    """An array of which nothing is known but __cuda_array_interface__."""

    def __init__(self, shape, address=0x1000, read_only=False, typestr="<f8", **others):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": (address, read_only), "version": 3, **others}


def outputs(library, batch, atoms):
    shapes = {"energy": (batch,), "energies": (atoms,), "forces": (atoms, 3), "strain_gradient": (batch, 3, 3),
              "direct_forces": (atoms, 3)}
    return {name: library.empty(shapes[name]) for name in OUTPUTS}


def expected(model, structures):
    """What `evaluate` gives, put end to end."""
    results = model.evaluate(structures, direct=True)
    return {name: np.concatenate([np.atleast_1d(r[name]) for r in results]).reshape(
        (len(results), 3, 3) if name == "strain_gradient" else (-1, 3) if "forces" in name else -1)
        for name in OUTPUTS}


def moved(alloy):
    structures = [alloy.copy(), alloy.copy()]
    structures[1].positions[3] += 0.1
    structures[1].set_cell(1.02 * alloy.cell.array)
    return structures


def test_bits_are_those_of_evaluate(library, mini, alloy):
    structures = moved(alloy)
    wanted = expected(mini, structures)
    positions = library.array(np.concatenate([s.positions for s in structures]))
    cells = library.array([s.cell.array for s in structures])
    stripped = [{"numbers": s.numbers, "pbc": True} for s in structures]
    for given in (structures, stripped):
        out = outputs(library, 2, 32)
        addresses = {name: library.address(array) for name, array in out.items()}
        assert mini.evaluate_on_device(given, positions=positions, cells=cells, **out) is None
        for name in OUTPUTS:
            assert library.address(out[name]) == addresses[name]
            np.testing.assert_array_equal(library.numpy(out[name]), wanted[name], err_msg=name)


def test_arrays_count_not_the_structure(library, mini, alloy):
    structures = moved(alloy)
    out = library.empty(())
    mini.evaluate_on_device(structures[0], positions=library.array(structures[1].positions),
                            cells=library.array(structures[1].cell.array), energy=out)
    assert library.numpy(out) == mini.evaluate(structures[1], gradients=False)["energy"]
    mini.evaluate_on_device(structures[0], energy=out)  # whose own positions are used
    assert library.numpy(out) == mini.evaluate(structures[0], gradients=False)["energy"]


def test_views_are_written_where_they_are(library, mini, alloy):
    large = library.empty((20, 3))
    mini.evaluate_on_device(alloy, forces=large[2:18])
    forces = library.numpy(large)
    np.testing.assert_array_equal(forces[2:18], mini.evaluate(alloy)["forces"])
    assert np.isnan(forces[:2]).all() and np.isnan(forces[18:]).all()


def test_models_with_a_part_on_the_host(library, reference_path, device, alloy):
    model = trine.load(reference_path("zbl"), device=device, precision="fp64", threads=1)
    forces = library.empty((16, 3))
    model.evaluate_on_device(alloy, positions=library.array(alloy.positions), forces=forces)
    np.testing.assert_array_equal(library.numpy(forces), model.evaluate(alloy)["forces"])


@pytest.mark.parametrize("handle", ["object", "number"])
def test_work_is_in_the_order_of_the_stream(library, mini, alloy, handle):
    """Positions come late, and are overwritten soon: what is read is what the stream holds at the call."""
    if not library.on_gpu:
        pytest.skip("there are no streams on the CPU")
    structures = [alloy.copy(), alloy.copy()]
    structures[1].positions[3] += 0.1
    wanted = [mini.evaluate(s)["forces"] for s in structures]
    assert not np.array_equal(*wanted)
    stream, context = library.stream()
    source = [library.array(s.positions) for s in structures]
    large = library.array(np.ones((4096, 4096)))
    positions, found = library.empty((16, 3)), [library.empty((16, 3)) for _ in range(2)]
    if library.name == "torch":
        library.module.cuda.synchronize()
        number = stream.cuda_stream
    else:
        library.module.cuda.Device().synchronize()
        number = stream.ptr
    with context:
        for i in range(2):
            large @ large  # some milliseconds, before which positions are NaN or those of the turn before
            positions[:] = source[i]
            mini.evaluate_on_device(alloy, positions=positions, forces=found[i],
                                    stream=stream if handle == "object" else number)
        positions[:] = 0
    stream.synchronize()
    for i in range(2):
        np.testing.assert_array_equal(library.numpy(found[i]), wanted[i])


def test_arrays_with_nothing_but_the_interface(mini, alloy, device):
    """Of Numba and others; here the memory is CuPy's."""
    if device == "cpu":
        pytest.skip("such arrays are on GPUs, the model is on the CPU")
    cupy = pytest.importorskip("cupy")
    positions, forces = cupy.array(alloy.positions), cupy.full((16, 3), cupy.nan)
    plain = [OnlyInterface(a.shape, a.data.ptr, strides=strides)
             for a, strides in ((positions, None), (forces, (24, 8)))]
    mini.evaluate_on_device(alloy, positions=plain[0], forces=plain[1])
    np.testing.assert_array_equal(forces.get(), mini.evaluate(alloy)["forces"])


@pytest.mark.parametrize("name, change, text", [
    ("positions", lambda a: a[:15], r"positions: the array has shape \(15, 3\) \(\(16, 3\) is needed\)"),
    ("positions", lambda a: a.reshape(-1), r"positions: the array has shape \(48,\)"),
    ("forces", lambda a: a.T, "forces: the array is not dense"),
    ("forces", lambda a: a[:, :2], "forces: the array is not dense"),
    ("forces", lambda a: a[::2], "forces: the array is not dense"),
    ("energy", lambda a: a, r"energy: the array has shape \(16, 3\) \(\(1,\) is needed\)"),
    ("cells", lambda a: a, r"cells: the array has shape \(16, 3\) \(\(1, 3, 3\) is needed\)"),
    ("energies", lambda a: 5.0, "energies: float is no array whose memory can be used"),
])
def test_shapes(library, mini, alloy, name, change, text):
    array = library.array(alloy.positions)
    with pytest.raises(trine.UsageError, match=text):
        mini.evaluate_on_device(alloy, **{name: change(array)})


def test_types(library, mini, alloy):
    for dtype in ("float32", "int64"):
        array = library.array(alloy.positions)
        array = array.astype(dtype) if library.name != "torch" else array.to(getattr(library.module, dtype))
        with pytest.raises(trine.UsageError, match=rf"positions: the array holds {dtype} \(float64 is needed\)"):
            mini.evaluate_on_device(alloy, positions=array)


def test_only_what_can_be_written_is_written(mini, alloy, device):
    array = np.zeros((16, 3))
    array.flags.writeable = False
    text = "on the host" if device != "cpu" else "read-only"
    with pytest.raises(trine.UsageError, match=text):
        mini.evaluate_on_device(alloy, forces=array)
    if device == "cpu":
        mini.evaluate_on_device(alloy, positions=array + alloy.positions)  # reading is enough there


def test_places(mini, alloy, device):
    if device == "cpu":
        with pytest.raises(trine.UsageError, match=r"positions: the array is on a GPU \(the model is on the CPU\)"):
            mini.evaluate_on_device(alloy, positions=OnlyInterface((16, 3)))
    else:
        with pytest.raises(trine.UsageError, match=r"positions: the array is on the host \(the model is on cuda:0\)"):
            mini.evaluate_on_device(alloy, positions=alloy.positions)
        with pytest.raises(trine.UsageError, match="positions are not in memory that a GPU can reach"):
            mini.evaluate_on_device(alloy, positions=OnlyInterface((16, 3), alloy.positions.ctypes.data))


@pytest.mark.parametrize("array, text", [
    (OnlyInterface((16, 3), typestr="<f4"), "the array holds <f4"),
    (OnlyInterface((16, 3), strides=(8, 128)), "the array is not dense"),
    (OnlyInterface((3, 16)), r"shape \(3, 16\)|on a GPU"),
])
def test_the_interface_is_read(mini, alloy, array, text):
    with pytest.raises(trine.UsageError, match=f"forces: .*{text}"):
        mini.evaluate_on_device(alloy, forces=array)


def test_what_else_is_wrong(library, mini, conditioned, alloy):
    forces = library.empty((16, 3))
    with pytest.raises(trine.NotSupportedError, match="direct forces are asked for"):
        conditioned.evaluate_on_device({"numbers": [1] * 16, "positions": 2.0 * np.arange(48).reshape(16, 3)},
                                       direct_forces=forces)
    with pytest.raises(trine.InputError, match="'positions' is missing"):
        mini.evaluate_on_device({"numbers": alloy.numbers}, forces=forces)
    with pytest.raises(trine.UsageError, match="stream is 'fast'"):
        mini.evaluate_on_device(alloy, forces=forces, stream="fast")
    mini.evaluate_on_device(alloy, forces=forces)  # and it goes on
    np.testing.assert_array_equal(library.numpy(forces), mini.evaluate(alloy)["forces"])


def test_kinds_of_streams():
    from trine._streams import stream_handle

    class Protocol:
        def __cuda_stream__(self):
            return 0, 17

    class Torch:
        cuda_stream = 18

    class Cupy:
        ptr = 19

    assert [stream_handle(s) for s in (None, 5, Protocol(), Torch(), Cupy())] == [0, 5, 17, 18, 19]
    for wrong in (-1, 1.5):
        with pytest.raises(trine.UsageError, match="stream is"):
            stream_handle(wrong)
