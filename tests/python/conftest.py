"""The model, structures and program of the tests.

TRINE_MODELS, TRINE_REFERENCE and TRINE_PROGRAM in the environment say where they are, where not in the
sources, in tests/data/reference.tar.xz, and in PATH. TRINE_DEVICE is where models are loaded, "cpu" if it is
not set; "cuda" runs all of the tests on a GPU.
"""

import os
import pathlib
import shutil
import tarfile

# On a busy machine threads of NumPy's and SciPy's BLAS wait for each other longer than small products take.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

import trine

ROOT = pathlib.Path(__file__).parents[2]


class CountedModel(trine.Model):
    """Counts evaluations, and which had gradients."""

    def __init__(self, model):
        super().__init__(model._loaded, model._options)
        self.gradients = []

    def evaluate(self, structures, *, gradients=True, **options):
        self.gradients.append(gradients)
        return super().evaluate(structures, gradients=gradients, **options)


@pytest.fixture(scope="session")
def device():
    return os.environ.get("TRINE_DEVICE", "cpu")


@pytest.fixture(scope="session")
def model_path():
    return os.path.join(os.environ.get("TRINE_MODELS", ROOT / "models"), "trine-mini.ckpt")


@pytest.fixture(scope="session")
def mini(model_path, device):
    return trine.load(model_path, device=device, precision="fp32", threads=1)


@pytest.fixture(scope="session")
def mini_fp64(model_path, device):
    return trine.load(model_path, device=device, precision="fp64", threads=1)


@pytest.fixture(scope="session")
def reference_path(tmp_path_factory):
    """The path of a model of the reference implementation, by its name."""
    folder = os.environ.get("TRINE_REFERENCE") or tmp_path_factory.mktemp("reference")

    def path(name):
        file = os.path.join(folder, "models", f"{name}.ckpt")
        if not os.path.exists(file):
            with tarfile.open(ROOT / "tests/data/reference.tar.xz") as archive:
                member = next(m for m in archive if m.name == f"models/{name}.ckpt")
                # Python has had filters since 3.10.12 and 3.11.4; the archive is our own.
                archive.extract(member, folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        return file

    return path


@pytest.fixture(scope="session")
def conditioned(reference_path, device):
    """A model that is conditioned on charge and spin multiplicity; the last digits of its energy depend on them."""
    path = reference_path("upstream_model-v15-conditioning_trainer-v13")
    return trine.load(path, device=device, precision="fp64", threads=1)


@pytest.fixture(scope="session")
def program():
    found = shutil.which(os.environ.get("TRINE_PROGRAM", "trine"))
    if found is None:
        pytest.skip("the program trine is not in PATH, and TRINE_PROGRAM does not name it")
    return found


@pytest.fixture(scope="session")
def alloy_path():
    return ROOT / "examples/cantor16.xyz"


@pytest.fixture
def alloy(alloy_path):
    import ase.io
    return ase.io.read(alloy_path)


@pytest.fixture
def water():
    """One molecule, not relaxed."""
    return {"numbers": [8, 1, 1], "positions": [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [-0.2, 0.95, 0.1]]}
