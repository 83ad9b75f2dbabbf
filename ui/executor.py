"""Where work runs: one `concurrent.futures.Executor` for the whole app.

`TILEWISE_SCHEDULER`, as tcp://host:8786, is the address of a Dask cluster. Without it there are
worker processes on this machine: `TILEWISE_WORKERS` is their number, by default one for each
processor. Nothing is computed in the app's own process, which has no limits.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import Executor
from contextlib import suppress

from ui.cluster import Cluster
from ui.compute import place
from ui.lanes import Lanes
from ui.workers import Workers

VARIABLE = "TILEWISE_WORKERS"
SCHEDULER = "TILEWISE_SCHEDULER"


@functools.cache
def executor() -> Executor:
    """The app's executor. Raises ClusterError."""
    address = os.environ.get(SCHEDULER)
    if address:
        return Cluster(address, place)
    return Workers(worker_count(), place)


def worker_count() -> int:
    """How many worker processes there are to be: at least one."""
    with suppress(ValueError):
        return max(int(os.environ.get(VARIABLE, "")), 1)
    return max(processor_count(), 2)  # a long job leaves one to others


@functools.cache
def lanes() -> Lanes:
    """The app's lanes, for all its long jobs: one worker is left for others, if there are two."""
    workers = executor()
    size = workers.size if isinstance(workers, Cluster) else worker_count()
    return Lanes(workers, max(1, size - 1))


def processor_count() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
