"""A class that downloads at once while it steps: every file comes whole, in little memory."""

from __future__ import annotations

import asyncio
import itertools
import urllib.request
from contextlib import AsyncExitStack

import psutil
import pytest

from tests.browser.app import App, started_app
from tests.protocol_client import Visitor, run, visitor

VISITORS = 30
VIEWS = 4  # that differ, each of them asked for by several
BUTTON = "download Animation, one HTML file"
MB = 1_000_000
ADDED = 100 * MB  # to the memory of the app, at most


def fetch(address: str) -> bytes:
    with urllib.request.urlopen(address) as answer:  # noqa: S310  # our own app
        content: bytes = answer.read()
    return content


async def step_on(one: Visitor) -> None:
    """Report a step every few moments, as those do who do not download."""
    for step in itertools.count():
        await one.report_step(step % 9)
        await asyncio.sleep(0.2)


async def downloaded(address: str, one: Visitor) -> bytes:
    path = await one.download(BUTTON)
    await asyncio.sleep(0.3)  # a slow network
    return await asyncio.to_thread(fetch, f"{address}{path}")


async def visited(app: App) -> tuple[list[bytes], int, int]:
    """The files of a class, and the app's memory before and at most."""
    address, process = app.address, psutil.Process(app.process.pid)  # without its workers
    async with AsyncExitStack() as stack:
        room = []
        for number in range(VISITORS):
            one = await stack.enter_async_context(visitor(address, f"tx={number % VIEWS}"))
            await one.rerun()
            await one.choose("popover more", True)
            room.append(one)
        steppers = [asyncio.create_task(step_on(one)) for one in room[:5]]
        before = most = process.memory_info().rss
        asked = asyncio.gather(*(downloaded(address, one) for one in room[5:]))
        while not asked.done():
            await asyncio.sleep(0.05)
            most = max(most, process.memory_info().rss)
        for one in steppers:
            one.cancel()
        await asyncio.gather(*steppers, return_exceptions=True)
        return await asked, before, most


@pytest.mark.deep
def test_every_file_comes_whole_and_the_memory_stays_small() -> None:
    with started_app() as app:
        files, before, most = run(visited(app))
    assert len(files) == VISITORS - 5
    assert {file[:15] for file in files} == {b"<!doctype html>"}
    assert all(file.rstrip().endswith(b"</html>") for file in files)
    assert most - before < ADDED
