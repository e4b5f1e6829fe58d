"""Python's other threads run while a model is evaluated."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import trine


def test_other_threads_run_meanwhile(model_path, alloy):
    slow = trine.load(model_path, device="cpu", threads=1)
    batch = [alloy] * 12
    span = []

    def work():
        start = time.perf_counter()
        slow.evaluate(batch)
        span.extend((start, time.perf_counter()))

    thread = threading.Thread(target=work)
    ticks = []
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    thread.join()
    start, end = span
    # Conversion of structures holds the interpreter, the network between its two quarters does not.
    inside = [t for t in ticks if start + 0.25 * (end - start) < t < end - 0.25 * (end - start)]
    assert end - start > 0.05  # far longer than the interpreter's switch interval
    assert inside


def test_threads_may_share_a_model(mini, model_path, alloy, device):
    moved = alloy.copy()
    moved.positions[0] += 0.1
    structures = [alloy, moved]
    other = trine.load(model_path, device=device, precision="fp32", threads=1)
    expected = [other.evaluate(s)["forces"].tobytes() for s in structures]

    def work(i):
        return all(mini.evaluate(structures[i])["forces"].tobytes() == expected[i] for _ in range(5))

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(work, range(2)))
