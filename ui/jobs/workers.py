"""Worker processes on this machine; each keeps what it computed last.

A job goes where the like of it was computed, so that what follows upon a recording is quick. One
thread decides which process has which job, and nothing else touches what it knows of them.
"""

from __future__ import annotations

import functools
import gc
import logging
import os
import queue
import signal
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    InvalidStateError,
    ProcessPoolExecutor,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any, Generic, ParamSpec, TypeVar

from simulator.guard import (
    RUNNING,
    TOO_LARGE,
    Limit,
    State,
    Status,
    end_with_parent,
    limit_files,
    limited,
    tell,
    used_bytes,
    why_ended,
)
from simulator.language.errors import LaunchError
from ui.jobs.job_progress import listen
from ui.jobs.process_memory import rarely_collect_garbage
from ui.jobs.settings import click_seconds

NICENESS = 5  # of a worker process: the app itself answers first
PLACES = 8  # a process is taken to remember so many
TRIES = 2  # of a job whose process ends
STARTS = 4  # tries to start a process for a job
PAUSE = 0.5  # seconds between two of them
# Seconds that a job waits for a busy process that remembers the like of it. Where that saves all
# of a first job, they are as many as that took: to wait in vain makes it twice as long at most.
PATIENCE, MOST_PATIENCE = 0.3, 10.0
MESSAGE_BYTES = 256  # of a progress message
SHARE = 448 * 2**20  # bytes that a process may use between two jobs; one that has grown is replaced
SLOWEST = 10.0  # times a job's limit of processor seconds that may pass by the clock on the wall
LOOK_SECONDS = 1.0  # between two looks at that clock

P = ParamSpec("P")
T = TypeVar("T")
Place = Callable[..., Hashable]  # of a function and its arguments: jobs alike share a process


@dataclass(frozen=True, slots=True)
class Marked(Generic[T]):
    """A function whose jobs are not like others: of a lane, or such that nobody waits to see them.

    In a lane one job runs after another. Whatever is not asked ahead goes before what is.
    """

    function: Callable[..., T]
    lane: int | None = None
    is_ahead: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> T:
        """The function's result."""
        return self.function(*args, **kwargs)


class StoppedError(Exception):
    """A job that was stopped: a sentence."""

    def __init__(self) -> None:
        super().__init__("This was stopped.")


class WorkerLostError(Exception):
    """A job that no process has computed to its end: a sentence."""

    def __init__(
        self,
        sentence: str = (
            "The process that computed this has ended twice. Smaller matrices need less memory."
        ),
    ) -> None:
        super().__init__(sentence)


class Running(Future[T]):
    """The result of a job that reports its progress and can be stopped."""

    progress_message: Callable[[], str] = staticmethod(lambda: "")  # a sentence, or ""
    stop: Callable[[], object]  # the result is then StoppedError, unless it comes first


@dataclass(slots=True, eq=False)
class Task:
    """A job on its way."""

    call: Callable[[], Any]
    place: Hashable
    is_in_lane: bool
    is_ahead: bool
    future: Running[Any] = field(default_factory=Running)
    since: float = field(default_factory=time.monotonic)
    tries: int = 0
    starts: int = 0  # of processes for it that have failed
    begun: float = 0.0  # when its process got it, by time.monotonic()
    is_stopped: bool = False


class Worker:
    """A process and the job that it has."""

    def __init__(self) -> None:
        self.task: Task | None = None
        # By place, the seconds that the first job took there; 0 until it is done. Latest last.
        self.places: OrderedDict[Hashable, float] = OrderedDict()
        self.rests_until = 0.0  # by time.monotonic(): when another start is tried
        self.ready = 0.0  # by time.monotonic(): since when the process computes
        self._pool: ProcessPoolExecutor | None = None

    def start(self) -> None:
        """Have a process, if there is none. Raises OSError or RuntimeError."""
        if self._pool is not None:
            return
        context = get_context("spawn")
        self.progress_message = context.RawArray("c", MESSAGE_BYTES)  # of the job
        self.status = context.RawValue(Status)  # what it does, and which limit has ended it
        self.size = context.RawValue("q", 0)  # bytes that it used after its last job
        self._pool = ProcessPoolExecutor(
            1, context, _prepare, (self.progress_message, self.status, self.size)
        )
        self._pool.submit(os.getpid).add_done_callback(self._note_ready)

    def _note_ready(self, _: Future[int]) -> None:
        self.ready = time.monotonic()

    def compute(self, call: Callable[[], Any]) -> Future[Any]:
        """Have a job computed. Raises OSError or RuntimeError where no process can be started."""
        self.start()
        assert self._pool is not None
        self.progress_message.value = b""
        return self._pool.submit(_compute, call)

    def kill(self) -> None:
        """End the process in the middle of its job, or of its start."""
        for process in _processes(self._pool):
            with suppress(OSError):
                process.kill()

    def release(self) -> None:
        """Have no process: it ends by itself, if it still runs."""
        self.places.clear()
        if self._pool is not None:
            self._pool.shutdown(wait=False)
        self._pool = None

    def shutdown(self, wait: bool) -> None:
        """End the process once it has finished its job."""
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=True)


