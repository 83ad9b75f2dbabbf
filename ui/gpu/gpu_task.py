"""A GPU job within a Dask worker: its kernels run in a process of their own there, too."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu.worker import JobState, Worker

if TYPE_CHECKING:
    from distributed.worker import Worker as DaskWorker

POLL_SECONDS = 0.1


@functools.cache
def gpu_process() -> Worker:
    """The GPU process of this Dask worker."""
    return Worker()


def find_gpu(gpu: int) -> Mapping[str, Any]:
    """The Dask worker's GPU, as `gpu.worker.Worker.status` gives it."""
    from distributed import secede

    secede()
    return gpu_process().status(gpu)


def run_job(request: Mapping[str, Any], limit: float, topic: str) -> JobState:
    """Run a job to its last state; each other state is an event of the topic.

    The worker's thread is free for other tasks meanwhile; its GPU is not. Once nobody wants the
    task any more, the job is cancelled, which Dask itself cannot do to a running function.
    """
    from distributed import get_worker, secede

    worker = get_worker()
    key = worker.get_current_task()
    secede()
    job = gpu_process().submit(request, limit)
    last = None
    while not (state := job.state).finished:
        if not _is_wanted(worker, key):
            job.cancel()
        if state is not last and state.phase == "running":
            last = state
            worker.log_event(topic, {"key": key, "message": state.message, "done": state.done})
        time.sleep(POLL_SECONDS)
    return state


def _is_wanted(worker: DaskWorker, key: str) -> bool:
    task = worker.state.tasks.get(key)
    return task is not None and task.state != "cancelled"
