"""Medians, spreads and the number of rounds."""

from __future__ import annotations

import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from gpu.cuda import timing
from gpu.cuda.timing import RunProgress, Timing, round_robin, rounds, summarise
from gpu.progress import portion


def test_the_median_and_its_spread() -> None:
    assert summarise([float(n) for n in range(101)]) == Timing(50.0, 20.0, 80.0, 101)


@pytest.mark.parametrize(
    ("slowest_ms", "count"), [(0.0, 200), (0.001, 200), (2.0, 100), (10.0, 20), (900.0, 20)]
)
def test_slow_kernels_run_twenty_times(slowest_ms: float, count: int) -> None:
    assert rounds(slowest_ms) == count


def test_kernels_take_turns_and_each_begins_a_round() -> None:
    order = list(round_robin("abc", 6))
    assert order[:6] == ["a", "b", "c", "b", "c", "a"]
    assert Counter(order) == {"a": 6, "b": 6, "c": 6}
    assert Counter(order[::3]) == {"a": 2, "b": 2, "c": 2}


def test_a_call_is_timed_without_the_first_and_without_those_that_wait_for_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first loads the program; later ones wait where the GPU's queue is full."""
    event = SimpleNamespace(record=lambda: None, synchronize=lambda: None, done=True)
    cuda = SimpleNamespace(Event=lambda: event, get_elapsed_time=lambda *_: 2.0)
    memory = SimpleNamespace(data=SimpleNamespace(memset_async=lambda *_: None))
    cupy = SimpleNamespace(cuda=cuda, uint8="uint8", empty=lambda *_, **__: memory)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    now, calls = 0.0, 0
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now)

    def launch() -> None:
        nonlocal now, calls
        calls += 1
        now += 0.2 if calls == 1 else 7e-6 if calls <= 204 else 0.002

    found = timing.measure({"a": launch, "b": launch, "c": launch, "d": launch}, lambda *_: None)
    assert (found["a"].ms, found["a"].repeats) == (2.0, 100)
    assert found["a"].call_us == pytest.approx(7.0)


def test_what_has_ended_is_told_with_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, float | None]] = []
    monkeypatch.setattr(timing, "REPORT_SECONDS", 0.0)
    whole = portion(lambda message, done=None, /: heard.append((message, done)), 0.5, 1.0)
    progress = RunProgress(whole, 2, 2)
    for name in round_robin("ab", 2):
        progress.next(name)
    assert heard == [
        ("Timing a, round 1 of 2", 0.5), ("Timing b, round 1 of 2", 0.625),
        ("Timing b, round 2 of 2", 0.75), ("Timing a, round 2 of 2", 0.875),
    ]  # fmt: skip


def test_no_more_is_told_than_a_reader_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(timing, "REPORT_SECONDS", 4.0)
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now)
    heard: list[str] = []
    progress = RunProgress(lambda message, _done=None, /: heard.append(message), 1, 1000)
    for _ in range(1000):
        progress.next("a")
        now += 1.0
    assert progress.ended == 1000
    assert heard == [f"Timing a, round {turn} of 1000" for turn in range(1, 1001, 4)]


@pytest.mark.parametrize(
    ("spreads", "runs", "kept"),
    [
        ([0.01], 1, 0.01), ([0.04], 1, 0.04), ([0.12, 0.01], 2, 0.01),
        ([0.3, 0.12, 0.2], 3, 0.12),  # never steady: the steadiest
    ],
)  # fmt: skip
def test_a_run_whose_samples_spread_is_repeated(
    monkeypatch: pytest.MonkeyPatch, spreads: list[float], runs: int, kept: float
) -> None:
    """A run is kept whole: ratios are of launches in turn."""
    made = [
        {"ours": Timing(1.0, 1.0, 1.0, 20), "cublas": Timing(2.0, 2.0, 2.0 + 2 * spread, 20)}
        for spread in spreads
    ]
    left = iter(made)
    monkeypatch.setattr(timing, "measure", lambda _launches, _progress: next(left))
    found, count = timing.measure_steadily({}, lambda *_: None)
    assert count == runs
    assert found is made[spreads.index(kept)]


def test_what_takes_long_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, 60.0, 120.0])
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(now))
    unsteady = {"a": Timing(1.0, 0.9, 1.1, 20)}
    monkeypatch.setattr(timing, "measure", lambda *_: unsteady)
    assert timing.measure_steadily({}, lambda *_: None) == (unsteady, 2)
