"""What the class has asked for: computed once, kept while there is room."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from simulator import LaunchError, SourceError, compile_kernel
from simulator.verdict.judge import judge
from simulator.verdict.verdict import CheckState
from tests.ui import jobs
from tests.ui.user_kernels import USER_KERNELS
from tests.until import until
from ui.drawing.look import Look
from ui.jobs.lanes import Lanes
from ui.jobs.result_cache import result_cache
from ui.jobs.workers import Running, StoppedError, Workers
from ui.run import cache
from ui.run.cache import Answers
from ui.run.compute import draw_frames, load_recording, open_view, place
from ui.view.view_url import View

VISITORS = 30


class ByHand(Executor):
    """Computes when it is asked to."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.jobs.append((future, lambda: function(*args, **kwargs)))
        return future

    def run(self) -> None:
        for future, call in self.jobs:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except Exception as error:
                    future.set_exception(error)
        self.jobs.clear()


class Counting:
    """Functions that count their calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def double(self, number: int) -> int:
        self.calls.append(number)
        return 2 * number

    def page(self, number: int) -> bytes:
        self.calls.append(number)
        return bytes(1000)

    def refuse(self, _: int) -> int:
        self.calls.append("refused")
        raise LaunchError("A block has at most 1,024 threads.")

    def fail(self, _: int) -> int:
        self.calls.append("failed")
        raise RuntimeError("a fault of our own")


@pytest.fixture
def counting() -> Counting:
    return Counting()


def at_once() -> Answers:
    return Answers(ThreadPoolExecutor(1))


def test_a_class_that_asks_for_the_same_has_it_computed_once(counting: Counting) -> None:
    workers = ByHand()
    answers = Answers(workers)
    together = threading.Barrier(VISITORS + 1)

    def visit(_: int) -> int:
        together.wait()
        return answers.ask(counting.double, 21)

    with ThreadPoolExecutor(VISITORS) as room:
        results = room.map(visit, range(VISITORS))
        together.wait()
        while not workers.jobs:
            pass
        workers.run()
        assert list(results) == [42] * VISITORS
    assert counting.calls == [21]
    assert answers.ask(counting.double, 21) == 42
    assert answers.knows(counting.double, 21)
    assert not answers.knows(counting.double, 22)


def test_a_quiet_run_that_takes_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.run.cache.QUIET_SECONDS", 0.05)
    told: list[object] = []
    monkeypatch.setattr("ui.run.cache.wait", lambda future, on_stop: told.append(future.result()))
    answers = Answers(ThreadPoolExecutor(1))
    assert answers.ask(abs, -1, is_quiet=True) == 1
    assert told == []
    answers.ask(time.sleep, 0.3, is_quiet=True)
    assert told == [None]


def test_an_error_that_would_come_again_is_kept_and_another_is_not(counting: Counting) -> None:
    answers = at_once()
    for _ in range(3):
        with pytest.raises(LaunchError, match="at most 1,024"):
            answers.ask(counting.refuse, 1)
        with pytest.raises(RuntimeError, match="our own"):
            answers.ask(counting.fail, 1)
    assert counting.calls.count("refused") == 1
    assert counting.calls.count("failed") == 3


def test_the_oldest_are_dropped_where_there_is_no_room(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "LARGEST", 3500)
    answers = at_once()
    for number in (1, 2, 3, 1, 4):
        answers.ask(counting.page, number)
    assert counting.calls == [1, 2, 3, 4]
    assert [n for n in range(1, 5) if answers.knows(counting.page, n)] == [1, 3, 4]


def test_a_result_that_is_not_to_be_kept_is_not(counting: Counting) -> None:
    answers = at_once()
    for _ in range(2):
        answers.ask(counting.page, 1, is_kept=False)
    assert counting.calls == [1, 1]


def test_what_came_with_another_result_is_kept(counting: Counting) -> None:
    answers = at_once()
    answers.keep(10, counting.double, 5)
    assert answers.ask(counting.double, 5) == 10
    assert counting.calls == []


def test_a_run_is_stopped_unless_others_wait_for_it(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two visitors wait; the first one clicks on Stop, then the second one."""
    stopped: list[Running[Any]] = []
    clicks: list[Callable[[], None]] = []
    left: list[str] = []

    class Stoppable(ByHand):
        def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Running[Any] = Running()
            future.set_running_or_notify_cancel()
            future.stop = lambda: stopped.append(future)
            return future

    answers = Answers(Stoppable())

    def first(_: Future[Any], on_stop: Callable[[], None]) -> None:
        clicks.append(on_stop)
        monkeypatch.setattr(cache, "wait", second)
        with pytest.raises(KeyboardInterrupt):
            answers.ask(counting.double, 1, on_stop=lambda: left.append("second"))
        raise KeyboardInterrupt

    def second(_: Future[Any], on_stop: Callable[[], None]) -> None:
        clicks[0]()  # while both wait
        assert (left, stopped) == (["first"], [])
        clicks.append(on_stop)
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "wait", first)
    with pytest.raises(KeyboardInterrupt):
        answers.ask(counting.double, 1, on_stop=lambda: left.append("first"))
    clicks[1]()
    assert (left, len(stopped)) == (["first", "second"], 1)
    assert not answers.knows(counting.double, 1)


