"""Runs a launch in processes of this machine, each of which gets it once."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path

from simulator.guard import end_with_parent
from simulator.language.errors import LaunchError
from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.machine.budget import DEFAULT_SECONDS, Progress
from simulator.machine.schedule import Schedule
from simulator.report import Report
from simulator.split.part import NotSplitError, Part, PartTask, simulate_part
from simulator.split.run import simulate_in_parts

PARTS = 16  # of a launch for each process, so that all end at about the same time
WINDOWS_PROCESSES = 61  # a pool takes no more there

_launches: list[tuple[Kernel, Launch]] = []  # of this process: the one whose parts it runs


def processor_count() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def simulate_in_processes(
    kernel: Kernel,
    launch: Launch,
    jobs: int,
    schedule: Schedule = Schedule.ASCENDING,
    seconds: float = DEFAULT_SECONDS,
    on_progress: Callable[[Progress], None] | None = None,
) -> Report:
    """The report that `simulate` gives, from this many processes, each with memory of its own.

    Raises NotSplitError for a launch that one process has to run, and what `simulate` raises.
    """
    futures: list[Future[Part]] = []
    with _processes(kernel, launch, jobs) as pool:

        def submit(task: PartTask) -> Future[Part]:
            if len(task.blocks) == launch.blocks:
                raise NotSplitError(f"it runs its {launch.blocks:,} blocks at once")
            with _interrupts_held():
                futures.append(pool.submit(_run, task))
            return futures[-1]

        try:
            return simulate_in_parts(
                kernel, launch, submit, jobs, PARTS * jobs, schedule, seconds, on_progress
            )
        except BrokenProcessPool:
            if all(one.exception() is not None for one in futures if one.done()):
                raise LaunchError(
                    f"None of the {jobs} processes has run a part. Each begins by importing the "
                    "script that starts it: that has to be a file, not standard input, and to "
                    'launch the kernel below `if __name__ == "__main__":`. Let one process run it, '
                    "or fewer where memory is short."
                ) from None
            raise LaunchError(
                f"One of the {jobs} processes has ended, as it does where memory is short. Each "
                "takes as much as one alone: let fewer run."
            ) from None


@contextmanager
def _processes(kernel: Kernel, launch: Launch, jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that have a launch; they are ended, whatever they do, once it is over.

    They read it from a file: what is written to a process that ends as it starts is waited for
    without end, once it is more than a pipe holds.
    """
    try:
        pickled = pickle.dumps((kernel, launch))
    except RecursionError:
        raise NotSplitError("its statements are nested too deep to be sent") from None
    context = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    most = WINDOWS_PROCESSES if sys.platform == "win32" else jobs
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "launch"
        path.write_bytes(pickled)
        del pickled
        pool = ProcessPoolExecutor(min(jobs, most), context, _prepare, (path,))
        try:
            yield pool
        finally:
            for process in set(multiprocessing.active_children()) - before:
                process.terminate()
            pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold interrupts back, in this thread and in processes started meanwhile.

    The first process ends the others, which would else say that they were interrupted. They
    inherit the mask; a signal that another thread of this process takes is held by the handler.
    """
    if sys.platform == "win32":  # it has no masks of signals
        yield
        return
    held: list[int] = []
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    handler = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number in held[:1]:
            signal.raise_signal(number)


def _prepare(path: Path) -> None:
    """Prepare a process: it runs the launch that is pickled in a file."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be held back
    threading.Thread(target=end_with_parent, daemon=True).start()
    _launches.append(pickle.loads(path.read_bytes()))  # noqa: S301 -- of the one that started this


def _run(task: PartTask) -> Part:
    kernel, launch = _launches[0]
    return simulate_part(kernel, launch, task)
