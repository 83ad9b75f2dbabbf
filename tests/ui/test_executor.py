"""Worker processes: which of them computes what, and what happens when one ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import CancelledError
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from simulator import LaunchError, SourceError
from simulator.split.processes import processor_count
from tests.ui import jobs
from tests.until import until
from ui.jobs import workers as workers_module
from ui.jobs.settings import CLICK
from ui.jobs.workers import PATIENCE, SHARE, STARTS, Marked, StoppedError, WorkerLostError, Workers
from ui.run import executor
from ui.run.executor import VARIABLE

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60  # until a job has failed to come back
ALONE = """
import os, sys, time
from tests.ui import jobs
from ui.jobs.workers import Workers
if __name__ == "__main__":
    workers = Workers(1, lambda _, place, *__: place)
    print(workers.submit(jobs.process, 1).result(60), flush=True)
    workers.submit(jobs.process_after, 1, 600)
    time.sleep(600)
"""


def by_first(_: object, place: object, *__: object) -> object:
    return place


@pytest.fixture
def workers() -> Iterator[Workers]:
    two = Workers(2, by_first)
    yield two
    two.shutdown(cancel_futures=True)


def test_jobs_run_in_other_processes_at_the_same_time(workers: Workers) -> None:
    both = [workers.submit(jobs.process_after, place, 0.2) for place in "ab"]
    processes = {job.result(SECONDS) for job in both}
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_a_job_goes_where_the_like_of_it_was_computed(workers: Workers) -> None:
    both = [workers.submit(jobs.process_after, place, 0.2) for place in "ab"]
    first, second = (job.result(SECONDS) for job in both)
    for _ in range(5):
        assert workers.submit(jobs.process, "b").result(SECONDS) == second
        assert workers.submit(jobs.process, "a").result(SECONDS) == first


def test_a_job_waits_for_the_like_of_it_and_a_second_one_does_not(workers: Workers) -> None:
    both = [workers.submit(jobs.process_after, place, 0.2) for place in "ab"]
    first, second = (job.result(SECONDS) for job in both)
    running = workers.submit(jobs.process_after, "a", 1.0)
    waiting = workers.submit(jobs.process_after, "a", 0.1)
    assert not waiting.running()
    assert workers.submit(jobs.process, "a").result(SECONDS) == second
    assert running.result(SECONDS) == first
    assert waiting.result(SECONDS) in (first, second)


@pytest.mark.deep
def test_a_job_goes_elsewhere_where_the_like_of_it_takes_long(workers: Workers) -> None:
    blocked = workers.submit(jobs.say_and_wait, "a", "I am here for long.", 600.0)
    assert workers.submit(jobs.process, "a").result(SECONDS)
    assert not blocked.done()
    until(lambda: blocked.progress_message() == "I am here for long.")
    blocked.stop()


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.deep
def test_a_job_waits_as_long_as_what_is_kept_took(is_kept: bool) -> None:
    workers = Workers(2, by_first, lambda place: is_kept)
    first = workers.submit(jobs.process_after, "a", 8 * PATIENCE).result(SECONDS)
    workers.submit(jobs.process_after, "a", 4 * PATIENCE)
    waiting = [workers.submit(jobs.process, "a") for _ in range(2)]
    assert (waiting[1].result(SECONDS) == first) == is_kept
    workers.shutdown()


@pytest.mark.deep
def test_of_jobs_of_no_lane_only_some_run_at_once() -> None:
    workers = Workers(3, by_first, at_once=1)
    first = workers.submit(jobs.process_after, "a", 600.0)
    second = workers.submit(jobs.process, "b")
    in_a_lane = Marked(jobs.process_after, lane=0)
    assert workers.submit(in_a_lane, "c", 0.1).result(SECONDS)
    assert workers.submit(in_a_lane, "d", 0.1).result(SECONDS)
    assert not second.done()
    first.stop()
    assert second.result(SECONDS)
    workers.shutdown()


@pytest.mark.deep
def test_a_job_that_had_to_wait_goes_to_the_first_that_is_free(workers: Workers) -> None:
    blocked = workers.submit(jobs.say_and_wait, "a", "I am here for long.", 600.0)
    other = workers.submit(jobs.process_after, "b", 2 * PATIENCE)
    assert workers.submit(jobs.process, "a").result(SECONDS) == other.result(SECONDS)
    until(lambda: blocked.progress_message() == "I am here for long.")
    blocked.stop()


def test_a_job_that_is_ahead_waits_for_all_others() -> None:
    one = Workers(1, by_first)
    one.submit(jobs.process_after, "a", 0.5)
    ahead = one.submit(Marked(jobs.process, is_ahead=True), "a")
    others = [one.submit(jobs.process_after, place, 0.1) for place in "ab"]
    ahead.result(SECONDS)
    assert all(other.done() for other in others)
    one.shutdown()


def test_a_job_that_is_ahead_does_not_go_elsewhere(workers: Workers) -> None:
    both = [workers.submit(jobs.process_after, place, 0.2) for place in "ab"]
    first, _ = (job.result(SECONDS) for job in both)
    workers.submit(jobs.process_after, "a", 3 * PATIENCE)
    assert workers.submit(Marked(jobs.process, is_ahead=True), "a").result(SECONDS) == first


def test_an_error_is_the_jobs_own(workers: Workers) -> None:
    with pytest.raises(ValueError, match="No such thing"):
        workers.submit(jobs.fail, "a", "No such thing.").result(SECONDS)
    assert workers.submit(jobs.process, "a").result(SECONDS)


def test_a_job_whose_process_ends_is_tried_once_more(workers: Workers, tmp_path: Path) -> None:
    other = workers.submit(jobs.process_after, "b", 0.5)
    assert workers.submit(jobs.end_until, "a", str(tmp_path), 1).result(SECONDS) == 1
    assert other.result(SECONDS)


@pytest.mark.deep
def test_a_compiler_that_was_lost_is_tried_once_more_and_then_told(
    workers: Workers, tmp_path: Path
) -> None:
    once, twice = tmp_path / "once", tmp_path / "twice"
    once.mkdir()
    twice.mkdir()
    assert workers.submit(jobs.end_compiling_until, "a", str(once), 1).result(SECONDS) == 1
    with pytest.raises(SourceError, match="The compiler stopped in the middle") as error:
        workers.submit(jobs.end_compiling_until, "a", str(twice), 9).result(SECONDS)
    assert error.value.depends_on_machine


def test_a_job_whose_process_ends_twice_is_a_sentence(workers: Workers, tmp_path: Path) -> None:
    with pytest.raises(WorkerLostError, match=r"has ended twice\. Smaller matrices need less"):
        workers.submit(jobs.end_until, "a", str(tmp_path), 9).result(SECONDS)
    assert len(list(tmp_path.iterdir())) == 2
    assert workers.submit(jobs.process, "a").result(SECONDS)


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
def test_a_process_that_ended_while_it_had_nothing_to_do_is_replaced(workers: Workers) -> None:
    before = workers.submit(jobs.process, "a").result(SECONDS)
    os.kill(before, signal.SIGKILL)
    assert workers.submit(jobs.process, "a").result(SECONDS) != before


def test_a_cancelled_job_is_not_begun(tmp_path: Path) -> None:
    one = Workers(1, by_first)
    running = one.submit(jobs.process_after, "a", 1.0)
    waiting = one.submit(jobs.leave_mark, "a", str(tmp_path / "mark"))
    last = one.submit(jobs.process, "a")
    assert waiting.cancel()
    assert running.result(SECONDS) == last.result(SECONDS)
    with pytest.raises(CancelledError):
        waiting.result(SECONDS)
    assert not list(tmp_path.iterdir())
    one.shutdown()


def test_a_job_says_how_far_it_is(workers: Workers) -> None:
    job = workers.submit(jobs.say_and_wait, "a", "3 of 64 blocks are done: äöü", 1.0)
    assert job.progress_message() in ("", "3 of 64 blocks are done: äöü")
    until(lambda: job.progress_message() == "3 of 64 blocks are done: äöü")
    assert job.result(SECONDS)
    assert job.progress_message() == ""
    long = workers.submit(jobs.say_and_wait, "a", "é" * 1000, 1.0)
    until(lambda: long.progress_message().startswith("é" * 100))


def test_a_job_that_is_stopped_ends_at_once_and_the_next_is_computed() -> None:
    workers = Workers(1, by_first)
    running = workers.submit(jobs.say_and_wait, "a", "I have begun.", 600.0)
    waiting = workers.submit(jobs.process_after, "a", 0.1)
    taken_back = workers.submit(jobs.process_after, "a", 600.0)
    until(lambda: running.progress_message() == "I have begun.")
    taken_back.stop()
    running.stop()
    with pytest.raises(StoppedError, match=r"This was stopped\."):
        running.result(SECONDS)
    with pytest.raises(CancelledError):
        taken_back.result(SECONDS)
    assert waiting.result(SECONDS)
    workers.shutdown()


def test_a_job_whose_process_has_not_started_yet_can_be_stopped() -> None:
    workers = Workers(1, by_first)
    running = workers.submit(jobs.process_after, "a", 600.0)
    until(running.running)
    running.stop()
    with pytest.raises(StoppedError):
        running.result(SECONDS)
    workers.shutdown()


@pytest.mark.parametrize("failures", [1, STARTS - 1, 1000])
def test_every_job_ends_though_no_process_can_be_started(
    monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    start, failed = SpawnProcess._Popen, list[int]()

    def fails(process: object) -> object:
        if len(failed) < failures:
            failed.append(1)
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return start(process)

    monkeypatch.setattr(workers_module, "PAUSE", 0.05)
    monkeypatch.setattr(SpawnProcess, "_Popen", staticmethod(fails))
    workers = Workers(1, by_first)
    both = [workers.submit(jobs.process, "a") for _ in range(2)]
    if failures < STARTS:
        assert both[0].result(SECONDS) == both[1].result(SECONDS)
    else:
        for one in both:
            with pytest.raises(WorkerLostError, match="No process could be started to compute"):
                one.result(SECONDS)
        monkeypatch.undo()
        assert workers.submit(jobs.process, "a").result(SECONDS)
    workers.shutdown()


@pytest.mark.deep
def test_a_process_that_has_grown_past_its_share_is_replaced_between_two_jobs() -> None:
    workers = Workers(1, by_first)
    first = workers.submit(jobs.hold, "a", 2**20).result(SECONDS)
    grown = workers.submit(jobs.hold, "a", SHARE).result(SECONDS)
    assert grown == first
    assert workers.submit(jobs.process, "a").result(SECONDS) != first
    assert not workers.remembers("b")
    workers.shutdown()


def test_what_a_job_may_take_of_a_processor_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLICK, "0.5")
    monkeypatch.setattr(workers_module, "SLOWEST", 1000.0)
    workers = Workers(1, by_first)
    with pytest.raises(LaunchError, match=r"more than 0\.5 seconds of processor time") as error:
        workers.submit(jobs.compute_for_ever, "a").result(SECONDS)
    assert error.value.depends_on_machine
    workers.shutdown()


def test_a_process_that_does_not_run_at_all_is_ended_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(CLICK, "0.5")
    monkeypatch.setattr(workers_module, "SLOWEST", 1.0)
    workers = Workers(1, by_first)
    with pytest.raises(WorkerLostError, match="has ended twice"):
        workers.submit(jobs.process_after, "a", 600.0).result(SECONDS)
    workers.shutdown()


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
def test_no_process_outlives_an_app_that_was_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ALONE], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as app:
        assert app.stdout is not None
        worker = int(app.stdout.readline())
        app.kill()
        until(lambda: not is_running(worker))


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")  # one that has ended may wait for its parent to ask
    return not status.exists() or ") Z " not in status.read_text()


@pytest.mark.parametrize(
    ("value", "count"), [("3", 3), ("0", 1), ("-1", 1), ("many", None), ("", None)]
)
def test_the_environment_says_how_many_processes_there_are(
    monkeypatch: pytest.MonkeyPatch, value: str, count: int | None
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    assert executor.worker_count() == (processor_count() + 2 if count is None else count)


def test_the_app_never_computes_in_its_own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    monkeypatch.setattr("ui.run.executor.Workers", Workers)
    executor.executor.cache_clear()
    made = executor.executor()
    executor.executor.cache_clear()
    assert made.submit(jobs.process, "a").result(SECONDS) != os.getpid()
    made.shutdown()
