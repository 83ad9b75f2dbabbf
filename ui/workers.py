"""Worker processes on this machine; each keeps what it computed last.

A job goes where the like of it was computed, so that what follows upon a recording is quick.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, ParamSpec, TypeVar

from simulator.guard import (
    RUNNING,
    TOO_LARGE,
    end_with_parent,
    limit_files,
    limited,
    tell,
    why_ended,
)
from simulator.language.errors import LaunchError
from ui.job_progress import listen
from ui.preload import rarely_collect_garbage

NICENESS = 5  # of a worker process: the app itself answers first
PLACES = 8  # that a process is taken to remember
TRIES = 2  # of a job whose process ends
PATIENCE = 0.3  # seconds that a job waits for a busy process that remembers the like of it
SAID = 256  # bytes of what a job says of itself

P = ParamSpec("P")
T = TypeVar("T")
Place = Callable[..., Hashable]  # of a function and its arguments: jobs alike share a process


@dataclass(frozen=True, slots=True)
class Lane:
    """The place of long jobs that run one after another; no other job waits for their process."""

    number: int


class StoppedError(Exception):
    """A job that was stopped: a sentence."""

    def __init__(self) -> None:
        super().__init__("This was stopped.")


class WorkerLostError(Exception):
    """A job whose process ended twice: a sentence."""

    def __init__(self) -> None:
        super().__init__(
            "The process that computed this has ended, twice. Smaller matrices need less memory."
        )

    def __reduce__(self) -> tuple[type[WorkerLostError], tuple[()]]:
        """How it is pickled: it comes from a cluster's worker, too."""
        return WorkerLostError, ()


class Running(Future[T]):
    """The result of a job that can be asked how far it is, and stopped."""

    said: Callable[[], str] = staticmethod(lambda: "")  # a sentence, or nothing
    stop: Callable[[], object]  # the result is then StoppedError, unless it comes first


@dataclass(slots=True, eq=False)
class Task:
    """A job on its way."""

    call: Callable[[], Any]
    place: Hashable
    future: Running[Any] = field(default_factory=Running)
    since: float = field(default_factory=time.monotonic)
    tries: int = 0
    is_stopped: bool = False


