"""Receipts: JSON files with measured figures, as they lie under bench/receipts."""
import datetime
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def figure(name, value, unit, baseline=None, ratio=None):
    rounded = [None if v is None else round(v, 3) for v in (value, ratio)]
    return {"name": name, "value": rounded[0], "unit": unit, "baseline": baseline, "ratio": rounded[1]}


def device_name(threads):
    """The processor's name and the number of threads."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else 'unknown CPU'}, {threads} threads"


def current_commit():
    """The commit of the checkout that holds this script."""
    done = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--verify", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def write(path, figures, threads, commit=None):
    """Write a receipt of `figures` measured with `threads` threads of this machine at `commit` (default: the checkout's)."""
    receipt = {
        "commit": commit or current_commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": device_name(threads),
        "tests": [],
        "figures": figures,
    }
    pathlib.Path(path).write_text(json.dumps(receipt, indent=1) + "\n")
