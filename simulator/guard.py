"""Limits on what a text may take of the machine; a process that passes one ends.

Nothing within a process stops clang. A thread beside it reads the processor's clock and the memory
in use, on every system, and ends the process; the parent then says why. Where there is `resource`,
the system ends what keeps that thread from running.
"""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from multiprocessing.connection import wait
from pathlib import Path

from simulator.language.errors import LaunchError, SourceError

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

INTERVAL = 0.02  # seconds between two readings
GRACE = 1.0  # seconds for the thread, before the system ends the process
FILES = 256  # a worker process may have so many open
ENDED = 70  # the exit code of a process that its own thread ends; a parent reads State
STATM = Path("/proc/self/statm")  # Linux: pages reserved, pages in memory, …


class State(IntEnum):
    """What a process does, or what has ended it; its parent reads it."""

    OTHER = 0
    RUNNING = 1
    COMPILING = 2
    RAN_TOO_LONG = 3
    RAN_TOO_LARGE = 4
    COMPILED_TOO_LONG = 5
    COMPILED_TOO_LARGE = 6


class Status(ctypes.Structure):
    """What a process does, and what the limit was that has ended it: its parent reads it."""

    _fields_ = (("state", ctypes.c_int), ("seconds", ctypes.c_double), ("bytes", ctypes.c_int64))


@dataclass(frozen=True, slots=True)
class Limit:
    """What one kind of work may take."""

    state: State  # of a process that does it
    seconds: float  # of processor time
    bytes: int  # of memory, beyond what the process had before
    too_long: State
    too_large: State


COMPILING = Limit(
    State.COMPILING, 2.0, 512 * 2**20, State.COMPILED_TOO_LONG, State.COMPILED_TOO_LARGE
)
# Its launches have budgets of their own, which end it before.
RUNNING = Limit(State.RUNNING, 600.0, 2**30, State.RAN_TOO_LONG, State.RAN_TOO_LARGE)

GROWS = "Something in it grows without limit: templates, constants or names. Make it smaller."
TOO_LARGE = "This kernel or launch is too large for this machine. Make it smaller."
# What ended a process, as a sentence about the text, or about the launch, with what the limit was.
SENTENCES: Mapping[State, tuple[type[SourceError | LaunchError], str]] = {
    State.COMPILED_TOO_LONG: (
        SourceError, f"The compiler needed more than {{seconds:g}} seconds for this code. {GROWS}"
    ),
    State.COMPILED_TOO_LARGE: (
        SourceError, f"The compiler needed more than {{megabytes:,}} MB for this code. {GROWS}"
    ),
    State.COMPILING: (
        SourceError,
        "The compiler stopped in the middle of this code and gave no reason. Leave parts of the "
        "code out to find the one that it cannot read.",
    ),
    State.RAN_TOO_LONG: (
        LaunchError, "This took more than {seconds:g} seconds of processor time. Make it smaller."
    ),
    State.RAN_TOO_LARGE: (
        LaunchError, "This needed more than {megabytes:,} MB of memory. Make it smaller."
    ),
}  # fmt: skip

# Of these another run may end otherwise: by time, or by a process that was lost.
PASSING = (State.COMPILED_TOO_LONG, State.COMPILING, State.RAN_TOO_LONG)

_statuses: list[Status] = []  # this process's own; empty if nobody reads it


def tell(status: Status) -> None:
    """Say from now on what this process does: in `status`, in memory that its parent shares.

    The limits hold from then on; a process without such a parent has none.
    """
    _statuses[:] = [status]
    if resource is not None:
        with suppress(ValueError, OSError):
            resource.setrlimit(
                resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1])
            )


def limit_files() -> None:
    """Let this process have few files open at once."""
    if resource is not None:
        with suppress(ValueError, OSError):
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))


@contextmanager
def limited(limit: Limit) -> Iterator[None]:
    """Work that ends this process where it exceeds a limit, if its parent reads its status."""
    if not _statuses:
        yield
        return
    (status,) = _statuses
    before, done = status.state, threading.Event()
    start = time.process_time(), used_bytes()
    watch = threading.Thread(target=_watch, args=(status, limit, done, *start), daemon=True)
    status.state = limit.state
    watch.start()
    try:
        with _system_limits(limit):
            yield
    finally:
        done.set()
        watch.join()
        status.state = before


def _watch(status: Status, limit: Limit, done: threading.Event, seconds: float, size: int) -> None:
    """End this process once it exceeds a limit; seconds and size are what it had taken before."""
    while not done.wait(INTERVAL):
        too_long = time.process_time() - seconds > limit.seconds
        if too_long or used_bytes() - size > limit.bytes:
            status.seconds, status.bytes = limit.seconds, limit.bytes
            status.state = limit.too_long if too_long else limit.too_large
            os._exit(ENDED)


@contextmanager
def _system_limits(limit: Limit) -> Iterator[None]:
    """The system's own limits on this process, wider than those that its thread watches."""
    if resource is None:
        yield
        return
    wanted = {resource.RLIMIT_CPU: math.ceil(time.process_time() + limit.seconds + GRACE)}
    if STATM.exists():
        wanted[resource.RLIMIT_AS] = _pages(0) + 2 * limit.bytes
    before = {which: resource.getrlimit(which) for which in wanted}
    for which, most in wanted.items():
        soft, hard = before[which]
        if soft == resource.RLIM_INFINITY or most < soft:
            with suppress(ValueError, OSError):
                resource.setrlimit(which, (most, hard))
    try:
        yield
    finally:
        for which, both in before.items():
            with suppress(ValueError, OSError):
                resource.setrlimit(which, both)


def why_ended(status: Status) -> SourceError | LaunchError | None:
    """Which limit has ended a process, or that its compiler has; None if it was neither."""
    state = State(status.state)
    if state not in SENTENCES:
        return None
    kind, sentence = SENTENCES[state]
    error = kind(sentence.format(seconds=status.seconds, megabytes=status.bytes // 2**20))
    error.depends_on_machine = state in PASSING
    return error


def used_bytes() -> int:
    """The memory that this process uses."""
    if STATM.exists():
        return _pages(1)
    import psutil

    return int(psutil.Process().memory_info().rss)


def _pages(field: int) -> int:
    """One of STATM's fields, in bytes."""
    return int(STATM.read_bytes().split()[field]) * os.sysconf("SC_PAGE_SIZE")


def run_in_child(main: Callable[[Sequence[str] | None], int], error_code: int) -> int:
    """The exit code of main(None), run in a process of its own under limits.

    If that process ends without one, a sentence on stderr says why, and the result is error_code.
    """
    # A fork is there in moments; elsewhere than on Linux libraries do not take one.
    forks = sys.platform == "linux"
    context = multiprocessing.get_context("fork") if forks else multiprocessing.get_context("spawn")
    status = context.RawValue(Status)
    child = context.Process(target=_run, args=(status, main))
    child.start()
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child gets it too, and ends
    child.join()
    signal.signal(signal.SIGINT, interrupt)
    code = child.exitcode
    ending = why_ended(status)
    if ending is None and code is not None and code >= 0:
        return code
    print(ending or "The process that ran this stopped and gave no reason.", file=sys.stderr)
    return error_code


def _run(status: Status, main: Callable[[Sequence[str] | None], int]) -> None:
    tell(status)
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        sys.exit(main(None))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def end_with_parent() -> None:
    """End this process once the one that has started it has ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
