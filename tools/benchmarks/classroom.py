"""Prints how long a class waits that does the same at once, and what that costs the server.

Run it as `python -m tools.benchmarks.classroom [VISITORS]`, 30 without a number. The visitors speak
Streamlit's protocol, from one process on the same machine. Seconds are from a request until its
script run has finished: with the scene, and all else that the page then has. A view is known if
anyone has had it since the server was started. A bare Streamlit page with as many controls and no
scene shows what Streamlit itself takes. CPU seconds are spent by the server's own process, and of
its worker processes, for each action.

`python -m tools.benchmarks.classroom links` prints only how long a hundred visitors with a link
each wait, who come within 20 seconds, and who then step.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import parse_qsl

import psutil

from simulator import catalogue
from tests.browser.app import AS_USUAL, running_app
from tests.protocol_client import Answer, Visitor, visitor
from tools.benchmarks.waits import percentile
from ui.view.presets import presets
from ui.view.view_url import INPUTS, View, from_query

VISITORS = 30
OPENED_SECONDS = 10.0  # within which all open the page
TOGETHER_SECONDS = 2.0  # within which all act
VIEWPORT_COOKIE = "tilewise_room=1240x600"  # the cookie of a window of 1280 x 720
RECORDERS = 4  # they record a long kernel while another visitor acts
SIMPLE_ACTIONS = 20
STEPPERS = 100  # they step at once
STEPPED_SECONDS = 5
HUNDRED = 100  # visitors who open a link each
HUNDRED_SECONDS = 20.0  # within which all open theirs


def read_link(query: str) -> View:
    """The view that a link opens."""
    return from_query(dict(parse_qsl(query)))[0]


LINKS = [
    f"M=64&N=64&K=64&kernel={name}&{macro}={value}"
    for name, entry in catalogue().items()
    for macro, offered in entry.defines.items()
    for value in offered
]
LIGHT = ("tiled", "tiled_double", "transposed", "padded", "swizzled", "rows")
LIGHT_LINKS = {  # of views that all differ, by their views
    read_link(query): query
    for block, inputs, link in itertools.product(("", "&bx=1"), INPUTS, LINKS)
    if read_link(query := f"{link}{block}&inputs={inputs}").kernel in LIGHT
}

# A page with as many controls as the Step page.
BARE = """
import streamlit as st
st.set_page_config(layout="wide")
for number in range(15):
    st.button(f"button {number}", help="help")
for number in range(8):
    st.selectbox(f"selectbox {number}", ["one", "two", "three"], key=f"select{number}", help="help")
for number in range(7):
    st.number_input(f"number {number}", 0, 64, 8, key=f"number{number}", help="help")
for number in range(11):
    st.checkbox(f"checkbox {number}", key=f"check{number}", help="help")
