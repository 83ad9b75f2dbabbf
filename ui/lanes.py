"""Long jobs in lanes: fewer run at once than there are workers, so that short ones get between."""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Concatenate, ParamSpec, TypeVar

from ui.workers import Lane, Running, StoppedError

P = ParamSpec("P")
T = TypeVar("T")


class Lanes:
    """Runs jobs on workers, in each lane one after another, in the order in which they come."""

    def __init__(self, workers: Executor, count: int) -> None:
        self.count = count
        self._workers = workers
        self._lock = threading.RLock()
        self._free = set(range(count))
        self._waiting: deque[tuple[Running[Any], Callable[[Lane], Future[Any]]]] = deque()

    def submit(
        self, function: Callable[Concatenate[Lane, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Running[T]:
        """Compute a function of its lane and some arguments, which are pickled."""
        future: Running[T] = Running()
        future.stop = future.cancel

        def start(lane: Lane) -> Future[T]:
            return self._workers.submit(function, lane, *args, **kwargs)

        with self._lock:
            self._waiting.append((future, start))
            self._assign()
        return future

    def _assign(self) -> None:
        """Give jobs to lanes that have none."""
        while self._free and self._waiting:
            future, start = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            lane = min(self._free)
            self._free.remove(lane)
            running = start(Lane(lane))
            if isinstance(running, Running):
                future.said, future.stop = running.said, running.stop
            running.add_done_callback(functools.partial(self._finish, future, lane))

    def _finish(self, future: Running[Any], lane: int, done: Future[Any]) -> None:
        with self._lock:
            self._free.add(lane)
            self._assign()
        error = StoppedError() if done.cancelled() else done.exception()
        if error is None:
            future.set_result(done.result())
        else:
            future.set_exception(error)
