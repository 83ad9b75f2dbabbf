"""What a cluster's scheduler forgets: the places of jobs whose worker has ended."""

from __future__ import annotations

from distributed import Scheduler, SchedulerPlugin


class Places(SchedulerPlugin):  # type: ignore[misc]  # Dask has no types
    """Lets a new worker take a job that would rather go to one that has ended.

    Such a job goes to any other worker, but Dask looks for one only at once: where there is none,
    the job would wait for the ended one for ever.
    """

    name = "tilewise-places"

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        """Free the jobs that wait for a worker; Dask gives them to the new one next."""
        for task in scheduler.unrunnable:
            if task.loose_restrictions:
                task.worker_restrictions = None
