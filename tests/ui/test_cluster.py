"""A Dask cluster of a scheduler and two workers, on this machine: the same jobs run there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from simulator import SourceError, simulate
from tests.browser.app import running_app
from tests.hostile.texts import BOMBS
from tests.protocol_client import run, visitor
from tests.ui import jobs
from ui.drawing.look import Look
from ui.gpu.grid_jobs import Grid, build_grid
from ui.gpu.grid_run import GridRuns
from ui.jobs.cluster import Cluster, ClusterError
from ui.jobs.lanes import Lanes
from ui.jobs.workers import WorkerLostError
from ui.run.compute import figure_key, open_scene, place
from ui.view.view_url import DEFAULT

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120  # until a job has failed to come back


@pytest.fixture(scope="module")
def cluster(scheduler: str) -> Iterator[Cluster]:
    found = Cluster(scheduler, lambda _, where, *__: where)
    yield found
    found.shutdown()


def worker_of(process: int) -> int:
    """The Dask worker that has started a process for its jobs."""
    return psutil.Process(process).ppid()


def test_a_job_goes_where_the_like_of_it_was_computed(cluster: Cluster) -> None:
    both = [cluster.submit(jobs.process_after, name, 1.0) for name in "ab"]
    first, second = (job.result(SECONDS) for job in both)
    assert os.getpid() not in (first, second)
    for _ in range(4):
        assert cluster.submit(jobs.process, "b").result(SECONDS) == second
        assert cluster.submit(jobs.process, "a").result(SECONDS) == first


def test_an_error_is_the_jobs_own(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match="No such thing"):
        cluster.submit(jobs.fail, "a", "No such thing.").result(SECONDS)


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
def test_a_job_whose_worker_is_killed_in_the_middle_is_computed_by_another(
    cluster: Cluster, tmp_path: Path
) -> None:
    running = cluster.submit(jobs.note_process_and_wait, "a", str(tmp_path / "process"), 1.0)
    while not (tmp_path / "process").exists():
        time.sleep(0.05)
    killed = worker_of(int((tmp_path / "process").read_text()))
    os.kill(killed, signal.SIGKILL)
    assert worker_of(running.result(SECONDS)) != killed


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
@pytest.mark.deep
def test_a_job_whose_last_worker_is_killed_is_computed_by_the_next(
    cluster: Cluster, tmp_path: Path
) -> None:
    assert cluster.submit(jobs.process, "a").result(SECONDS)  # its place is known
    running = cluster.submit(jobs.note_process_and_wait, "a", str(tmp_path / "process"), 1.0)
    while not (tmp_path / "process").exists():
        time.sleep(0.05)
    last = worker_of(int((tmp_path / "process").read_text()))
    workers = cluster.client.run(os.getpid)
    for address, process in workers.items():
        if process != last:
            os.kill(process, signal.SIGKILL)
            while address in cluster.client.ncores():
                time.sleep(0.01)
    os.kill(last, signal.SIGKILL)
    assert worker_of(running.result(SECONDS)) not in workers.values()


def test_a_job_that_ends_its_worker_twice_is_a_sentence(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(WorkerLostError, match=r"has ended twice\. Smaller matrices need less"):
        cluster.submit(jobs.end_until, "a", str(tmp_path), 9).result(SECONDS)
    assert len(list(tmp_path.iterdir())) == 2
    assert cluster.submit(jobs.process, "a").result(SECONDS)


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        (BOMBS["a tree of templates"][0], SourceError, "The compiler needed more than 2 seconds"),
        pytest.param(BOMBS["__make_integer_seq"][0], SourceError, "The compiler needed more than",
                     marks=pytest.mark.deep),
    ],
)  # fmt: skip
def test_a_job_that_passes_a_limit_is_told_and_leaves_the_worker(
    cluster: Cluster, text: str, error: type[Exception], sentence: str
) -> None:
    before = worker_of(cluster.submit(jobs.process, "a").result(SECONDS))
    with pytest.raises(error, match=sentence):
        cluster.submit(jobs.compile_text, "a", text).result(SECONDS)
    assert worker_of(cluster.submit(jobs.process, "a").result(SECONDS)) == before


def test_a_view_is_the_same_from_there(cluster: Cluster, scheduler: str) -> None:
    apart = Cluster(scheduler, place)
    view, look = figure_key(DEFAULT), Look()
    opened, picture = apart.submit(open_scene, view, look).result(SECONDS)
    here, picture_here = open_scene(view, look)
    assert picture == picture_here
    assert opened.navigation == here.navigation
    assert opened.reports[0].counters == here.reports[0].counters
    apart.shutdown()


def test_a_whole_grid_is_the_same_from_there(scheduler: str) -> None:
    apart, grid = Cluster(scheduler, place), Grid("naive", (300, 300, 8), 1)
    assert apart.size > 0
    found = GridRuns(Lanes(apart, 2)).start(grid)
    until = time.monotonic() + SECONDS
    while not found.state.finished:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert found.state.phase == "done", found.state.problem
    assert found.workers == 2, "it has two parts"
    assert found.state.report is not None
    assert found.state.report.counters == simulate(*build_grid(grid)).counters
    apart.shutdown()


def test_where_no_scheduler_answers_a_sentence_says_so() -> None:
    with pytest.raises(ClusterError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        Cluster("tcp://127.0.0.1:9", place, seconds=1)


async def open_a_view(address: str) -> str:
    async with visitor(address, "kernel=naive") as one:
        await one.rerun()
        return str(one.header("scene")["name"])


@pytest.mark.deep
def test_the_page_computes_there(cluster: Cluster, scheduler: str) -> None:
    with running_app(TILEWISE_SCHEDULER=scheduler) as address:
        assert run(open_a_view(address)).startswith("Naive")


@pytest.mark.deep
def test_an_app_whose_scheduler_does_not_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWISE_SCHEDULER", "tcp://127.0.0.1:9")
    code = "from ui.jobs import cluster; cluster.CONNECT_SECONDS = 1; import app"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=SECONDS
    )
    assert ended.returncode == 1
    assert re.search("^error: No Dask scheduler answers at tcp://127.0.0.1:9", ended.stderr, re.M)
    assert "Traceback" not in ended.stderr