"""

Action = Callable[[Visitor, int], Awaitable[Answer]]


def main(visitors: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "bare.py"
        script.write_text(BARE, encoding="utf-8")
        with running_app(script, **AS_USUAL) as address:
            asyncio.run(measure_bare_page(address, visitors))
    with running_app(**AS_USUAL) as address:
        asyncio.run(measure_openings(address, visitors))
    with running_app(**AS_USUAL) as address:
        asyncio.run(measure_actions(address, visitors))


async def measure_bare_page(address: str, visitors: int) -> None:
    """Time the openings and one choice of a page that does nothing."""
    async with AsyncExitStack() as stack:
        room = [await stack.enter_async_context(visitor(address, page="")) for _ in range(visitors)]
        await room[0].rerun()
        await together("a bare page, opened", room, lambda one, _: one.rerun(), OPENED_SECONDS)
        await together("a bare page, a choice", room, lambda one, _: one.choose("check3", True))


async def measure_openings(address: str, visitors: int) -> None:
    """Time the first scene, of the same view and of a view for each."""
    for name, queries in (
        ("the same view, opened", ["M=64&N=64&K=64"] * visitors),
        ("a view for each, opened", list(itertools.islice(itertools.cycle(LINKS), visitors))),
    ):
        async with AsyncExitStack() as stack:
            room = [
                await stack.enter_async_context(visitor(address, query, cookie=VIEWPORT_COOKIE))
                for query in queries
            ]
            await together(name, room, lambda one, _: one.rerun(), OPENED_SECONDS)
            missing = sum("scene" not in one.widgets for one in room)
            if missing:
                print(f"    {missing} without a scene")


async def measure_links(address: str) -> None:
    """Time the first scene of many links at once, the frames beside it, and the steps after it.

    As a player does, each visitor asks for these frames once the scene is there.
    """
    asked: list[asyncio.Task[Answer]] = []

    async def open_link(one: Visitor, _: int) -> Answer:
        answer = await one.rerun()
        header = one.header("scene")
        report = one.report_step(header["start"], header["end"])
        asked.append(asyncio.create_task(report))
        return answer

    async with AsyncExitStack() as stack:
        room = [
            await stack.enter_async_context(visitor(address, query, cookie=VIEWPORT_COOKIE))
            for query in itertools.islice(LIGHT_LINKS.values(), HUNDRED)
        ]
        await together("a link for each, opened", room, open_link, HUNDRED_SECONDS)
        waited = [answer.seconds for answer in await asyncio.gather(*asked)]
        print(f"{'the frames beside it':26} {statistics.median(waited):.3f} s in the median")
        own, workers = (seconds / len(room) for seconds in cpu_seconds())
        print(f"{'since the start':26} each {own:.3f} + {workers:.3f} CPU s")
        await step_together(room)


async def measure_actions(address: str, visitors: int) -> None:
    """Time what visitors do who have the page open."""
    async with AsyncExitStack() as stack:
        room = [
            await stack.enter_async_context(visitor(address, cookie=VIEWPORT_COOKIE))
            for _ in range(visitors)
        ]
        for one in room:
            await one.rerun()
        preset = f"preset_{presets()[4].name}"
        for name in ("a preset, new", "a preset, known"):
            if name.endswith("known"):
                for one in room:
                    await one.press(f"preset_{presets()[0].name}")
            await together("a list, opened", room, open_presets)
            await together(name, room, lambda one, _: one.press(preset))
        entries = list(catalogue().values())
        await together("a kernel, new", room, lambda one, _: one.choose("kernel", entries[1].title))
        for one in room:
            await one.choose("kernel", entries[2].title)
        await together(
            "a kernel, known", room, lambda one, _: one.choose("kernel", entries[1].title)
        )
        await together(
            "a kernel for each", room,
            lambda one, i: one.choose("kernel", entries[3 + i % (len(entries) - 3)].title),
        )  # fmt: skip
        for one in room:
            await open_presets(one, 0)
            await one.press(f"preset_{presets()[0].name}")
        await together("a list, opened", room, open_settings)
        await together(
            "an M for each, new", room, lambda one, i: one.choose("M to 64", float(2 * i + 3))
        )
        await act_beside_recorders(room)
        while len(room) < STEPPERS:
            room.append(await stack.enter_async_context(visitor(address, cookie=VIEWPORT_COOKIE)))
            await room[-1].rerun()
        await step_together(room)


async def open_presets(one: Visitor, _: int) -> Answer:
    """Open the list of presets."""
    return await one.choose("popover presets", True)


async def open_settings(one: Visitor, _: int) -> Answer:
    """Open the settings."""
    return await one.choose("popover settings", True)


async def step_together(room: Sequence[Visitor]) -> None:
    """Time reports of steps, one a second from each visitor."""
    steps = itertools.count(1)

    async def report(one: Visitor, _: int) -> Answer:
        return await one.report_step(next(steps) % 9)

    for _ in range(STEPPED_SECONDS):
        await together("a step reported", room, report, 1.0)


async def act_beside_recorders(room: Sequence[Visitor]) -> None:
    """Time one visitor's simple actions alone, and while others record a long kernel."""
    actor, others = room[0], room[1 : 1 + RECORDERS]
    entry = catalogue()["warptiles"]

    async def record(one: Visitor, number: int) -> None:
        one.query = f"kernel={entry.name}&M=64&N=64&K={64 - number}"
        one.states.clear()
        await one.rerun()

    async def act() -> list[float]:
        seconds = []
        for number in range(SIMPLE_ACTIONS):
            name = f"preset_{presets()[number % 2].name}"
            seconds.append((await open_presets(actor, 0)).seconds)
            seconds.append((await actor.press(name)).seconds)
            await asyncio.sleep(0.05)
        return seconds

    await act()
    alone = await act()
    recordings = [asyncio.create_task(record(one, i)) for i, one in enumerate(others)]
    await asyncio.sleep(0.1)
    beside = await act()
    still = sum(not one.done() for one in recordings)
    await asyncio.gather(*recordings)
    print(
        f"a simple action: alone {percentile(alone, 95):.2f} s p95, while {len(others)} record "
        f"{entry.name} {percentile(beside, 95):.2f} s p95 ({still} of them still did at the end)   "
        "(goal 0.30)"
    )


async def together(
    name: str, room: Sequence[Visitor], act: Action, within: float = TOGETHER_SECONDS
) -> None:
    """Let all act, spread evenly over some seconds; print how long each waited."""

    async def one_acts(one: Visitor, number: int) -> Answer:
        await asyncio.sleep(within * number / len(room))
        return await act(one, number)

    before = cpu_seconds()
    answers = await asyncio.gather(*(one_acts(one, i) for i, one in enumerate(room)))
    own, workers = (
        (now - then) / len(room) for now, then in zip(cpu_seconds(), before, strict=True)
    )
    seconds = [answer.seconds for answer in answers]
    size = statistics.mean(answer.received for answer in answers)
    print(
        f"{name:26} {len(room):3} within {within:4.1f} s: median {statistics.median(seconds):6.3f} "
        f"s, p95 {percentile(seconds, 95):6.3f} s, most {max(seconds):6.3f} s; each "
        f"{own:.3f} + {workers:.3f} CPU s, {size / 1e3:.0f} KB",
        flush=True,
    )


def cpu_seconds() -> tuple[float, float]:
    """CPU seconds of the server that this process runs, and of its worker processes."""
    servers, everyone = (
        [one.cpu_times() for one in psutil.Process().children(recursive)]
        for recursive in (False, True)
    )
    own = sum(times.user + times.system for times in servers)
    ended = sum(times.children_user + times.children_system for times in everyone)
    return own, sum(times.user + times.system for times in everyone) + ended - own


if __name__ == "__main__":
    if sys.argv[1:] == ["links"]:
        with running_app(**AS_USUAL) as running:
            asyncio.run(measure_links(running))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else VISITORS)
