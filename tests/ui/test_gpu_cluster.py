"""GPU jobs on a real Dask cluster, whose two workers have a GPU's stand-in each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from gpu.worker import Job
from tests.gpu.jobs import failure
from tests.until import until
from ui.gpu.gpu_cluster import GpuCluster
from ui.jobs.cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]
PAGE = str(ROOT / "ui" / "pages" / "gpu.py")
SECONDS = 60  # until what is awaited has failed to come
LIMIT = 60  # seconds of a job
SLEEP = {"job": "sleep", "doing": "Running endless"}
APP = """
import sys, time
from ui.jobs.cluster import Cluster
from ui.gpu.gpu_cluster import GpuCluster
gpus = GpuCluster(Cluster(sys.argv[1], lambda *_: 0).client)
jobs = [gpus.submit({"job": "sleep", "doing": "Running"}, 60, "gone") for _ in range(4)]
while [job.state.message for job in jobs].count("Running") < 2:
    time.sleep(0.05)
print("running", flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.gpu.gpu_cluster.POLL_SECONDS", 0.05)


@pytest.fixture(scope="module")
def clusters(scheduler: str) -> Iterator[list[Cluster]]:
    """Two apps' connections."""
    found = [Cluster(scheduler, lambda *_: 0) for _ in range(2)]
    yield found
    st.cache_resource.clear()  # a page's connection to the first
    for one in found:
        one.shutdown()


@pytest.fixture
def apps(clusters: list[Cluster]) -> list[GpuCluster]:
    apps = [GpuCluster(one.client) for one in clusters]
    until(lambda: len(apps[0].workers()) == 2)  # one that another test has ended is back
    return apps


def runs(job: Job) -> bool:
    assert not job.state.finished, job.state
    return job.state.message == "Running endless"


def take_gpus(app: GpuCluster) -> list[Job]:
    """Jobs that run on both GPUs at once."""
    jobs = [app.submit(SLEEP, LIMIT, owner) for owner in ("first", "second")]
    until(lambda: all(runs(job) for job in jobs))
    return jobs


def end_worker_of_the_job(cluster: Cluster) -> None:
    """Kill the Dask worker that has the one job."""
    client = cluster.client
    [busy] = [address for address, tasks in client.processing().items() if tasks]
    os.kill(client.run(os.getpid, workers=[busy])[busy], signal.SIGKILL)


@pytest.mark.deep
def test_thirty_jobs_of_two_apps_take_turns(apps: list[GpuCluster]) -> None:
    holding = take_gpus(apps[0])
    owners = [owner for owner in "abcde" for _ in range(6)]
    jobs = [apps[owner in "ace"].submit({"job": "echo"}, LIMIT, owner) for owner in owners]
    until(lambda: sorted(job.state.before for job in jobs) == list(range(2, 32)))
    last = max(jobs, key=lambda job: job.state.before)
    assert last.state.message == "Place 32 in the queue, 31 jobs before yours"
    holding[0].cancel()  # the other GPU stays taken: one after another
    started = [float(job.wait()["at"]) for job in jobs]
    served = "".join(owner for _, owner in sorted(zip(started, owners, strict=True)))
    rounds = [served[begin : begin + 5] for begin in range(0, 30, 5)]
    assert [sorted(one) for one in rounds] == [sorted("abcde")] * 6
    holding[1].cancel()
    assert failure(holding[1]) == "Cancelled."


def test_a_job_that_leaves_the_line_lets_others_move_up(apps: list[GpuCluster]) -> None:
    holding = take_gpus(apps[0])
    first = apps[0].submit({"job": "echo"}, LIMIT, "a")
    until(lambda: first.state.before == 2)
    second = apps[1].submit({"job": "echo", "say": 2}, LIMIT, "b")
    until(lambda: second.state.before == 3)
    first.cancel()
    assert failure(first) == "Cancelled before it started."
    until(lambda: second.state.before == 2)
    for job in holding:
        job.cancel()
    assert second.wait()["said"] == 2


def test_the_jobs_of_an_app_that_has_ended_leave(apps: list[GpuCluster], scheduler: str) -> None:
    app = subprocess.Popen(
        [sys.executable, "-c", APP, scheduler], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with app:
        assert app.stdout
        assert app.stdout.readline() == "running\n"
        job = apps[0].submit({"job": "echo", "say": "next"}, LIMIT, "a")
        until(lambda: job.state.before == 2)
        app.kill()
    assert job.wait()["said"] == "next"


def test_a_gpu_process_that_dies_is_the_job_s_own_sentence(apps: list[GpuCluster]) -> None:
    assert "ended (exit code 7)" in failure(apps[0].submit({"job": "die"}, LIMIT))


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
@pytest.mark.deep
def test_a_job_whose_worker_is_killed_in_the_middle_is_done_by_another(
    apps: list[GpuCluster], clusters: list[Cluster]
) -> None:
    before = set(apps[0].workers())
    job = apps[0].submit(SLEEP | {"seconds": 3}, LIMIT)
    until(lambda: runs(job))
    [first] = [address for address, tasks in clusters[0].client.processing().items() if tasks]
    end_worker_of_the_job(clusters[0])
    until(lambda: not runs(job))
    until(lambda: runs(job))
    [second] = [address for address, tasks in clusters[0].client.processing().items() if tasks]
    assert second in before - {first}
    assert job.wait()["process"]


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
def test_a_job_whose_workers_end_twice_is_a_sentence(
    apps: list[GpuCluster], clusters: list[Cluster]
) -> None:
    job = apps[0].submit(SLEEP, LIMIT)
    until(lambda: runs(job))
    end_worker_of_the_job(clusters[0])
    until(lambda: not runs(job))
    until(lambda: runs(job))
    end_worker_of_the_job(clusters[0])
    assert failure(job).startswith("The cluster's worker that ran this has ended twice.")


def opened(monkeypatch: pytest.MonkeyPatch, cluster: Cluster, command: str) -> AppTest:
    """The GPU page of an app on the cluster; the command is this machine's GPU process."""
    st.cache_resource.clear()
    st.cache_data.clear()
    monkeypatch.setattr("ui.gpu.gpu_jobs.executor", lambda: cluster)
    monkeypatch.setattr("gpu.worker.COMMAND", (sys.executable, "-c", command))
    page = AppTest.from_file(PAGE, default_timeout=SECONDS).run()
    assert not page.exception
    return page


@pytest.mark.deep
def test_a_page_without_a_gpu_compares_on_the_cluster(
    monkeypatch: pytest.MonkeyPatch, apps: list[GpuCluster], clusters: list[Cluster]
) -> None:
    page = opened(monkeypatch, clusters[0], "raise SystemExit(3)")
    assert page.header[0].value == "On the cluster"
    page.multiselect(key="compare_kernels").set_value(["tiled"]).run()
    page.number_input(key="compare_M").set_value(300).run()
    page.button(key="compare_run").click().run()
    until(lambda: page.session_state["compare_job"].state.finished)
    page.run()
    assert not page.exception
    assert any("multiplies 300 ×" in text.value for text in page.markdown)


def test_where_no_worker_has_a_gpu_the_page_says_how_one_joins(
    monkeypatch: pytest.MonkeyPatch, apps: list[GpuCluster], clusters: list[Cluster], scheduler: str
) -> None:
    monkeypatch.setattr(GpuCluster, "workers", lambda _: ())
    page = opened(monkeypatch, clusters[0], "raise SystemExit(3)")
    assert page.expander[-1].label == "What is missing to run kernels here: a working GPU process"
    command = f"python -m dask worker {scheduler} --resources GPU=1 --nthreads 1"
    assert page.code[-1].value == command
    monkeypatch.undo()
    monkeypatch.setattr("ui.gpu.gpu_jobs.executor", lambda: clusters[0])
    next(button for button in page.button if button.label == "Look again").click()
    page.run()
    assert page.header[0].value == "On the cluster"
