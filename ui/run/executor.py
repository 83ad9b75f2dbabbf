"""Where work runs: one `concurrent.futures.Executor` for the whole app.

`TILEWISE_SCHEDULER`, as tcp://host:8786, is the address of a Dask cluster. Without it there are
worker processes on this machine: `TILEWISE_WORKERS` is their number, by default two more than
there are processors. Nothing is computed in the app's own process, which has no limits.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import Executor
from contextlib import suppress

from simulator.split.processes import processor_count
from ui.jobs.cluster import Cluster
from ui.jobs.lanes import Lanes
from ui.jobs.workers import Workers
from ui.run.compute import is_kept, place

VARIABLE = "TILEWISE_WORKERS"
SCHEDULER = "TILEWISE_SCHEDULER"
# Workers beyond those that the processors could keep busy: long jobs share the processors with what
# takes a moment, of which no more run at once than there are processors, and neither waits for the
# other.
OTHERS = 2


@functools.cache
def executor() -> Executor:
    """The app's executor. Raises ClusterError."""
    address = os.environ.get(SCHEDULER)
    if address:
        return Cluster(address, place)
    count = worker_count()
    return Workers(count, place, is_kept, at_once=max(min(count, OTHERS), count - OTHERS))


def worker_count() -> int:
    """How many worker processes there are to be: at least one."""
    with suppress(ValueError):
        return max(int(os.environ.get(VARIABLE, "")), 1)
    return processor_count() + OTHERS


@functools.cache
def lanes() -> Lanes:
    """The app's lanes, for all its long jobs: as many as leave OTHERS to all else, if they can."""
    workers = executor()
    size = workers.size if isinstance(workers, Cluster) else worker_count()
    return Lanes(workers, max(1, size - OTHERS))