def _processes(pool: ProcessPoolExecutor | None) -> list[Any]:
    """The processes of a pool; those of one whose start has failed halfway, too."""
    return list((getattr(pool, "_processes", None) or {}).values())


class Workers(Executor):
    """Processes with a job each; a job goes where the like of it was computed last, if it can.

    Jobs are alike whose `place` is the same: place gets the function and its arguments. is_kept
    says of a place whether a process keeps what makes a second job there far shorter. Of jobs that
    are of no lane so many run at once as at_once says, all without it. The first
    process is started at once, each other one when all before it have a job. The future of each
    job ends, whatever fails: a process that ends is replaced and its job tried once more, one that
    cannot be started is tried again for a while.
    """

    def __init__(
        self,
        count: int,
        place: Place,
        is_kept: Callable[[Hashable], bool] = lambda _: False,
        at_once: int | None = None,
    ) -> None:
        self._count = count
        self._at_once = count if at_once is None else at_once
        self._place = place
        self._is_kept = is_kept
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        # What follows belongs to the thread that decides; others may look at it.
        self._waiting: deque[Task] = deque()
        self._workers = [Worker()]
        self._is_closing = False
        self._events.put(functools.partial(self._start, self._workers[0]))
        self._thread = threading.Thread(target=self._decide, name="workers", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Running[T]:
        """Compute a function of some arguments, which are pickled."""
        call = functools.partial(function, *args, **kwargs)
        marked = function if isinstance(function, Marked) else Marked(function)
        task = Task(call, self._place(function, *args), marked.lane is not None, marked.is_ahead)
        task.future.progress_message = functools.partial(self._progress_message, task)
        task.future.stop = functools.partial(self._stop, task)
        self._events.put(functools.partial(self._waiting.append, task))
        return task.future

    def remembers(self, place: Hashable) -> bool:
        """Whether a process has computed the like of a job lately."""
        return any(place in worker.places for worker in self._workers)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, once they have finished their jobs."""
        self._events.put(functools.partial(self._close, cancel_futures))
        if wait:
            self._thread.join()

    def _progress_message(self, task: Task) -> str:
        for worker in self._workers:
            if worker.task is task:
                return bytes(worker.progress_message.value).decode(errors="ignore")
        with suppress(ValueError):
            return in_line(_by_turn(self._waiting).index(task))
        return ""

    def _stop(self, task: Task) -> None:
        """Take a job back, or end the process that computes it."""
        task.is_stopped = True
        if not task.future.cancel():
            self._events.put(functools.partial(self._kill, task))

    # The thread that decides --------------------------------------------------------------------

    def _decide(self) -> None:
        """Take one event after another, and give jobs to processes."""
        while not (self._is_closing and self._is_idle()):
            try:
                with suppress(queue.Empty):
                    self._events.get(timeout=self._pause())()
                self._end_stuck()
                self._assign()
            except Exception:  # a mistake of ours; without this thread no job would ever end
                logging.getLogger(__name__).exception("The jobs' thread has failed.")
        for worker in self._workers:
            worker.shutdown(wait=True)

    def _is_idle(self) -> bool:
        return not self._waiting and all(worker.task is None for worker in self._workers)

    def _pause(self) -> float | None:
        """Seconds until there may be something to decide without an event; None for never."""
        if self._waiting:
            return PATIENCE / 2
        return None if self._is_idle() else LOOK_SECONDS

    def _close(self, cancel_futures: bool) -> None:
        self._is_closing = True
        if cancel_futures:
            for task in self._waiting:
                if not task.future.cancel():
                    settle(task.future, None, StoppedError())
            self._waiting.clear()

    def _kill(self, task: Task) -> None:
        for worker in self._workers:
            if worker.task is task:
                worker.kill()

    def _end_stuck(self) -> None:
        """End processes whose job takes far longer than its limit: they do not run at all."""
        for worker in self._workers:
            task = worker.task
            if task is not None and time.monotonic() - task.begun > SLOWEST * job_limit().seconds:
                worker.kill()

    def _assign(self) -> None:
        """Give jobs to processes that have none."""
        for task in [one for one in self._waiting if one.future.cancelled()]:
            self._waiting.remove(task)
        while (chosen := self._choose()) is not None:
            self._run(*chosen)

    def _choose(self) -> tuple[Worker, Task] | None:
        """An idle process and its next job: the first that no busy one remembers the like of.

        One that has waited for a busy process for long is taken too, and a second one that waits
        for the same if that is soon computed; but one that nobody waits to see waits for all
        others, and for its process.
        """
        now = time.monotonic()
        idle = [one for one in self._workers if one.task is None and now >= one.rests_until]
        if not idle and len(self._workers) == self._count:
            return None
        waiting: set[Hashable] = set()
        running = [worker.task for worker in self._workers if worker.task is not None]
        are_enough = sum(not task.is_in_lane for task in running) >= self._at_once
        for task in _by_turn(self._waiting):
            if are_enough and not task.is_in_lane:
                continue
            familiar = [worker for worker in self._workers if task.place in worker.places]
            free = [worker for worker in familiar if worker in idle]
            if free:
                return free[0], task
            took = (worker.places[task.place] for worker in familiar)
            seconds = max(took, default=0.0) if self._is_kept(task.place) else 0.0
            patience = min(max(PATIENCE, seconds), MOST_PATIENCE)
            is_second = task.place in waiting and seconds <= PATIENCE
            is_due = now - task.since >= patience or is_second
            if not familiar or (is_due and not task.is_ahead):
                if not idle:
                    idle = [Worker()]
                    self._workers += idle
                return min(idle, key=lambda worker: len(worker.places)), task
            waiting.add(task.place)
        return None

    def _run(self, worker: Worker, task: Task) -> None:
        self._waiting.remove(task)
        if not task.future.running() and not task.future.set_running_or_notify_cancel():
            return
        if task.is_stopped:
            settle(task.future, None, StoppedError())
            return
        try:
            running = worker.compute(task.call)
        except Exception as error:  # whatever it is, the job must not be lost
            self._note_failed_start(worker, task, error)
            return
        task.tries += 1
        task.begun = time.monotonic()
        worker.task = task
        worker.places.setdefault(task.place, 0.0)
        worker.places.move_to_end(task.place)
        if len(worker.places) > PLACES:
            worker.places.popitem(last=False)
        running.add_done_callback(
            lambda done: self._events.put(functools.partial(self._finish, worker, task, done))
        )

    def _start(self, worker: Worker) -> None:
        """Have a process before there is a job for it, if that is possible."""
        try:
            worker.start()
        except Exception:  # a job will try again, and say what is wrong
            worker.kill()
            worker.release()

    def _note_failed_start(self, worker: Worker, task: Task, error: Exception) -> None:
        """Try to start a process once more for a job, after a while, or let the job fail."""
        worker.kill()
        worker.release()
        task.starts += 1
        if task.starts == STARTS:
            lost = (
                f"No process could be started to compute this ({error}). This machine is short of "
                "memory, processes or open files; try again in a moment."
            )
            settle(task.future, None, WorkerLostError(lost))
            return
        has_ended = isinstance(error, BrokenProcessPool)  # while it had nothing to do
        worker.rests_until = time.monotonic() + (0.0 if has_ended else PAUSE)
        self._waiting.appendleft(task)

    def _finish(self, worker: Worker, task: Task, done: Future[Any]) -> None:
        worker.task = None
        if worker.places.get(task.place) == 0.0:
            worker.places[task.place] = time.monotonic() - max(task.begun, worker.ready)
        error = CancelledError() if done.cancelled() else done.exception()
        if isinstance(error, BrokenProcessPool):
            passed = why_ended(worker.status)
            # Who knows what has ended a compiler: another process may have, for its memory.
            is_lost = passed is None or worker.status.state == State.COMPILING
            worker.release()
            self._start(worker)
            if task.tries < TRIES and not task.is_stopped and is_lost:
                self._waiting.appendleft(task)
                return
            error = StoppedError() if task.is_stopped else passed or WorkerLostError()
        elif worker.size.value > SHARE:
            worker.release()
            self._start(worker)
        settle(task.future, None if error else done.result(), error)


def _by_turn(waiting: Iterable[Task]) -> list[Task]:
    """Jobs in their order, those that nobody waits to see last."""
    return sorted(waiting, key=lambda task: task.is_ahead)


def in_line(before: int) -> str:
    """A sentence on how many jobs come before one; "" for none."""
    if not before:
        return ""
    return f"{before} others come first." if before > 1 else "1 other comes first."


def settle(future: Future[Any], result: object, error: BaseException | None) -> None:
    """End a job's future, unless it has ended."""
    with suppress(InvalidStateError):
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


def job_limit() -> Limit:
    """What a job may take of a process."""
    return replace(RUNNING, seconds=click_seconds())


_sizes: list[Any] = []  # of a worker process: where it writes how much memory it uses


def _prepare(message: Any, status: Status, size: Any) -> None:
    """Prepare a worker process: it shares what its job says, its status and size with the app."""
    tell(status)
    limit_files()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the app ends its workers
    threading.Thread(target=end_with_parent, daemon=True).start()
    listen(functools.partial(_write_message, message))
    _sizes[:] = [size]
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    rarely_collect_garbage()


def _compute(call: Callable[[], T]) -> T:
    """A job's result; one that exceeds a limit raises LaunchError, or ends the process."""
    try:
        with limited(job_limit()):
            try:
                return call()
            except (MemoryError, RecursionError):
                raise LaunchError(TOO_LARGE) from None
    finally:
        _note_size()


def _note_size() -> None:
    """Tell the app how much memory this process uses now that its job has ended."""
    for size in _sizes:
        size.value = used_bytes()
        if size.value > SHARE:
            gc.collect()
            size.value = used_bytes()


def _write_message(message: Any, sentence: str) -> None:
    message.value = sentence.encode(errors="replace")[: MESSAGE_BYTES - 1]
