"""The whole grid in the simulator: what a run finds, its progress, its stop, and the section."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from gpu.predicted_counters import predict
from simulator import simulate
from simulator.language.tree import MemorySpace
from simulator.machine.budget import Progress
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.findings import Example, Hazard
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.split.part import PartTask
from tests.ui import jobs
from tests.until import until
from ui.gpu.grid_jobs import Checked, Grid, build_grid, check_grid, load_candidate, run_part
from ui.gpu.grid_run import RUNS, GridRun, GridRuns, GridState
from ui.gpu.grid_section import RUN, time_left
from ui.jobs.lanes import Lanes
from ui.jobs.workers import Running, StoppedError, WorkerLostError, Workers
from ui.run.compute import place
from ui.web_page import leaving

APP = Path(__file__).with_name("app_with_the_grid.py")
SMALL = Grid("tiled:TILE=4", (22, 18, 9), 1)
LONG = Grid("naive", (2048, 2048, 2048), 1)


def ended(run: GridRun) -> GridState:
    until(lambda: run.state.finished)
    return run.state


class Held(Executor):
    """Jobs that have begun, and end only where they are stopped."""

    def __init__(self) -> None:
        self.begun: list[Running[Any]] = []

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Running[Any] = Running()
        future.set_running_or_notify_cancel()
        future.stop = lambda: future.set_exception(StoppedError())
        self.begun.append(future)
        return future


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.machine.machine.CHUNK_LANES", 64)


# Runs ---------------------------------------------------------------------------------------------


def test_a_part_says_at_once_which_blocks_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("ui.gpu.grid_jobs.say", said.append)
    run_part(SMALL, PartTask(range(1, 3), Schedule.LOCKSTEP, 60.0, 0.0, 0))
    assert said == ["Blocks 1 to 2 are running."]


@pytest.mark.usefixtures("small_chunks")
def test_a_run_says_what_one_process_says() -> None:
    with ThreadPoolExecutor(2) as threads:
        run = GridRuns(Lanes(threads, 2)).start(SMALL)
        state = ended(run)
    assert (state.phase, state.problem) == ("done", "")
    assert state.report is not None
    assert state.checked is not None
    expected = simulate(*build_grid(SMALL))
    assert state.report.counters == expected.counters
    assert state.report.lines == expected.lines
    assert state.report.hazards == ()
    assert state.report.arrays == {}, "the app keeps none"
    assert state.checked.verdict.verified
    assert state.checked.predicted == expected.counters
    assert run.workers == 2


def test_wrong_values_are_seen() -> None:
    _, launch = build_grid(SMALL)
    C = launch.arguments["A"] @ launch.arguments["B"]
    assert check_grid(SMALL, C).verdict.verified
    C[3, 4] += 0.1
    assert not check_grid(SMALL, C).verdict.verified


def test_a_stopped_run_frees_its_workers() -> None:
    workers = Held()
    run = GridRuns(Lanes(workers, 2)).start(SMALL)
    until(lambda: len(workers.begun) > 0)
    run.cancel()
    assert ended(run).phase == "stopped"
    assert all(one.done() for one in workers.begun)


@pytest.mark.deep
def test_a_stop_ends_a_worker_within_a_part() -> None:
    workers = Workers(1, place)
    try:
        run = GridRuns(Lanes(workers, 1)).start(LONG)
        until(lambda: run.state.progress is not None and run.state.progress.blocks_done > 0)
        run.cancel()
        assert ended(run).phase == "stopped"
        assert workers.submit(jobs.process, 0).result(60)
    finally:
        workers.shutdown(cancel_futures=True)


def test_who_leaves_stops_their_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(leaving, "LOOK_SECONDS", 0.01)
    run = GridRuns(Lanes(Held(), 1)).start(SMALL)
    leaving.watch(run.cancel, lambda: run.state.finished, lambda: False)
    assert ended(run).phase == "stopped"


def test_some_runs_go_on_at_once_and_the_others_wait() -> None:
    runs = GridRuns(Lanes(Held(), 1))
    all_runs = [runs.start(SMALL) for _ in range(RUNS + 1)]
    until(lambda: all(run.state.phase == "running" for run in all_runs[:RUNS]))
    assert all_runs[-1].state.phase == "waiting"
    waiting = runs.start(SMALL)
    waiting.cancel()
    assert ended(waiting).phase == "stopped"
    all_runs[0].cancel()
    until(lambda: all_runs[-1].state.phase == "running")
    for run in all_runs:
        run.cancel()
        ended(run)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (WorkerLostError(), str(WorkerLostError())),
        (MemoryError(), "There is not enough memory for this. Choose smaller sizes."),
        (
            ZeroDivisionError(),
            "This is a bug in Tilewise: please report it, with the kernel and its sizes.",
        ),
    ],
)
def test_a_failed_run_says_why(error: Exception, sentence: str) -> None:
    workers = Held()
    run = GridRuns(Lanes(workers, 1)).start(SMALL)
    until(lambda: len(workers.begun) > 0)
    workers.begun[0].set_exception(error)
    assert (ended(run).phase, run.state.problem) == ("failed", sentence)


# The section --------------------------------------------------------------------------------------


@pytest.fixture
def page() -> AppTest:
    st.cache_resource.clear()
    return AppTest.from_file(APP, default_timeout=60).run()


def texts(page: AppTest) -> str:
    every = [*page.markdown, *page.success, *page.error, *page.info, *page.caption]
    return "\n".join(str(one.value) for one in every)


def shown(page: AppTest, grid: Grid = SMALL, **state: Any) -> AppTest:
    """The section of a visitor whose run is at some state."""
    run = GridRun(grid, Lanes(Held(), 1))
    run.state = GridState(**state)
    page.session_state[RUN] = run
    return page.run()


def test_the_section_runs_a_grid(page: AppTest) -> None:
    for axis, size in zip("MNK", (22, 18, 9), strict=True):
        page.number_input(key=f"grid_{axis}").set_value(size)
    page.button(key="grid_go").click().run()
    assert not page.exception
    run = page.session_state[RUN]
    assert run.grid.size == (22, 18, 9)
    ended(run)
    page.run()
    assert not page.exception
    assert not page.button(key="grid_go").disabled
    said = texts(page)
    assert "4 blocks in" in said
    assert "on 1 worker." in said
    assert "No hazards" in said
    assert "C is right" in said
    assert "All counters are exactly what was predicted" in said
    candidate = load_candidate(run.grid)
    predicted = predict("tiled", candidate.text, candidate.defines, (22, 18, 9))
    rows = page.table[0].value
    assert list(rows["Every block"]) == [f"{count:,}" for count in predicted.values()]
    assert list(rows["Every block"]) == list(rows["Predicted"])
    back = AppTest.from_file(APP, default_timeout=60)  # from another page
    back.session_state[RUN] = run
    back.run()
    assert [back.number_input(key=f"grid_{axis}").value for axis in "MNK"] == [22, 18, 9]


def test_progress_and_stop(page: AppTest) -> None:
    progress = Progress(30.0, 256, 1024, None, ())
    shown(page, phase="running", progress=progress)
    assert page.button(key="grid_go").disabled
    (bar,) = page.get("progress")
    assert bar.proto.value == 25
    assert bar.proto.text.endswith("at 22 × 18 × 9**: 256 of 1,024 blocks, 30 s, about 90 s left")
    page.button(key="grid_stop").click().run()
    run = page.session_state[RUN]
    run.compute(threading.Semaphore())
    assert run.state.phase == "stopped"
    page.run()
    assert "this run was stopped." in texts(page)


def test_the_time_that_is_left() -> None:
    assert time_left(Progress(30.0, 0, 1024, None, ())) == ""
    assert time_left(Progress(100.0, 256, 1024, None, ())) == ", about 5 min left"


def test_hazards_and_counters_that_differ_are_told(page: AppTest) -> None:
    report = simulate(*build_grid(SMALL))
    example = Example((0, 0, 0), (0, 0, 0), None, None, None, ())
    hazard = Hazard(
        HazardKind.OUT_OF_BOUNDS, (7,), "C", MemorySpace.GLOBAL, "Line 7 is wrong.", 1234, example
    )
    report = dataclasses.replace(report, hazards=(hazard,), arrays={})
    counters = {**report.counters, "global_load_sectors": 1}
    wrong = check_grid(SMALL, np.zeros((22, 18), np.float32)).verdict
    shown(page, phase="done", report=report, checked=Checked(wrong, counters))
    said = texts(page)
    assert "out-of-bounds, 1,234 times: Line 7 is wrong." in said
    assert "C is wrong" in said
    assert "These counters are not what was predicted: global load sectors." in said
    shown(page, phase="done", report=report, checked=Checked(wrong, "It is too odd."))
    assert "There is no prediction to compare the counters with: It is too odd." in texts(page)


def test_a_problem_is_told(page: AppTest) -> None:
    shown(page, phase="failed", problem="The process has ended twice.")
    assert "The process has ended twice." in texts(page)


def test_one_run_for_each_visitor(page: AppTest) -> None:
    shown(page, phase="waiting")
    assert page.button(key="grid_go").disabled
    assert page.get("progress")[0].proto.text.endswith(": Others' runs come first …")
