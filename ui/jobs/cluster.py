"""Work on more machines: the app's jobs go to the workers of a Dask cluster."""

from __future__ import annotations

import functools
import multiprocessing
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future, wait
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ui.jobs.workers import Place, Running, WorkerLostError, Workers

if TYPE_CHECKING:
    from distributed import Scheduler

P = ParamSpec("P")
T = TypeVar("T")
PLACES = 256  # a place's worker is remembered for so many
LOSSES = 1  # of a job's workers, after which it is tried again
CONNECT_SECONDS = 30
LOOK_SECONDS = 0.25  # between two looks whether the app still wants a job


class ClusterError(Exception):
    """Why a cluster cannot be used: a sentence."""


class Cluster(Executor):
    """Workers of a Dask cluster; a job goes where the like of it was computed last.

    Jobs are alike whose `place` is the same: place gets the function and its arguments. A job whose
    process or worker ends is tried once more. Raises ClusterError where no scheduler answers.
    """

    def __init__(self, address: str, place: Place, seconds: float | None = None) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ClusterError(
                "A cluster needs Dask: `python -m pip install -r requirements-cluster.txt`."
            ) from None
        try:
            self.client = Client(address, timeout=seconds or CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(f"No Dask scheduler answers at {address}: {error}") from None
        self.client.run_on_scheduler(_prepare)
        self._place = place
        self._workers: OrderedDict[Hashable, str] = OrderedDict()  # by place: a worker's address

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Running[T]:
        """Compute a function of some arguments, which are pickled."""
        place = self._place(function, *args)
        known = self._workers.get(place)
        where = {} if known is None else {"workers": [known], "allow_other_workers": True}
        found: Running[T] = Running()
        found.stop = found.cancel
        try:
            executor = self.client.get_executor(pure=False, **where)
            running = executor.submit(_run, functools.partial(function, *args, **kwargs), place)
        except Exception as error:  # whatever it is, the job must not be lost
            lost = f"The cluster has not taken this ({error}); try again in a moment."
            found.set_exception(WorkerLostError(lost))
            return found
        running.add_done_callback(functools.partial(self._finish, place, found))
        found.add_done_callback(lambda one: one.cancelled() and running.cancel())
        return found

    @property
    def size(self) -> int:
        """How many jobs its workers compute at once now."""
        return sum(self.client.nthreads().values())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, whose workers go on."""
        self.client.close()

    def _finish(self, place: Hashable, found: Future[Any], done: Future[Any]) -> None:
        from distributed import KilledWorker

        if done.cancelled() or not found.set_running_or_notify_cancel():
            found.cancel()
            return
        error = done.exception()
        if isinstance(error, KilledWorker):
            error = WorkerLostError()
        if error is not None:
            found.set_exception(error)
            return
        worker, result = done.result()
        self._workers[place] = worker
        self._workers.move_to_end(place)
        if len(self._workers) > PLACES:
            self._workers.popitem(last=False)
        found.set_result(result)


def _run(call: Callable[[], Any], place: Hashable) -> tuple[str, Any]:
    """Compute a job in a worker: the worker's address, and the result."""
    from distributed import get_worker

    worker = get_worker()
    running = _processes(worker.state.nthreads).submit(_call, call, place)
    key = worker.get_current_task()
    while not wait([running], LOOK_SECONDS).done:
        known = worker.state.tasks.get(key)
        if known is None or known.state == "cancelled":  # the app has taken it back
            running.stop()
    return worker.address, running.result()


@functools.cache
def _processes(count: int) -> Workers:
    """The processes of this Dask worker, in which its jobs have this machine's limits.

    A job that passes one ends its process and not the worker, which has others' jobs too.
    """
    # Dask's nanny starts workers as daemons, to which multiprocessing denies children, as they
    # would outlive them: these end by themselves.
    vars(multiprocessing.current_process())["_config"]["daemon"] = False
    found = Workers(count, lambda _, __, place: place)
    # Before multiprocessing closes the queue that ends them, and waits for them.
    Finalize(None, found.shutdown, kwargs={"cancel_futures": True}, exitpriority=100)
    return found


def _call(call: Callable[[], T], _: Hashable) -> T:
    return call()


def _prepare(dask_scheduler: Scheduler) -> None:
    """Let the scheduler do with lost workers' jobs as we want."""
    from ui.jobs.cluster_places import Places

    dask_scheduler.allowed_failures = LOSSES
    dask_scheduler.add_plugin(Places(), idempotent=True)
