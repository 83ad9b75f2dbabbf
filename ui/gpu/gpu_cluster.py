"""The GPUs of a Dask cluster, for the GPU jobs of this app's visitors."""

from __future__ import annotations

import contextlib
import threading
import traceback
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpu.worker import Job, JobState, WorkerError, waiting
from ui.gpu import cluster_queue, gpu_task
from ui.gpu.cluster_queue import RESOURCE, JobName, QueuePosition

if TYPE_CHECKING:
    from distributed import Client, Future

POLL_SECONDS = 0.5
STATUS_SECONDS = 180.0  # a worker looks for its GPU after the job that it has
RESULT_SECONDS = 10.0  # to fetch a result that is there
TRIES = 2  # of a job whose worker ends
NO_GPU = JobState("waiting", "Waiting for a worker with a GPU")
AGAIN = JobState(
    "waiting", "The job's worker has ended; waiting for another with a GPU to try once more"
)
STARTING = JobState("running", "Starting the GPU process")
CANCELLED = JobState("cancelled", "Cancelled.")
LOST = JobState(
    "failed",
    "The cluster's worker that ran this has ended twice. Does its machine have enough memory? A "
    "smaller size takes less.",
)


@dataclass(slots=True)
class Run:
    """A job at a worker."""

    worker: str  # address
    task: Future
    ended: threading.Event = field(default_factory=threading.Event)


class GpuCluster:
    """Runs jobs on a cluster's workers with a GPU, in one queue with those of all apps.

    A job goes to a worker when that is free for it and not before: Dask would give it to one at
    once, where it would wait for that worker's jobs while another GPU is free, and would be
    blamed for the worker's end.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._topic = f"tilewise-gpu-{client.id}"
        self._heard: dict[str, JobState] = {}  # what a worker says of a task, by its key
        client.subscribe_topic(self._topic, self._hear)

    @property
    def join_command(self) -> str:
        """The command that makes a machine with a GPU a worker of the cluster."""
        return (
            f"python -m dask worker {self._client.scheduler.address} "
            f"--resources {RESOURCE}=1 --nthreads 1"
        )

    def workers(self) -> tuple[str, ...]:
        """The addresses of the workers with a GPU; none where the scheduler does not answer."""
        try:
            found: tuple[str, ...] = self._client.run_on_scheduler(cluster_queue.gpu_workers)
        except (OSError, ValueError):
            return ()
        return found

    def status(self, gpu: int = 0) -> Mapping[str, Any]:
        """A GPU of one of the workers, as `gpu.worker.Worker.status`. Raises WorkerError."""
        workers = self.workers()
        if not workers:
            raise WorkerError("The cluster no longer has a worker with a GPU.")
        task = self._client.submit(gpu_task.find_gpu, gpu, workers=workers, pure=False)
        try:
            found: Mapping[str, Any] = task.result(STATUS_SECONDS)
        except WorkerError:
            raise
        except Exception as error:  # Dask raises what it likes
            raise WorkerError(f"The cluster's worker could not look for its GPU: {error}") from None
        return found

    def submit(self, request: Mapping[str, Any], limit: float, owner: str | None = None) -> Job:
        """Queue a job, as `gpu.worker.Worker.submit`; owners take turns across apps."""
        job = Job(request, limit)
        name = JobName(self._client.id, str(uuid.uuid4()))
        threading.Thread(target=self._serve, args=(job, name, owner), daemon=True).start()
        return job

    def _serve(self, job: Job, name: JobName, owner: str | None) -> None:
        try:
            self._client.run_on_scheduler(cluster_queue.join, name, owner)
            job.move(self._follow(job, name))
        except OSError as error:
            job.move(JobState("failed", f"The cluster's scheduler does not answer: {error}"))
        except Exception as error:  # Dask raises what it likes
            traceback.print_exc()
            job.move(JobState("failed", f"The cluster could not run this: {error}"))
        finally:
            with contextlib.suppress(Exception):  # the scheduler has gone, and the queue with it
                self._client.run_on_scheduler(cluster_queue.leave, name)

    def _follow(self, job: Job, name: JobName) -> JobState:
        """Follow a job through the queue and at its workers to its last state."""
        run: Run | None = None
        try:
            while not job.cancelled.is_set():
                position: QueuePosition = self._client.run_on_scheduler(cluster_queue.poll, name)
                if position.losses == TRIES:
                    return LOST
                if run and run.worker != position.worker:
                    self._end(run)
                    run = None
                if position.worker and not run:
                    run = self._start(job, name, position.worker)
                job.move(self._state(position, run))
                if run is None:
                    job.cancelled.wait(POLL_SECONDS)
                elif run.ended.wait(POLL_SECONDS):
                    with contextlib.suppress(TimeoutError):  # its worker has ended just then
                        state: JobState = run.task.result(RESULT_SECONDS)
                        return state
            return CANCELLED if run else JobState("cancelled", "Cancelled before it started.")
        finally:
            if run:
                self._end(run)

    def _start(self, job: Job, name: JobName, worker: str) -> Run:
        """Give a job to a worker."""
        key = f"tilewise-gpu-{name.job}-{worker}"
        self._heard[key] = STARTING
        task = self._client.submit(
            gpu_task.run_job, dict(job.request), job.limit, self._topic,
            key=key, workers=[worker], resources={RESOURCE: 1}, pure=False,
        )  # fmt: skip
        run = Run(worker, task)
        task.add_done_callback(lambda _: run.ended.set())
        return run

    def _end(self, run: Run) -> None:
        """Let a worker leave a job, if it has not ended."""
        run.task.cancel()
        del self._heard[run.task.key]

    def _state(self, position: QueuePosition, run: Run | None) -> JobState:
        """The state of a job that has not ended."""
        if run:
            return self._heard[run.task.key]
        if position.losses:
            return AGAIN
        return waiting(position.before) if position.gpus else NO_GPU

    def _hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        _, sent = event
        if sent["key"] in self._heard:
            self._heard[sent["key"]] = JobState("running", sent["message"], done=sent["done"])
