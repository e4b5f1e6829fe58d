"""From the benchmark's report to the receipt's figures, and from those to gates: what fast and accurate mean for trine's products."""
import receipt

# TFLOP/s of one product of words, measured on the chip: large square products of cuBLAS, and for FP16 wgmma alone, which is more.
PEAK = {"H200": {"fp32": 51.0, "tf32": 393.0, "bf16": 790.0, "fp16": 801.0}}
ACCURATE = ("fp16x3", "tf32x3", "bf16x6", "bf16x9")
LARGE, STEP = "s32_17280", "s32_192"
# Figure (METHOD in its place), methods, limit, whether values must lie above it.
ACCURACY_GATES = [
    ("gemm.METHOD.rms_over_sgemm", ACCURATE, 1.0, False),
    ("gemm.METHOD.max_over_sgemm", ACCURATE, 1.5, False),
    ("gemm.METHOD.bias_u", ACCURATE, 4.0, False),
    ("gemm.METHOD.max_over_bound", ("tf32", "bf16", "bf16x3", "fp16") + ACCURATE, 1.0, False),
]
# Of an H200: minimum and aim of the speed-up over cuBLAS SGEMM in the same run.
SPEED_GATES = [
    (f"gemm.METHOD.{LARGE}.speedup", ("fp16x3",), 3.5, True),
    (f"gemm.METHOD.{LARGE}.speedup", ("tf32x3",), 2.0, True),
    (f"gemm.METHOD.{LARGE}.speedup", ("bf16x6",), 2.2, True),
    (f"gemm.METHOD.{LARGE}.speedup", ("bf16x9",), 1.5, True),
    (f"gemm.METHOD.{STEP}.speedup", ("fp16x3",), 2.0, True),
    (f"gemm.auto.{LARGE}.worst_speedup", ("auto",), 1.0, True),
    (f"gemm.auto.{STEP}.worst_speedup", ("auto",), 1.0, True),
]


def word_of(method):
    return method.split("x")[0]


def words_products(method):
    return int(method.split("x")[1]) if "x" in method else 1


def peak_of(device):
    return next((peak for name, peak in PEAK.items() if name in device), None)


def times(products, method):
    """(seconds, seconds of fp32) over products, each as often as it occurs; None if the method failed at one."""
    total = base = 0.0
    for product in products:
        figures = {f["method"]: f for f in product["figures"]}
        chosen = figures.get(product["auto"] if method == "auto" else method, {})
        if "us" not in chosen or "us" not in figures["fp32"]:
            return None
        total += chosen["us"] * 1e-6 * product["count"]
        base += figures["fp32"]["us"] * 1e-6 * product["count"]
    return (total, base) if total > 0 else None


def set_figures(group, device):
    """Speed of every method over one set of products."""
    tag = f"{group['model']}_{group['atoms']}"
    peak = peak_of(device)
    products = group["products"]
    parts = {"": products, "nodes_": [p for p in products if p["rows"] == group["atoms"]]}
    parts["edges_"] = [p for p in products if p not in parts["nodes_"]]
    for summary in group["summary"]:
        method = summary["method"]
        for part, members in parts.items():
            pair = times(members, method)
            if pair and method != "fp32":
                ratio = pair[1] / pair[0]
                yield receipt.figure(f"gemm.{method}.{tag}.{part}speedup", ratio, "x", f"cuBLAS SGEMM, same run: {pair[1] * 1e3:.4g} ms", ratio)
        if not summary["complete"]:
            continue
        yield receipt.figure(f"gemm.{method}.{tag}.tflops", summary["tflops"], "TFLOP/s")
        if peak:
            best = peak[word_of(method)]
            fraction = summary["tflops"] * words_products(method) / best
            yield receipt.figure(f"gemm.{method}.{tag}.peak_fraction", fraction, "1", f"{best:g} TFLOP/s of {word_of(method).upper()}", fraction)
    yield from auto_figures(products, tag)
    yield from clock_figures(products, tag)


