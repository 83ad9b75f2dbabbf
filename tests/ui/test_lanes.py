"""Long jobs in lanes: how many run at once, who waits for whom, and what a stop ends."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.ui import jobs
from ui.jobs.lanes import Lanes
from ui.jobs.workers import Marked, Running, StoppedError, Workers
from ui.run.compute import place


class ByHand(Executor):
    """Jobs that end when the test says so."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, Any, Running[Any]]] = []  # lane, argument and result of each

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Running[Any] = Running()
        future.progress_message = lambda: f"said by {args[0]}"
        future.stop = lambda: future.set_exception(StoppedError())
        self.begun.append((function.lane, args[0], future))
        return future

    @property
    def places(self) -> list[tuple[int, Any]]:
        """The lane and the argument of each job, in the order in which they have begun."""
        return [(lane, argument) for lane, argument, _ in self.begun]

    def end_all(self) -> list[Any]:
        """End one job after another; their arguments in the order in which they have begun."""
        for _, _, future in self.begun:  # it grows
            future.set_result("done")
        return [argument for _, argument, _ in self.begun]


class Refusing(Executor):
    """Takes no job."""

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise RuntimeError(f"cannot take {args[0]}")


def test_each_lane_has_one_job_and_they_come_in_order() -> None:
    workers = ByHand()
    lanes = Lanes(workers, 2)
    futures = [lanes.submit(jobs.process, number) for number in range(5)]
    assert workers.places == [(0, 0), (1, 1)]
    workers.begun[1][2].set_result("one")
    assert futures[1].result() == "one"
    assert workers.places[2] == (1, 2)
    workers.begun[0][2].set_exception(ValueError("wrong"))
    assert str(futures[0].exception()) == "wrong"
    assert workers.places[2:] == [(1, 2), (0, 3)]
    assert futures[2].progress_message() == "said by 2"
    assert futures[4].progress_message() == "2 others come first."


def test_nobody_has_a_second_turn_before_anothers_first() -> None:
    workers = ByHand()
    lanes = Lanes(workers, 1)
    for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
        lanes.submit(jobs.process, name, owner=name[0])
    assert workers.end_all() == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_short_job_comes_before_twenty_long_ones_of_others() -> None:
    workers = ByHand()
    lanes = Lanes(workers, 1)
    for number in range(20):
        lanes.submit(jobs.process, number, owner=number, work=1e6)
    trivial = lanes.submit(jobs.process, "trivial", owner="trivial", work=32.0)
    assert trivial.progress_message() == "1 other comes first."
    assert workers.end_all()[:3] == [0, "trivial", 1]


def test_a_stop_ends_what_runs_and_takes_back_what_waits() -> None:
    workers = ByHand()
    lanes = Lanes(workers, 1)
    first, second, third = (lanes.submit(jobs.process, number) for number in range(3))
    second.stop()
    assert second.cancelled()
    assert third.progress_message() == "1 other comes first."
    first.stop()
    assert isinstance(first.exception(), StoppedError)
    assert workers.places == [(0, 0), (0, 2)]
    assert third.running()


def test_every_job_ends_though_no_worker_takes_one() -> None:
    lanes = Lanes(Refusing(), 1)
    refused = [lanes.submit(jobs.process, number) for number in range(3)]
    assert [str(one.exception(60)) for one in refused] == [f"cannot take {i}" for i in range(3)]


def test_threads_of_the_app_itself_have_lanes_too() -> None:
    with ThreadPoolExecutor(1) as threads:
        lanes = Lanes(threads, 1)
        held = threading.Event()
        first = lanes.submit(held.wait, 60)
        second = lanes.submit(str, 5)
        first.stop()  # it has begun: a thread cannot be ended
        held.set()
        assert first.result(60)
        assert second.result(60) == "5"


@pytest.mark.deep
def test_nobody_waits_long_for_the_process_of_a_long_job() -> None:
    workers = Workers(2, place)
    try:
        first = workers.submit(jobs.process_after, "view", 0.0).result(60)
        long = workers.submit(Marked(jobs.process_after, lane=0), "view", 600.0)
        assert workers.submit(jobs.process_after, "view", 0.0).result(60) != first
        long.stop()
        with pytest.raises(StoppedError):
            long.result(60)
    finally:
        workers.shutdown(cancel_futures=True)