class Worker:
    """A process and the job that it has."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self.places: OrderedDict[Hashable, None] = OrderedDict()  # the latest is last
        self.start()

    def start(self) -> None:
        """Have a new process."""
        context = get_context("spawn")
        self.said = context.RawArray("c", SAID)  # what the job has said last
        self.number = context.RawValue("i", 0)  # the process's, once it is ready
        self.state = context.RawValue("i", 0)  # what it does, and which limit has ended it
        shared = self.said, self.number, self.state
        self.pool = ProcessPoolExecutor(1, context, _prepare, shared)

    def kill(self) -> None:
        """End the process in the middle of its job."""
        if self.number.value:
            with suppress(OSError):
                os.kill(self.number.value, signal.SIGTERM)


class Workers(Executor):
    """Processes with a job each; a job goes where the like of it was computed last, if it can.

    Jobs are alike whose `place` is the same: place gets the function and its arguments. The first
    process is started at once, each other one when all before it have a job.
    """

    def __init__(self, count: int, place: Place) -> None:
        self._count = count
        self._place = place
        self._lock = threading.RLock()
        self._waiting: deque[Task] = deque()
        self._workers = [Worker()]
        self._workers[0].pool.submit(os.getpid)  # starts the process

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Running[T]:
        """Compute a function of some arguments, which are pickled."""
        task = Task(functools.partial(function, *args, **kwargs), self._place(function, *args))
        task.future.said = functools.partial(self._said, task)
        task.future.stop = functools.partial(self._stop, task)
        with self._lock:
            self._waiting.append(task)
            self._assign()
            if task in self._waiting:
                timer = threading.Timer(PATIENCE, self._lose_patience, (task,))
                timer.daemon = True
                timer.start()
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, once they have finished their jobs."""
        with self._lock:
            if cancel_futures:
                for task in self._waiting:
                    task.future.cancel()
                self._waiting.clear()
            workers = list(self._workers)
        for worker in workers:
            worker.pool.shutdown(wait, cancel_futures=cancel_futures)

    def _said(self, task: Task) -> str:
        for worker in self._workers:
            if worker.task is task:
                return bytes(worker.said.value).decode(errors="ignore")
        return ""

    def _stop(self, task: Task) -> None:
        """Take a job back, or end the process that computes it."""
        with self._lock:
            if not task.future.cancel():
                task.is_stopped = True
                for worker in self._workers:
                    if worker.task is task:
                        worker.kill()

    def _lose_patience(self, task: Task) -> None:
        """Give a job to another process than the one that it has waited for."""
        with self._lock:
            if task in self._waiting:
                self._assign()

    def _assign(self) -> None:
        """Give jobs to processes that have none."""
        while (chosen := self._choose()) is not None:
            self._run(*chosen)

    def _choose(self) -> tuple[Worker, Task] | None:
        """An idle process and its next job: the first that no busy one remembers the like of.

        One that has waited for a busy process for long is taken too, and a second one that waits
        for the same.
        """
        idle = [worker for worker in self._workers if worker.task is None]
        if not idle and len(self._workers) == self._count:
            return None
        waiting: set[Hashable] = set()
        for task in self._waiting:
            familiar = [
                worker for worker in self._workers if task.place in worker.places
                and not (worker.task is not None and isinstance(worker.task.place, Lane))
            ]  # fmt: skip
            free = [worker for worker in familiar if worker.task is None]
            if free:
                return free[0], task
            has_patience = time.monotonic() - task.since < PATIENCE
            if not familiar or not has_patience or task.place in waiting:
                if not idle:
                    idle = [Worker()]
                    self._workers += idle
                return min(idle, key=lambda worker: len(worker.places)), task
            waiting.add(task.place)
        return None

    def _run(self, worker: Worker, task: Task) -> None:
        self._waiting.remove(task)
        if not task.tries and not task.future.set_running_or_notify_cancel():
            return
        task.tries += 1
        worker.task = task
        worker.said.value = b""
        worker.places[task.place] = None
        worker.places.move_to_end(task.place)
        if len(worker.places) > PLACES:
            worker.places.popitem(last=False)
        finish = functools.partial(self._finish, worker, task)
        try:
            running = worker.pool.submit(_compute, task.call)
        except BrokenProcessPool as error:  # the process has ended since its last job
            running = Future()
            running.set_exception(error)
        running.add_done_callback(finish)

    def _finish(self, worker: Worker, task: Task, done: Future[Any]) -> None:
        error = done.exception()
        with self._lock:
            worker.task = None
            if isinstance(error, BrokenProcessPool):
                passed = why_ended(worker.state)
                worker.pool.shutdown(wait=False)
                worker.start()
                worker.places.clear()
                if task.tries < TRIES and not task.is_stopped and passed is None:
                    self._waiting.appendleft(task)
                    self._assign()
                    return
                error = StoppedError() if task.is_stopped else passed or WorkerLostError()
            self._assign()
        if error is None:
            task.future.set_result(done.result())
        else:
            task.future.set_exception(error)


def _prepare(said: Any, number: Any, state: Any) -> None:
    """Prepare a worker process: it shares what its job says, its number and state with the app."""
    tell(state)
    limit_files()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the app ends its workers
    threading.Thread(target=end_with_parent, daemon=True).start()
    listen(functools.partial(_write, said))
    number.value = os.getpid()
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    rarely_collect_garbage()


def _compute(call: Callable[[], T]) -> T:
    """A job's result; one that passes a limit raises LaunchError, or ends the process."""
    with limited(RUNNING):
        try:
            return call()
        except (MemoryError, RecursionError):
            raise LaunchError(TOO_LARGE) from None


def _write(said: Any, sentence: str) -> None:
    said.value = sentence.encode(errors="replace")[: SAID - 1]
