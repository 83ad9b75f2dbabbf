"""A visitor's run of a whole grid: its parts are computed by workers, a thread adds them up."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, TypeVar

from simulator import LaunchError, Report, SourceError
from simulator.machine.budget import Progress
from simulator.split.part import NotSplitError, Part, PartTask
from simulator.split.run import WAIT_SECONDS, StoppedError, simulate_in_parts
from ui.gpu.grid_jobs import Checked, Grid, build_grid, check_grid, run_part
from ui.jobs import workers
from ui.jobs.lanes import Lanes

SECONDS = 3600.0  # of processors, that a run may take
MOST_PARTS = 100_000  # a part is one chunk of blocks, so that others' jobs come soon
T = TypeVar("T")
RUNS = 2  # at once: the app itself holds the arrays of each
NO_MEMORY = "There is not enough memory for this. Choose smaller sizes."
BUG = "This is a bug in Tilewise: please report it, with the kernel and its sizes."


@dataclass(frozen=True, slots=True)
class GridState:
    """How far a run is."""

    phase: str = "waiting"  # "waiting", "running", "checking", "done", "stopped" or "failed"
    progress: Progress | None = None  # of its blocks, once some are done
    problem: str = ""  # why it has failed: a sentence
    report: Report | None = None  # without its arrays
    checked: Checked | None = None

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.phase in ("done", "stopped", "failed")


class GridRun:
    """A run that has been asked for. Its state is replaced as it goes on."""

    def __init__(self, grid: Grid, lanes: Lanes, owner: Hashable = None) -> None:
        self.grid = grid
        self._owner = owner  # its parts take this visitor's turns in the lanes
        self.state = GridState()
        self.workers = 0  # the most that had parts of it at the same time
        self._lanes = lanes
        self._stop = threading.Event()
        self._running: list[workers.Running[Any]] = []  # the oldest first

    def cancel(self) -> None:
        """Stop it; the workers are free at once."""
        self._stop.set()

    @property
    def progress_message(self) -> str:
        """The progress message of the oldest job that runs."""
        return next(
            (message for one in list(self._running) if (message := one.progress_message())), ""
        )

    def compute(self, turns: threading.Semaphore) -> None:
        """Run it to its end, once it has one of some turns."""
        while not turns.acquire(timeout=WAIT_SECONDS):
            if self._stop.is_set():
                self._move(phase="stopped")
                return
        try:
            self._move(phase="running")
            self._compute()
        finally:
            turns.release()

    def _compute(self) -> None:
        try:
            report, checked = self._run()
            self._move(phase="done", report=report, checked=checked)
        except (StoppedError, workers.StoppedError):
            self._move(phase="stopped")
        except (
            SourceError, LaunchError, NotSplitError, MemoryError, workers.WorkerLostError
        ) as error:  # fmt: skip
            self._move(phase="failed", problem=str(error) or NO_MEMORY)
        finally:
            if not self.state.finished:  # a mistake of ours, which the thread's end would hide
                self._move(phase="failed", problem=BUG)

    def _run(self) -> tuple[Report, Checked]:
        """The report, without its arrays, and what is said of it."""
        try:
            kernel, launch = build_grid(self.grid)
            report = simulate_in_parts(
                kernel, launch, self._submit, self._lanes.count, MOST_PARTS,
                seconds=SECONDS, on_progress=self._note, stop=self._stop,
            )  # fmt: skip
            self._move(phase="checking")
            C = report.arrays["C"]
            checked = self._wait(self._follow(self._submit_job(check_grid, C)))
            return dataclasses.replace(report, arrays={}), checked
        finally:
            for future in list(self._running):
                future.stop()

    def _submit(self, task: PartTask) -> Future[Part]:
        return self._follow(self._submit_job(run_part, task))

    def _submit_job(self, function: Callable[..., T], argument: object) -> workers.Running[T]:
        return self._lanes.submit(function, self.grid, argument, owner=self._owner)

    def _follow(self, future: workers.Running[Any]) -> workers.Running[Any]:
        """Know of a job until it is done."""
        self._running.append(future)
        self.workers = max(self.workers, len(self._running))
        future.add_done_callback(lambda one: self._running.remove(future))
        return future

    def _wait(self, future: Future[Checked]) -> Checked:
        while not wait([future], WAIT_SECONDS).done:
            if self._stop.is_set():
                raise StoppedError
        return future.result()

    def _note(self, progress: Progress) -> None:
        self._move(progress=progress)

    def _move(self, **changes: Any) -> None:
        self.state = dataclasses.replace(self.state, **changes)


class GridRuns:
    """All runs of the app; some go on at once, the others wait."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._turns = threading.Semaphore(RUNS)

    def start(self, grid: Grid, owner: Hashable = None) -> GridRun:
        """Begin a run, or let it wait for others."""
        run = GridRun(grid, self._lanes, owner)
        threading.Thread(target=run.compute, args=(self._turns,), daemon=True).start()
        return run
