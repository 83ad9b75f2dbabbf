"""A visitor who leaves cancels their job; the one who looks at another page does not."""

from __future__ import annotations

import asyncio
import itertools
import time
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlencode

import psutil
import pytest

from gpu.worker import Job, JobState
from tests.browser.app import App, running_app, started_app
from tests.protocol_client import Visitor, run, visitor
from tests.ui.user_kernels import array, user_kernel
from tests.until import until
from ui.view import user_kernel_link
from ui.web_page import leaving

AWAY = 2.0  # seconds, longer than app_with_a_fake_gpu.py allows
APP = Path(__file__).with_name("app_with_a_fake_gpu.py")
BUTTON = "download Animation, one HTML file"
LONG = user_kernel(
    """__global__ void walk(float* x, int n) {
    for (int i = 0; i < n; ++i) {
        x[threadIdx.x] = x[(threadIdx.x + 1) % 32] + 1.0f;
        __syncthreads();
    }
}
""",
    "1", "32", array("x", "32"), ("n", "1500"),
)  # fmt: skip


def test_a_connection_that_comes_back_cancels_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "LOOK_SECONDS", 0.0)
    job = Job({}, 1)
    looks = itertools.count()

    def is_there() -> bool:
        if next(looks) == 30:
            job.move(JobState("done", "Done"))
        return next(looks) % 4 == 0

    leaving.watch(job.cancel, lambda: job.state.finished, is_there)
    assert not job.cancelled.is_set()


def test_who_stays_away_cancels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(leaving, "LOOK_SECONDS", 0.01)
    job = Job({}, 1)
    leaving.watch(job.cancel, lambda: job.state.finished, lambda: False)
    assert job.cancelled.is_set()


async def download_and_leave(address: str) -> bytes:
    """Ask for a long animation and leave; a scene that another visitor has opened meanwhile."""
    async with visitor(
        address, urlencode({user_kernel_link.PARAMETER: user_kernel_link.encode(LONG)})
    ) as one:
        await one.rerun()
        await one.choose("popover more", True)
        download = asyncio.create_task(one.download(BUTTON))
        await asyncio.sleep(1.0)
        async with visitor(address) as other:
            await other.rerun()
            scene = other.find("scene").bytes
            assert not download.done()
        download.cancel()
        await asyncio.gather(download, return_exceptions=True)
    return bytes(scene)


def worker_seconds(app: App) -> float:
    """Seconds of a processor that the app's workers have taken."""
    workers = psutil.Process(app.process.pid).children(recursive=True)
    return sum(sum(one.cpu_times()[:2]) for one in workers)


def is_at_rest(app: App) -> bool:
    """Whether the workers compute next to nothing for a moment."""
    before = worker_seconds(app)
    time.sleep(1.0)
    return abs(worker_seconds(app) - before) < 0.2


@pytest.mark.deep
def test_a_download_ends_with_its_visitor_and_holds_up_nobody() -> None:
    with started_app(TILEWISE_CLICK_SECONDS="3600") as app:
        assert run(download_and_leave(app.address))
        until(lambda: is_at_rest(app))


async def waits(one: Visitor) -> bool:
    """Whether a visitor's job has not ended."""
    await one.rerun()
    return bool(one.find("compare_limits_run").disabled)


async def leave(address: str) -> None:
    async with visitor(address, page="") as next_one:
        async with AsyncExitStack() as tab:
            first = await tab.enter_async_context(visitor(address, page=""))
            await first.rerun()
            await first.press("compare_run")
            await next_one.rerun()
            await next_one.press("compare_limits_run")
            first.page, first.page_hash = "empty", ""
            await first.rerun()
            assert first.find("nothing"), "the other page"
            await asyncio.sleep(AWAY)
            assert await waits(next_one)
        until = time.monotonic() + 60
        while await waits(next_one):
            assert time.monotonic() < until, "the job of who has left holds the GPU"
            await asyncio.sleep(0.2)


@pytest.mark.deep
def test_a_closed_tab_cancels_and_another_page_does_not() -> None:
    with running_app(APP, FAKE_SECONDS="600") as address:
        run(leave(address))
