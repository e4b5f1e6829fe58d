"""What a wheel brings along: the program and the model."""

import importlib.metadata
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import trine
import trine_program

PACKAGE = pathlib.Path(trine.__file__).parent
pytestmark = pytest.mark.skipif(not list(importlib.metadata.distributions(name="trine")), reason="the package is not from a wheel")


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A folder without models, and no variable that leads to any."""
    for name in ("TRINE_MODEL_DIR", "XDG_DATA_DIRS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command():
    """The command that pip has made, not another one in PATH."""
    return os.path.join(os.path.dirname(sys.executable), "trine")


def call(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, **options)


def test_model_by_name(elsewhere, water):
    model = trine.load("trine-mini", device="cpu")
    assert pathlib.Path(model.info.path).is_relative_to(PACKAGE)
    assert model.evaluate(water)["energy"] < 0


def test_unknown_name_lists_what_there_is(elsewhere):
    with pytest.raises(trine.InputError, match=r"no model 'trine-maxi' \(.*known are trine-mini\)"):
        trine.load("trine-maxi")


def test_program_finds_the_same_model(elsewhere, command):
    done = call(command, "info", "trine-mini")
    assert done.returncode == 0, done.stderr
    assert str(PACKAGE / "share/trine/models/trine-mini.ckpt") in done.stdout


@pytest.mark.parametrize("words, status", [(["--version"], 0), (["no-such-command"], 2), (["info", "absent"], 3)])
def test_exit_status_and_messages(elsewhere, command, words, status):
    done = call(command, *words)
    assert done.returncode == status, done.stderr
    assert (done.stdout == f"trine {trine.__version__}\n") == (status == 0)
    assert done.stderr.startswith("trine: " if status else "")
    assert call(sys.executable, "-m", "trine", *words).stdout == done.stdout


def test_standard_input_passes_through(elsewhere, command, alloy_path):
    done = call(command, "predict", "trine-mini", "-", "--device", "cpu", "-o", "-", input=alloy_path.read_text())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "16" and "energy=" in done.stdout.splitlines()[1]


def test_a_broken_pipe_ends_the_program(elsewhere, command):
    """Python ignores SIGPIPE; the program must not inherit that."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([command, "help"], stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert done.returncode == -signal.SIGPIPE, done.stderr


def test_signals_reach_the_program(elsewhere, command, alloy_path):
    """A run ends in good order on SIGTERM, which only the program itself can do: it is the process that was started."""
    words = [command, "md", "trine-mini", str(alloy_path), "--device", "cpu", "--steps", "1000000", "--log", "log.csv",
             "--log-every", "1"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        while run.poll() is None and not (os.path.exists("log.csv") and os.path.getsize("log.csv")):
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
        messages = run.communicate(timeout=60)[1]
    assert run.returncode == 0 and "SIGTERM" in messages, messages


def test_version_is_that_of_the_library():
    assert importlib.metadata.version("trine") == trine.__version__


def test_cublas_of_pip_is_found_on_the_path(monkeypatch, tmp_path):
    library = tmp_path / "site/nvidia/cu13/lib/libcublas.so.13"
    library.parent.mkdir(parents=True)
    library.touch()
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), str(tmp_path / "site"), str(tmp_path / "site")])
    assert trine_program.cublas_folders() == [str(library.parent)]
    monkeypatch.setenv("LD_LIBRARY_PATH", "/first")
    monkeypatch.setattr(sys, "argv", ["trine", "info", "--json"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    started = []
    monkeypatch.setattr(os, "execv", lambda *call: started.append((call, os.environ["LD_LIBRARY_PATH"])))
    trine_program.main()
    assert started == [((str(PACKAGE / "bin/trine"), ["trine", "info", "--json"]), f"/first:{library.parent}")]
