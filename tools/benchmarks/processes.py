"""The processes of a running app: their memory, descriptors and processor time. On Linux."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import psutil

GONE = (psutil.NoSuchProcess, psutil.ZombieProcess)
MARK = "TILEWISE_MARK"  # a variable of the environment, by which an app's processes are known


@dataclass(frozen=True, slots=True)
class Sample:
    """What an app takes at a moment. Memory is proportional: what processes share is divided."""

    seconds: float  # since the watch began
    app: int  # bytes
    workers: int  # bytes, of all that the app has started
    count: int  # of worker processes
    files: int  # descriptors that the app has open
    threads: int  # of the app
    log: int  # bytes written


@dataclass(slots=True)
class Watch:
    """Looks at an app and all that it has started."""

    app: psutil.Process
    mark: str  # of MARK, in the environment of its processes
    log: BinaryIO
    since: float = field(default_factory=time.monotonic)
    samples: list[Sample] = field(default_factory=list)
    used: dict[tuple[int, float], float] = field(default_factory=dict)  # CPU seconds of a process
    all_before: float = field(default_factory=lambda: _machine())  # CPU seconds of all

    def sample(self) -> Sample:
        """Look at the app now."""
        started = self.started()
        for one in (self.app, *started):
            with suppress(*GONE):
                self.used[one.pid, one.create_time()] = _cpu(one)
        now = Sample(
            time.monotonic() - self.since, _memory(self.app), sum(map(_memory, started)),
            sum(map(is_worker, started)), self.app.num_fds(), self.app.num_threads(),
            os.fstat(self.log.fileno()).st_size,
        )  # fmt: skip
        self.samples.append(now)
        return now

    def started(self) -> list[psutil.Process]:
        """The processes that the app has started, and those that they have."""
        return list(self.app.children(recursive=True))

    def workers(self) -> list[psutil.Process]:
        """The worker processes."""
        return [one for one in self.started() if is_worker(one)]

    def open_files(self) -> Counter[str]:
        """What the app's descriptors are, such as sockets."""
        kinds: Counter[str] = Counter()
        for place in Path(f"/proc/{self.app.pid}/fd").iterdir():
            with suppress(OSError):
                target = os.readlink(place)
                kinds["a file" if target.startswith("/") else target.split(":")[0]] += 1
        return kinds

    def left(self) -> Iterator[psutil.Process]:
        """The app's processes, whoever is their parent now."""
        for one in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if one.status() != psutil.STATUS_ZOMBIE and one.environ().get(MARK) == self.mark:
                    yield one

    def cpu_seconds(self) -> tuple[float, float]:
        """The processor time of the app, and of all that it has started, up to the last sample."""
        own = sum(used for (pid, _), used in self.used.items() if pid == self.app.pid)
        return own, sum(self.used.values()) - own

    def machine_seconds(self) -> float:
        """The time that this process's processors were busy with anything since the watch began."""
        return _machine() - self.all_before


def is_worker(process: psutil.Process) -> bool:
    """Whether a process computes for an app: not the one that counts what they share."""
    command = command_of(process)
    return "multiprocessing" in command and "resource_tracker" not in command


def command_of(process: psutil.Process) -> str:
    """A process's command line; "" of one that has ended."""
    with suppress(*GONE):
        return " ".join(process.cmdline())
    return ""


def busy_seconds(
    started: Sequence[psutil.Process], app: psutil.Process, seconds: float
) -> tuple[float, float]:
    """The processor time that an app's processes use within some seconds, and the app itself."""
    before = [_cpu(one) for one in (*started, app)]
    time.sleep(seconds)
    *used, own = (
        max(_cpu(one) - was, 0.0) for one, was in zip((*started, app), before, strict=True)
    )
    return sum(used), own


def _machine() -> float:
    every = psutil.cpu_times(percpu=True)
    mine = (every[number] for number in os.sched_getaffinity(0))
    return float(sum(sum(one) - one.idle - one.iowait - one.guest for one in mine))


def _cpu(process: psutil.Process) -> float:
    with suppress(*GONE):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def _memory(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(process.memory_full_info().pss)
    return 0
