"""Long jobs in lanes: how many run at once, who waits for whom, and what a stop ends."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.ui import jobs
from ui.compute import place
from ui.lanes import Lanes
from ui.workers import Lane, Running, StoppedError, Workers


class ByHand(Executor):
    """Jobs that end when the test says so."""

    def __init__(self) -> None:
        self.begun: list[tuple[Any, Running[Any]]] = []  # the arguments of each, and its result

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Running[Any] = Running()
        future.said = lambda: f"said by {args[1]}"
        future.stop = lambda: future.set_exception(StoppedError())
        self.begun.append((args, future))
        return future


def test_each_lane_has_one_job_and_they_come_in_order() -> None:
    workers = ByHand()
    lanes = Lanes(workers, 2)
    futures = [lanes.submit(jobs.process, number) for number in range(5)]
    assert [args for args, _ in workers.begun] == [(Lane(0), 0), (Lane(1), 1)]
    workers.begun[1][1].set_result("one")
    assert futures[1].result() == "one"
    assert workers.begun[2][0] == (Lane(1), 2)
    workers.begun[0][1].set_exception(ValueError("wrong"))
    assert str(futures[0].exception()) == "wrong"
    assert [args for args, _ in workers.begun[2:]] == [(Lane(1), 2), (Lane(0), 3)]
    assert futures[2].said() == "said by 2"
    assert futures[4].said() == ""


def test_a_stop_ends_what_runs_and_takes_back_what_waits() -> None:
    workers = ByHand()
    lanes = Lanes(workers, 1)
    first, second, third = (lanes.submit(jobs.process, number) for number in range(3))
    second.stop()
    assert second.cancelled()
    first.stop()
    assert isinstance(first.exception(), StoppedError)
    assert [args for args, _ in workers.begun] == [(Lane(0), 0), (Lane(0), 2)]
    assert third.running()


def test_threads_of_the_app_itself_have_lanes_too() -> None:
    with ThreadPoolExecutor(1) as threads:
        lanes = Lanes(threads, 1)
        held = threading.Event()
        first = lanes.submit(lambda lane: held.wait(60))
        second = lanes.submit(lambda lane: lane)
        first.stop()  # it has begun: a thread cannot be ended
        held.set()
        assert first.result(60)
        assert second.result(60) == Lane(0)


def test_nobody_waits_for_the_process_of_a_long_job() -> None:
    workers = Workers(2, place)
    try:
        first = workers.submit(jobs.process_after, "view", 0.0).result(60)
        long = workers.submit(jobs.process_after, Lane(0), 600.0)
        assert workers.submit(jobs.process_after, "view", 0.0).result(60) != first
        long.stop()
        with pytest.raises(StoppedError):
            long.result(60)
    finally:
        workers.shutdown(cancel_futures=True)