def auto_figures(products, tag):
    """What the methods that `auto` chooses reach together, and the product where they gain least."""
    pair = times(products, "auto")
    if not pair:
        return
    yield receipt.figure(f"gemm.auto.{tag}.speedup", pair[1] / pair[0], "x", "cuBLAS SGEMM, same run", pair[1] / pair[0])
    worst = min(b / a for a, b in (times([p], "auto") for p in products))
    yield receipt.figure(f"gemm.auto.{tag}.worst_speedup", worst, "x", "cuBLAS SGEMM, same run", worst)


def clock_figures(products, tag):
    for method in dict.fromkeys(f["method"] for p in products for f in p["figures"]):
        clocks = [f["sm_clock_mhz"] for p in products for f in p["figures"] if f["method"] == method and f.get("sm_clock_mhz")]
        if clocks:
            yield receipt.figure(f"gemm.{method}.{tag}.sm_clock", sum(clocks) / len(clocks), "MHz")


def worst_errors(groups):
    """Name of the figure -> (the worst of all products, unit, baseline). The value is None if one of them is not a number."""
    summaries = [summary for group in groups for summary in group["summary"]]
    kinds = {"rms_over_sgemm": ("rms_over_fp32", "x", "cuBLAS SGEMM, same run"), "max_over_sgemm": ("max_over_fp32", "x", "cuBLAS SGEMM, same run"),
             "bias_u": ("bias_u", "2^-24 |x||w|", None), "max_over_bound": ("max_over_bound", "x", "gemm_error_bound")}
    found = {}
    for method in dict.fromkeys(s["method"] for s in summaries):
        own = [s for s in summaries if s["method"] == method]
        if all(s["complete"] for s in own):
            for name, (key, unit, baseline) in kinds.items():
                values = [s[key] for s in own]
                found[f"gemm.{method}.{name}"] = (None if None in values else max(values, key=abs), unit, baseline)
    return found


def figures_of(report):
    """All figures of a benchmark's report (trine_bench_gemm --json)."""
    errors = worst_errors(report["sets"])
    found = [receipt.figure(name, value, unit, baseline) for name, (value, unit, baseline) in errors.items() if value is not None]
    for group in report["sets"]:
        found += set_figures(group, report["device"])
    return found


def gate(values, name, limit, above):
    """One line of the acceptance list; `name` is the figure's. A value of None was measured and is not a number."""
    label = "gate." + name.removeprefix("gemm.")
    if name not in values:
        return receipt.test(label, "not run", limit=limit, reason="not measured")
    value = values[name]
    if value is None:
        return receipt.test(label, "failed", limit=limit, reason="it is not a number")
    good = value >= limit if above else abs(value) <= limit
    more = {} if good else {"reason": f"{value:.4g} is {'below' if above else 'above'} {limit:g}"}
    return receipt.test(label, "passed" if good else "failed", value, limit=limit, **more)


def of_h200(entry, device):
    """The gate, not run where the device is not the one that its limit is for."""
    if "H200" in device or entry["status"] == "not run":
        return entry
    return receipt.test(entry["name"], "not run", entry["worst"], limit=entry["limit"], reason="the limit is for an H200")


def gates_of(report, figures):
    """The gates as tests. Without a report, or on another device, they are not run."""
    values = {name: value for name, (value, _, _) in worst_errors(report["sets"]).items()} if report else {}
    values.update({f["name"]: f["value"] for f in figures})
    found = []
    for table, on_device in ((ACCURACY_GATES, True), (SPEED_GATES, bool(report) and "H200" in report["device"])):
        for pattern, methods, limit, above in table:
            for method in methods:
                entry = gate(values, pattern.replace("METHOD", method), limit, above)
                if not on_device and entry["status"] != "not run":
                    entry = receipt.test(entry["name"], "not run", entry["worst"], limit=limit, reason="the limit is for an H200")
                found.append(entry)
    return found


def failed_methods(report):
    """Methods that the device should have and that failed: a reason in the report, each once."""
    reasons = {}
    for group in report["sets"] if report else []:
        for product in group["products"]:
            for f in product["figures"]:
                if "reason" in f:
                    reasons.setdefault(f["method"], f["reason"])
    return [receipt.test(f"benchmark.{method}", "failed", reason=reason[:300]) for method, reason in reasons.items()]
