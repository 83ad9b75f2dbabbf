"""A Dask cluster whose one worker has a real GPU: comparisons of two apps, and a lost worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from gpu.candidate import choose
from gpu.compare import request
from gpu.comparison import comparison_from
from gpu.worker import Job
from tests.ui.dask_cluster import running_cluster
from tests.until import until
from ui.gpu.gpu_cluster import AGAIN, GpuCluster
from ui.jobs.cluster import Cluster

pytestmark = pytest.mark.gpu

SIZE = (4096, 4096, 4096)
LIMIT = 120  # seconds of a job
SECONDS = 120  # until what is awaited has failed to come


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.gpu.gpu_cluster.POLL_SECONDS", 0.05)


@pytest.fixture(scope="module")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Cluster]]:
    """Two apps' connections."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    folder = tmp_path_factory.mktemp("dask")
    with running_cluster(folder, [("--resources", "GPU=1")]) as address:
        found = [Cluster(address, lambda *_: 0) for _ in range(2)]
        yield found
        for one in found:
            one.shutdown()


def compare(app: Cluster, owner: str) -> Job:
    candidates = [choose(name, SIZE) for name in ("naive", "tiled", "warptiles")]
    return GpuCluster(app.client).submit(request(SIZE, candidates), LIMIT, owner)


def measures(job: Job) -> bool:
    assert not job.state.finished, job.state
    return job.state.message.startswith(("Running", "Warming", "Timing"))


def show(name: str, job: Job) -> None:
    """Wait for a comparison, print it and check that it is right."""
    comparison = comparison_from(dict(job.wait()))
    speeds = [f"{kernel.name} {kernel.tflops or 0:.1f}" for kernel in comparison.kernels]
    print(f"{name} on {comparison.device.name}, TFLOP/s: {', '.join(speeds)}")
    assert comparison.verified
    assert comparison.size == SIZE


def test_two_owners_take_turns_at_the_gpu(apps: list[Cluster]) -> None:
    device = dict(GpuCluster(apps[0].client).status())["device"]
    assert device["name"]
    first = compare(apps[0], "a")
    until(lambda: measures(first), SECONDS)
    second = compare(apps[0], "a")
    until(lambda: second.state.before == 1, SECONDS)
    other = compare(apps[1], "b")
    until(lambda: second.state.before == 2, SECONDS)
    print(f"a's second: {second.state.message}; b's first: {other.state.message}")
    show("a's first", first)
    show("b's first", other)
    assert not second.state.finished
    show("a's second", second)


@pytest.mark.skipif(os.name != "posix", reason="ends a process by a signal")
def test_a_comparison_whose_worker_is_killed_is_made_by_the_next(apps: list[Cluster]) -> None:
    job = compare(apps[0], "a")
    until(lambda: measures(job), SECONDS)
    [(_, process)] = apps[0].client.run(os.getpid).items()
    os.kill(process, signal.SIGKILL)
    until(lambda: job.state == AGAIN, SECONDS)
    print(f"its worker was killed: {job.state.message}")
    show("a's", job)
    [(_, next_process)] = apps[0].client.run(os.getpid).items()
    assert next_process != process
