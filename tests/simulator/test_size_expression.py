"""Sizes as expressions, evaluated for several visitors at once."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

from simulator.size_expression import evaluate

THREADS, TIMES = 8, 400


def evaluate_often(thread: int) -> set[int]:
    """What expressions give that no thread has evaluated before."""
    return {evaluate(f"(N + TILE - 1) / TILE * (2 + 3 * N) + 0 * {TIMES * thread + time}",
                     {"N": 5, "TILE": 4}) for time in range(TIMES)}  # fmt: skip


def test_threads_may_evaluate_together() -> None:
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()

    def let_others_run(phase: str, information: dict[str, int]) -> None:
        sum(range(20))

    gc.callbacks.append(let_others_run)
    gc.set_threshold(5)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            assert set.union(*pool.map(evaluate_often, range(THREADS))) == {34}
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)
        gc.callbacks.remove(let_others_run)
