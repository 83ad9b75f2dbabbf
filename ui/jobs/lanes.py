"""Long jobs in lanes: fewer run at once than there are workers, so that short ones get between.

Who waits has a turn before anybody has a second one; among those, what is soon done comes first.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from gpu.fair_queue import FairQueue
from ui.jobs.workers import Marked, Running, StoppedError, in_line, settle

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class LongJob:
    """A long job that waits, or runs in a lane."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: Running[Any] = field(default_factory=Running)
    is_stopped: bool = False


class Lanes:
    """Runs jobs on workers, in each lane one after another."""

    def __init__(self, workers: Executor, count: int) -> None:
        self.count = count
        self._workers = workers
        self._lock = threading.RLock()
        self._free = set(range(count))
        self._queue: FairQueue[LongJob] = FairQueue()
        self._lane_of: dict[LongJob, int] = {}  # of those that run

    def submit(
        self,
        function: Callable[P, T],
        /,
        *arguments: Any,
        owner: Hashable = None,
        work: float = 0.0,
    ) -> Running[T]:
        """Compute a function of some arguments, which are pickled.

        owner is who waits for it, nothing for somebody else each time; work orders a turn's jobs.
        """
        job = LongJob(function, arguments)
        job.future.progress_message = functools.partial(self._progress_message, job)
        job.future.stop = functools.partial(self._take_back, job)
        with self._lock:
            self._queue.join(job, owner or None, work)
        self._assign()
        return job.future

    def _progress_message(self, job: LongJob) -> str:
        with self._lock, suppress(ValueError):
            return in_line(self._queue.before(job))
        return ""

    def _take_back(self, job: LongJob) -> None:
        job.is_stopped = True
        if job.future.cancel():
            with self._lock:
                self._queue.leave(job)

    def _assign(self) -> None:
        """Give jobs to lanes that have none."""
        while True:
            with self._lock:
                job = next((one for one in self._queue if one not in self._lane_of), None)
                if job is None or not self._free:
                    return
                if not job.future.set_running_or_notify_cancel():
                    self._queue.leave(job)
                    continue
                lane = self._lane_of[job] = min(self._free)
                self._free.remove(lane)
                self._queue.start(job)
            try:
                running = self._workers.submit(Marked(job.function, lane=lane), *job.arguments)
            except Exception as error:  # whatever it is, the lane and the job must not be lost
                self._end(job, None, error)
                continue
            if isinstance(running, Running):
                job.future.progress_message, job.future.stop = (
                    running.progress_message,
                    running.stop,
                )
                if job.is_stopped:  # meanwhile
                    running.stop()
            running.add_done_callback(functools.partial(self._finish, job))

    def _finish(self, job: LongJob, done: Future[Any]) -> None:
        error = StoppedError() if done.cancelled() else done.exception()
        self._end(job, None if error else done.result(), error)
        self._assign()

    def _end(self, job: LongJob, result: object, error: BaseException | None) -> None:
        with self._lock:
            self._queue.leave(job)
            self._free.add(self._lane_of.pop(job))
        settle(job.future, result, error)
