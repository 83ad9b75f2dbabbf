"""Lets a class use the app for long, with all that may go wrong; prints whether it holds.

Run it as `python -m tools.benchmarks.soak [MINUTES] [VISITORS]`, 30 and 30 without numbers;
`--seed` chooses another class. On Linux alone. The exit code is 1 where a promise is not held.

The app and the visitors share two processors. The app may have 512 descriptors open. Each minute
one of its worker processes is killed. The visitors speak Streamlit's protocol, from one process.

A visit begins with a link: 45% are of those that the class shares, presets, kernels and user
kernels; 18% of a random view; 15% of a user kernel, of which a third is one warp that
passes 2,400 barriers; the others open a page. A visitor then does something, and looks at it for 11
seconds in the mean: three to four actions a minute. Two in five are a walk of some steps; the
others choose a kernel, its macros, sizes and what-ifs, write, check, do an exercise, answer a
question, look up a word, or download; few run a whole grid. A visit lasts 4 minutes in the mean and
ends wherever it is, and at one wait in 25 the visitor leaves within 6 seconds if it is not over.
5% of the visits end without a word: half are cut at once, and half of these come back to their
session; the other half fall silent. Another visitor comes after some seconds.

Seconds are from a request until its script run has finished, also of those who left before or met
an error. A view is known if anyone has had it within the last five minutes, and earlier if before.
Memory is proportional (PSS); it is flat if its median in the last quarter of the time is at most a
tenth above that of the second quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import resource
import secrets
import statistics
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil
from websockets.exceptions import WebSocketException

from tests.browser.app import AS_USUAL, App, started_app
from tests.protocol_client import ServerError, Visitor, visitor
from tools.benchmarks.processes import GONE, MARK, Sample, Watch, busy_seconds, command_of
from tools.benchmarks.visits import Crowd, FileError, HurryError, Visit, choose_link, shared_links
from tools.benchmarks.waits import LOST, End, Wait, first_sentence
from ui.run.executor import worker_count

MINUTES = 30.0
VISITORS = 30
PROCESSORS = 2
FILES = 512  # descriptors that the app may have
KNOWN_SECONDS, NEW_SECONDS = 10.0, 20.0  # at most, for a view
WORKER_BYTES = 1.5e9  # of all workers together
GROWTH = 1.1  # of the app's memory that is flat
IDLE_SECONDS = 20.0  # after the last visitor, until nothing is computed
LOOK_SECONDS = 5.0
IDLE_SHARE = 0.02  # of a processor, that idle workers may use
STOP_SECONDS = 30.0  # for the app to end
LAST_SECONDS = 10.0  # and then for its processes
OWN_PROCESSES = re.compile(r"multiprocessing|gpu\.worker")  # an app keeps these while it runs
VIEWPORT_COOKIE = "tilewise_room=1240x600"  # the cookie of a window of 1280 x 720
STAY, AWAY = 240.0, (2.0, 20.0)  # seconds of a visit in the mean, and until the next one
COME_SECONDS = 30.0  # within which the class comes
SILENT_SECONDS = 90.0  # until a connection that fell silent ends
BACK_SECONDS = (1.0, 5.0)
LEAVES, SHARES = ("closes", "cut", "silent"), (95.0, 2.5, 2.5)
RAISED = re.compile(r"^(\w[\w.]*(?:Error|Exception|Disconnect\w*)): ?(.*)$", re.MULTILINE)


@dataclass(slots=True)
class Soak:
    """A class at an app."""

    app: App
    watch: Watch
    crowd: Crowd
    seed: int
    visitors: int
    until: float  # time.monotonic()
    killed: int = 0
    present: int = 0
    visits: int = 0
    left: Counter[str] = field(default_factory=Counter)  # how visits ended
    back: int = 0  # visitors who came back to their session

    async def run(self) -> None:
        """Let the class come and go until the time is over."""
        begun = time.monotonic()
        beside = [
            asyncio.create_task(self.look()),
            asyncio.create_task(self.kill_workers()),
            asyncio.create_task(self.tell_progress(begun)),
        ]
        await asyncio.gather(*map(self.come_and_go, range(self.visitors)))
        for one in beside:
            one.cancel()
        await asyncio.gather(*beside, return_exceptions=True)

    async def look(self) -> None:
        """Look at the app every few seconds."""
        while True:
            with suppress(*GONE):
                self.watch.sample()
            await asyncio.sleep(LOOK_SECONDS)

    async def kill_workers(self) -> None:
        """Kill a worker process once a minute, at a random moment of it."""
        chance = random.Random(f"{self.seed} kills")  # noqa: S311  # no secret
        while True:
            wait = chance.uniform(0, 60)
            await asyncio.sleep(wait)
            workers = self.watch.workers()
            if workers:
                with suppress(*GONE):
                    chance.choice(workers).kill()
                    self.killed += 1
            await asyncio.sleep(60 - wait)

    async def tell_progress(self, begun: float) -> None:
        """Say once a minute how it goes."""
        while True:
            await asyncio.sleep(60)
            last, waits = self.watch.samples[-1], self.crowd.waits
            print(
                f"minute {(time.monotonic() - begun) / 60:.0f}: {self.present} visitors, "
                f"{len(waits.ended)} waits, longest {told(waits.longest(lambda _: True))}; "
                f"{waits.faults.total()} faults; app {last.app / 1e6:.0f} MB, "
                f"{last.count} workers {last.workers / 1e6:.0f} MB, {last.files} descriptors",
                file=sys.stderr, flush=True,
            )  # fmt: skip

    async def come_and_go(self, number: int) -> None:
        """Let one visitor after another come to a place in the class."""
        chance = random.Random(f"{self.seed} {number}")  # noqa: S311  # no secret
        await asyncio.sleep(COME_SECONDS * number / self.visitors)
        is_new = True  # a browser that has none of the app's files
        silent: list[asyncio.Task[None]] = []
        while time.monotonic() < self.until:
            self.present += 1
            try:
                silent += await self.visit(chance, is_new)
            finally:
                self.present -= 1
            is_new = False
            left = max(self.until - time.monotonic(), 0)
            await asyncio.sleep(min(chance.uniform(*AWAY), left))
        for one in silent:
            one.cancel()
        await asyncio.gather(*silent, return_exceptions=True)

    async def visit(self, chance: random.Random, is_new: bool) -> list[asyncio.Task[None]]:
        """One visit, with its end; a task that keeps a connection that fell silent."""
        page, query = choose_link(self.crowd, chance)
        self.visits += 1
        end = chance.choices(LEAVES, SHARES)[0]
        async with AsyncExitStack() as stack:
            one = await self.connect(stack, page, query)
            if one is None:
                return []
            visit = Visit(one, self.crowd, chance)
            await self.stay(visit.live(is_new), chance)
            self.left[end] += 1
            if end == "silent":
                one.fall_silent()
                return [asyncio.create_task(keep(one, stack.pop_all()))]
            if end == "cut":
                one.cut()
                if chance.random() < 0.5:
                    await asyncio.sleep(chance.uniform(*BACK_SECONDS))
                    await self.come_back(visit, chance)
        return []

    async def come_back(self, visit: Visit, chance: random.Random) -> None:
        """Go on with a session whose connection was cut."""
        one = visit.one
        async with AsyncExitStack() as stack:
            again = await self.connect(stack, one.page, one.query, one.session)
            if again is not None:
                one.socket, self.back = again.socket, self.back + 1
                await self.stay(visit.go_on(), chance)

    async def connect(
        self, stack: AsyncExitStack, page: str, query: str, session: str = ""
    ) -> Visitor | None:
        """Connect to the app; None where that fails, which is a fault."""
        begun = time.perf_counter()
        try:
            connected = visitor(self.app.address, query, page, VIEWPORT_COOKIE, session)
            one = await stack.enter_async_context(connected)
        except (OSError, WebSocketException, TimeoutError) as error:
            self.crowd.waits.note_fault("no connection", f"{type(error).__name__}: {error}")
            await asyncio.sleep(AWAY[0])
            return None
        self.crowd.waits.note(Wait("a connection", time.perf_counter() - begun, End.HAD), ())
        return one

    async def stay(self, living: Coroutine[Any, Any, None], chance: random.Random) -> None:
        """Live a visit until its visitor leaves, wherever they are; count what goes wrong."""
        seconds = min(chance.expovariate(1 / STAY), self.until - time.monotonic())
        task = asyncio.create_task(living)
        await asyncio.wait({task}, timeout=max(seconds, 0))
        task.cancel()
        waits = self.crowd.waits
        try:
            await task
        except (asyncio.CancelledError, HurryError):
            pass
        except ServerError as error:
            waits.note_fault("error page", str(error))
        except FileError as error:
            waits.note_fault("no file", str(error))
        except TimeoutError:
            waits.note_fault("no answer", "A visitor gave up.")
        except (OSError, EOFError, WebSocketException) as error:
            waits.note_fault("connection lost", f"{type(error).__name__}: {error}")
        except Exception as error:
            waits.note_fault("in this benchmark", f"{type(error).__name__}: {error}")
            traceback.print_exc()


async def keep(one: Visitor, stack: AsyncExitStack) -> None:
    """Keep a connection that fell silent for a while."""
    async with stack:
        try:
            await asyncio.sleep(SILENT_SECONDS)
        finally:
            one.cut()


@dataclass(frozen=True, slots=True)
class After:
    """What there is when all visitors have left, and when the app has ended."""

    busy: float  # CPU seconds of what the app has started, within LOOK_SECONDS
    app_busy: float  # of the app itself
    threads: int  # of the app
    files: Counter[str]  # its descriptors
    strangers: list[str]  # command lines of processes beside as many workers as there may be
    stop_seconds: float | None  # until the app had ended; None if it had not
    left: list[str]  # command lines of its processes that had not


def end(app: App, watch: Watch) -> After:
    """Look at an app that all have left, end it, and look for what it leaves behind."""
    time.sleep(IDLE_SECONDS)
    started = watch.started()
    busy, own = busy_seconds(started, watch.app, LOOK_SECONDS)
    threads, files = watch.app.num_threads(), watch.open_files()
    workers = watch.workers()
    others = [one for one in map(command_of, started) if not OWN_PROCESSES.search(one)]
    strangers = [*map(command_of, workers[worker_count() :]), *others]
    watch.sample()
    begun, seconds = time.monotonic(), None
    with suppress(subprocess.TimeoutExpired):
        app.stop(STOP_SECONDS)
        seconds = time.monotonic() - begun
    deadline = time.monotonic() + LAST_SECONDS
    while (left := list(watch.left())) and time.monotonic() < deadline:
        time.sleep(0.5)
    commands = [command_of(one) for one in left]
    for one in left:
        with suppress(*GONE):
            one.kill()
    return After(busy, own, threads, files, strangers, seconds, commands)


def told(wait: Wait | None) -> str:
    """A wait in words."""
    return "none" if wait is None else f"{wait.seconds:.1f} s for {wait.kind}"


def is_known(kind: str) -> bool:
    """Whether a wait was for a view that somebody had lately."""
    return kind.startswith("known ")


def is_new(kind: str) -> bool:
    """Whether a wait was for another view."""
    return kind.startswith(("new ", "earlier "))


@dataclass(frozen=True, slots=True)
class Promise:
    """What is to hold, whether it does, and the figure that says so."""

    text: str
    holds: bool
    figure: str


def promises(soak: Soak, after: After) -> Iterator[Promise]:
    """What the app promises a class."""
    waits, samples = soak.crowd.waits, soak.watch.samples
    for what, is_wanted, most in (
        ("a known view", is_known, KNOWN_SECONDS), ("a new one", is_new, NEW_SECONDS),
    ):  # fmt: skip
        longest = waits.longest(is_wanted)
        over = sum(is_wanted(one.kind) and one.seconds > most for one in waits.ended)
        yield Promise(
            f"no visitor waits longer than {most:.0f} s for {what}", not over,
            f"the longest {told(longest)}; {over} longer",
        )  # fmt: skip
    early, late = (statistics.median(quarter(samples, n, "app")) for n in (1, 3))
    yield Promise(
        "the app's memory is flat", late <= GROWTH * early,
        f"{early / 1e6:.0f} MB in the second quarter, {late / 1e6:.0f} MB in the last",
    )  # fmt: skip
    most_bytes = max(one.workers for one in samples)
    yield Promise(
        f"the workers together stay under {WORKER_BYTES / 1e9:g} GB", most_bytes < WORKER_BYTES,
        f"{most_bytes / 1e9:.2f} GB at most",
    )  # fmt: skip
    is_idle = after.busy < IDLE_SHARE * LOOK_SECONDS
    yield Promise(
        "no orphan", is_idle and not after.strangers and not after.left,
        f"{after.busy:.2f} CPU s in {LOOK_SECONDS:.0f} s after all had left, "
        f"{len(after.strangers)} processes beside the workers, {len(after.left)} left by the app",
    )  # fmt: skip
    yield Promise("no error page", not waits.faults, f"{waits.faults.total()} faults")
    most_files = max(one.files for one in samples)
    yield Promise(f"{FILES} descriptors suffice", most_files < FILES, f"{most_files} at most")


def quarter(samples: Sequence[Sample], number: int, name: str) -> list[float]:
    """A figure of the samples of one quarter of the time, from 0."""
    last = samples[-1].seconds
    found = [
        getattr(one, name) for one in samples if number <= 4 * one.seconds / last <= number + 1
    ]
    return found or [float("nan")]


def memory_table(samples: Sequence[Sample]) -> Iterator[str]:
    """Lines: what the app took at the start, after each quarter, and at most."""
    yield f"{'':28}{'start':>9}{'25%':>9}{'50%':>9}{'75%':>9}{'end':>9}{'most':>9}"
    last = samples[-1].seconds
    at = [
        min(samples, key=lambda one: abs(one.seconds - share * last))
        for share in (0, 0.25, 0.5, 0.75, 1)
    ]
    for text, name, unit in (
        ("app, MB", "app", 1e6), ("workers together, MB", "workers", 1e6),
        ("worker processes", "count", 1), ("descriptors of the app", "files", 1),
        ("threads of the app", "threads", 1), ("log, kB", "log", 1e3),
    ):  # fmt: skip
        figures = [getattr(one, name) / unit for one in at]
        figures.append(max(getattr(one, name) for one in samples) / unit)
        yield f"{text:28}" + "".join(f"{one:9.0f}" for one in figures)


def report(soak: Soak, after: After, log: str, minutes: float, busy: float) -> list[Promise]:
    """Print all tables, and last the promises, which are returned."""
    crowd, waits, watch = soak.crowd, soak.crowd.waits, soak.watch
    print("\n".join(waits.table()))
    print()
    print("\n".join(memory_table(watch.samples)))
    print()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    own, started = watch.cpu_seconds()
    client = usage.ru_utime + usage.ru_stime
    others = max(busy - own - started - client, 0) / max(busy, 1e-9)
    print(f"CPU seconds: app {own:.0f}, workers {started:.0f}, visitors {client:.0f}; "
          f"{others:.0%} of what the processors did was not for this soak")  # fmt: skip
    ends = ", ".join(f"{count} {name}" for name, count in soak.left.most_common())
    print(f"{soak.visits} visits, of which ended: {ends}; {soak.back} came back to their session; "
          f"{soak.killed} workers killed")  # fmt: skip
    rate = crowd.done.total() / minutes / soak.visitors
    actions = ", ".join(f"{name} {count}" for name, count in crowd.done.most_common())
    print(f"{crowd.done.total()} actions, {rate:.1f} a minute each: {actions}")
    if crowd.absent:
        print("not to be used: " + ", ".join(f"{k} {n}" for k, n in crowd.absent.most_common()))
    stopped = "not at all" if after.stop_seconds is None else f"in {after.stop_seconds:.1f} s"
    files = ", ".join(f"{count} {kind}" for kind, count in after.files.most_common())
    print(f"after all had left the app used {after.app_busy:.2f} CPU s in {LOOK_SECONDS:.0f} s and "
          f"had {after.threads} threads and open {files}; it ended {stopped}")  # fmt: skip
    raised = Counter(first_sentence(": ".join(one)) for one in RAISED.findall(log))
    for title, found in (
        ("faults", Counter({f"{kind}: {text}": n for (kind, text), n in waits.faults.items()})),
        ("pages said of what was lost or stopped", select(waits.said, is_lost=True)),
        ("pages said of a kernel or a launch", select(waits.said, is_lost=False)),
        ("the app's log says", raised),
        ("processes beside the workers, or left", Counter([*after.strangers, *after.left])),
    ):  # fmt: skip
        print(f"\n{title}: {'nothing' if not found else ''}")
        for text, count in found.most_common():
            print(f"{count:6}  {text}")
    print()
    found_promises = list(promises(soak, after))
    for one in found_promises:
        print(f"{'held' if one.holds else 'not held':9} {one.text}: {one.figure}")
    return found_promises


def select(said: Counter[str], is_lost: bool) -> Counter[str]:
    """What pages said of something lost or stopped, or all else."""
    return Counter({text: n for text, n in said.items() if bool(LOST.search(text)) == is_lost})


def main(minutes: float, visitors: int, seed: int) -> int:
    """Let the class come, and print what it met; 1 where a promise is not held."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:PROCESSORS])  # the app's, too
    mark = secrets.token_hex(8)
    with started_app(files=FILES, **AS_USUAL | {MARK: mark}) as app:
        watch = Watch(psutil.Process(app.process.pid), mark, app.log)
        watch.sample()
        until = time.monotonic() + 60 * minutes
        soak = Soak(app, watch, Crowd(app.address, shared_links()), seed, visitors, until)
        asyncio.run(soak.run())
        busy = watch.machine_seconds()
        after = end(app, watch)
        app.log.seek(0)
        log = app.log.read().decode(errors="replace")
    return int(not all(one.holds for one in report(soak, after, log, minutes, busy)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("minutes", type=float, nargs="?", default=MINUTES)
    parser.add_argument("visitors", type=int, nargs="?", default=VISITORS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.exit(main(given.minutes, given.visitors, given.seed))
