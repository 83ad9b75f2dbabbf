"""Whose turn it is at which of a cluster's GPUs: its scheduler knows, for several apps share it.

The functions run on the scheduler, one at a time, as `Client.run_on_scheduler` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpu.line import Line

if TYPE_CHECKING:
    from distributed import Scheduler

RESOURCE = "GPU"  # what a Dask worker with a GPU is started with: --resources GPU=1
EXTENSION = "tilewise-gpu-turns"  # where the scheduler has them


@dataclass(frozen=True, slots=True)
class JobName:
    """A job of an app."""

    client: str  # the app's name at the scheduler
    job: str  # unique


@dataclass(slots=True)
class Turns:
    """The line of all apps' jobs, and the workers of those that have their turn."""

    line: Line[JobName] = field(default_factory=Line)
    workers: dict[JobName, str] = field(default_factory=dict)  # addresses
    losses: dict[JobName, int] = field(default_factory=dict)  # workers that ended with the job

    def leave(self, job: JobName) -> None:
        """Remove a job."""
        self.line.leave(job)
        self.workers.pop(job, None)
        self.losses.pop(job, None)


@dataclass(frozen=True, slots=True)
class Look:
    """How a job stands."""

    before: int  # jobs
    worker: str | None  # the address of its worker, None where it has none
    losses: int  # workers that have ended while they had it
    gpus: int  # workers with a GPU


def gpu_workers(dask_scheduler: Scheduler) -> tuple[str, ...]:
    """The addresses of the workers with a GPU."""
    return tuple(
        sorted(
            address
            for address, worker in dask_scheduler.workers.items()
            if worker.resources.get(RESOURCE, 0) >= 1
        )
    )


def join(job: JobName, owner: str | None, dask_scheduler: Scheduler) -> None:
    """Add a job to the line."""
    _turns(dask_scheduler).line.join(job, owner)


def look(job: JobName, dask_scheduler: Scheduler) -> Look:
    """How a job stands; it gets a worker if it is its turn and one is free."""
    turns, workers = _turns(dask_scheduler), gpu_workers(dask_scheduler)
    for one in list(turns.line):
        if one.client not in dask_scheduler.clients:  # its app has ended
            turns.leave(one)
    for one, worker in list(turns.workers.items()):
        if worker not in workers:
            del turns.workers[one]
            turns.losses[one] = turns.losses.get(one, 0) + 1
    free = [worker for worker in workers if worker not in turns.workers.values()]
    waiting = [one for one in turns.line if one not in turns.workers]
    if job in waiting[: len(free)]:
        turns.workers[job] = free[waiting.index(job)]
        turns.line.start(job)
    return Look(
        turns.line.before(job), turns.workers.get(job), turns.losses.get(job, 0), len(workers)
    )


def leave(job: JobName, dask_scheduler: Scheduler) -> None:
    """Remove a job, whether it has had its turn or not."""
    _turns(dask_scheduler).leave(job)


def _turns(scheduler: Scheduler) -> Turns:
    found: Turns = scheduler.extensions.setdefault(EXTENSION, Turns())
    return found
