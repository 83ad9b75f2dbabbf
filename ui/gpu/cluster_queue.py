"""The queue of a cluster's GPUs, held by its scheduler, since several apps share it.

The functions run on the scheduler, one at a time, as `Client.run_on_scheduler` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpu.fair_queue import FairQueue

if TYPE_CHECKING:
    from distributed import Scheduler

RESOURCE = "GPU"  # what a Dask worker with a GPU is started with: --resources GPU=1
EXTENSION = "tilewise-gpu-queue"  # where the scheduler has it


@dataclass(frozen=True, slots=True)
class JobName:
    """A job of an app."""

    client: str  # the app's name at the scheduler
    job: str  # unique


@dataclass(slots=True)
class GpuQueue:
    """All apps' jobs in their order, and the workers of those that run."""

    jobs: FairQueue[JobName] = field(default_factory=FairQueue)
    workers: dict[JobName, str] = field(default_factory=dict)  # addresses
    losses: dict[JobName, int] = field(default_factory=dict)  # workers that ended with the job

    def leave(self, job: JobName) -> None:
        """Remove a job."""
        self.jobs.leave(job)
        self.workers.pop(job, None)
        self.losses.pop(job, None)


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """A job's position in the queue, and its worker."""

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
    """Add a job to the queue."""
    _queue(dask_scheduler).jobs.join(job, owner)


def poll(job: JobName, dask_scheduler: Scheduler) -> QueuePosition:
    """A job's position; a free worker is assigned to it if it is the next to run."""
    queue, workers = _queue(dask_scheduler), gpu_workers(dask_scheduler)
    for one in list(queue.jobs):
        if one.client not in dask_scheduler.clients:  # its app has ended
            queue.leave(one)
    for one, worker in list(queue.workers.items()):
        if worker not in workers:
            del queue.workers[one]
            queue.losses[one] = queue.losses.get(one, 0) + 1
    free = [worker for worker in workers if worker not in queue.workers.values()]
    waiting = [one for one in queue.jobs if one not in queue.workers]
    if job in waiting[: len(free)]:
        queue.workers[job] = free[waiting.index(job)]
        queue.jobs.start(job)
    return QueuePosition(
        queue.jobs.before(job), queue.workers.get(job), queue.losses.get(job, 0), len(workers)
    )


def leave(job: JobName, dask_scheduler: Scheduler) -> None:
    """Remove a job, whether it has run or not."""
    _queue(dask_scheduler).leave(job)


def _queue(scheduler: Scheduler) -> GpuQueue:
    found: GpuQueue = scheduler.extensions.setdefault(EXTENSION, GpuQueue())
    return found