def test_what_nobody_waits_for_any_more_is_not_begun(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = ByHand()
    answers = Answers(workers)

    def leave(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "GRACE_SECONDS", 0.05)
    with monkeypatch.context() as impatient:
        impatient.setattr(cache, "wait", leave)
        with pytest.raises(KeyboardInterrupt):
            answers.ask(counting.double, 1)
    until(lambda: all(future.cancelled() for future, _ in workers.jobs))
    workers.run()
    assert counting.calls == []
    assert not answers.knows(counting.double, 1)


class Held(ByHand):
    """Takes jobs, which can be stopped, and ends none."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Running[Any] = Running()
        future.set_running_or_notify_cancel()
        future.stop = lambda: future.set_exception(StoppedError())
        self.jobs.append((future, lambda: function(*args, **kwargs)))
        return future


def test_what_runs_and_nobody_waits_for_is_stopped_unless_it_is_asked_for_again_soon(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Held()
    answers = Answers(workers)
    monkeypatch.setattr(cache, "GRACE_SECONDS", 0.3)
    waits: list[Future[Any]] = []

    def leave(future: Future[Any], *_: object) -> None:
        waits.append(future)
        raise KeyboardInterrupt

    def stay(future: Future[Any], *_: object) -> None:
        waits.append(future)
        time.sleep(0.6)
        assert not future.done()
        future.set_result(2)

    monkeypatch.setattr(cache, "wait", leave)
    with pytest.raises(KeyboardInterrupt):
        answers.ask(counting.double, 1)
    monkeypatch.setattr(cache, "wait", stay)
    assert answers.ask(counting.double, 1) == 2
    assert waits[0] is waits[1], "the next run of a page goes on with the same job"
    monkeypatch.setattr(cache, "wait", leave)
    with pytest.raises(KeyboardInterrupt):
        answers.ask(counting.double, 3)
    until(waits[2].done)
    assert isinstance(waits[2].exception(), StoppedError)
    assert not answers.knows(counting.double, 3)


def test_what_the_time_or_a_lost_process_has_ended_is_not_kept() -> None:
    answers = at_once()
    calls: list[str] = []

    def late(_: int) -> int:
        calls.append("late")
        error = LaunchError("The time given to this run, 10 seconds, has run out.")
        error.depends_on_machine = True
        raise error

    def stopped(_: int) -> Any:
        calls.append("stopped")
        return SimpleNamespace(depends_on_machine=True)

    for _ in range(2):
        with pytest.raises(LaunchError):
            answers.ask(late, 1)
        answers.ask(stopped, 1)
    assert sorted(calls) == ["late", "late", "stopped", "stopped"]


def test_a_worker_does_not_keep_what_the_time_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(M=4, N=4, K=4, defines=(("TILE", 2),))
    result_cache().clear()
    with monkeypatch.context() as patch:
        patch.setattr("ui.run.compute.SIMULATE_SECONDS", 0.0)
        patch.setattr("simulator.machine.budget.CLOCK_INTERVAL", 1)
        with pytest.raises((LaunchError, SourceError), match="has run out"):
            load_recording(view)
    assert load_recording(view).steps


def test_a_verdict_that_was_stopped_is_not_kept() -> None:
    user_kernel = USER_KERNELS["saxpy"]
    verdict = judge(user_kernel, compile_kernel(user_kernel.text, user_kernel.kernel))
    assert not verdict.depends_on_machine
    [check, *others] = verdict.checks
    stopped = replace(check, state=CheckState.STOPPED)
    assert replace(verdict, checks=(stopped, *others)).depends_on_machine


def test_verdicts_that_take_long_leave_a_worker_to_others() -> None:
    with Workers(2, place) as workers, ThreadPoolExecutor(2) as visitors:
        answers = Answers(workers, Lanes(workers, 1))
        ask = functools.partial(answers.ask, is_long=True)
        slow = [visitors.submit(ask, jobs.process_after, 3.0 + i, 1.5) for i in range(2)]
        assert answers.ask(jobs.process, "short") > 0
        assert not any(one.done() for one in slow)
        assert slow[0].result() == slow[1].result()


@pytest.mark.deep
def test_a_long_kernel_of_ones_own_that_no_worker_remembers_takes_a_lane() -> None:
    short = USER_KERNELS["saxpy"]
    long = replace(short, text=short.text + "// for (int i = 0; i < 1000; ++i)\n")
    workers = Workers(1, place)
    lanes = Lanes(workers, 1)
    taken: list[Any] = []
    monkeyed = lanes.submit
    lanes.submit = lambda *args, **kwargs: taken.append(args) or monkeyed(*args, **kwargs)  # type: ignore[method-assign]
    answers = Answers(workers, lanes)
    try:
        for view in (View(user_kernel=long), View(user_kernel=short), View()):
            for job in (open_view, draw_frames):
                arguments = (view,) if job is open_view else (view, Look(), range(1))
                answers.ask(job, *arguments)
        assert [args[0] for args in taken] == [open_view]
    finally:
        workers.shutdown()
