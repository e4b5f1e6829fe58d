"""Receipts: JSON files with measured figures, as they lie under bench/receipts. The only writer of them.

bench/receipts/schema.json says what they hold; `problems` checks it with the few keywords that the schema uses.
"""
import datetime
import itertools
import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "receipts"
FILE_NAME = re.compile(r"[a-z0-9_]+-[a-z0-9_]+-[0-9]{8}(-[0-9]+)?\.json")
DIGITS = 6

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and abs(v) < float("inf"),
    "null": lambda v: v is None,
}
KEYWORDS = {"$schema", "title", "description", "type", "required", "additionalProperties", "properties", "items", "pattern", "enum"}


def problems(value, schema, where="receipt"):
    """What in `value` breaks `schema`, one sentence each."""
    unknown = set(schema) - KEYWORDS
    if unknown:
        raise ValueError(f"schema keywords that nobody checks: {', '.join(sorted(unknown))}")
    types = schema.get("type", list(TYPES))
    types = [types] if isinstance(types, str) else types
    if not any(TYPES[t](value) for t in types):
        return [f"{where} is {json.dumps(value)[:60]}, not {' or '.join(types)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where} is {value!r}, not one of {', '.join(schema['enum'])}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{where} is {value!r}, which does not match {schema['pattern']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{where} has no {key}" for key in schema.get("required", []) if key not in value]
        if not schema.get("additionalProperties", True):
            found += [f"{where} has {key}, which the schema does not know" for key in value if key not in properties]
        for key in value.keys() & properties.keys():
            found += problems(value[key], properties[key], f"{where}.{key}")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += problems(item, schema["items"], f"{where}[{index}]")
    return found


def receipt_problems(receipt):
    """What is wrong with a receipt: the schema, and names that occur twice."""
    found = problems(receipt, json.loads((FOLDER / "schema.json").read_text()))
    if not found:
        for kind in ("tests", "figures"):
            names = [entry["name"] for entry in receipt[kind]]
            found += [f"receipt.{kind} has {name} twice" for name in sorted({n for n in names if names.count(n) > 1})]
    return found


def figure(name, value, unit, baseline=None, ratio=None):
    rounded = [None if v is None else float(f"{v:.{DIGITS}g}") for v in (value, ratio)]
    return {"name": name, "value": rounded[0], "unit": unit, "baseline": baseline, "ratio": rounded[1]}


def test(name, status, worst=None, **more):
    """`status` is passed, failed or 'not run'; `more` may give limit and reason."""
    worst = None if worst is None else float(f"{worst:.{DIGITS}g}")
    return {"name": name, "status": status, "worst": worst, **more}


def cpu_name(threads):
    """The processor's name and the number of threads."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else 'unknown CPU'}, {threads} threads"


def current_commit():
    """The commit of the checkout that holds this script, or 'unknown'."""
    try:
        done = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--verify", "HEAD"], capture_output=True, text=True)
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def new_path(folder, topic, device):
    """The first free TOPIC-DEVICE-YYYYMMDD[-N].json of today in `folder`."""
    stem = f"{topic}-{device}-{datetime.datetime.now(datetime.timezone.utc):%Y%m%d}"
    names = itertools.chain([f"{stem}.json"], (f"{stem}-{n}.json" for n in itertools.count(2)))
    return next(path for path in (pathlib.Path(folder) / name for name in names) if not path.exists())


def write(path, figures, device, tests=(), driver=None, toolkit=None, commit=None, **more):
    """Write what was measured on `device` at `commit` (default: the checkout's); `more` are optional keys of the schema."""
    receipt = {
        "commit": commit or current_commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "device": device,
        "driver": driver,
        "toolkit": toolkit,
        **more,
        "tests": list(tests),
        "figures": figures,
    }
    found = receipt_problems(receipt)
    if found:
        raise ValueError("this is no receipt: " + "; ".join(found))
    pathlib.Path(path).write_text(json.dumps(receipt, indent=1, allow_nan=False) + "\n")
