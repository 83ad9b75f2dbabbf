"""What the app needs of its system, checked at the start, before pages half work."""

from __future__ import annotations

import math
import multiprocessing
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from ui.jobs.cluster import Cluster
from ui.run.compute import place
from ui.run.executor import executor, worker_count

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

# An open session has four; ui/serving/while_serving.py closes those that have ended.
FEWEST_FILES = 256
FILES = (65_536, 10_240)  # asked for in turn; the second is the most of an older macOS
ADDRESS_SPACE = 4 * 2**30  # bytes; with 28 visitors at once it took 2.8
THREADS = 64  # beyond those of the workers; 28 visitors at once needed 35 of them
WORKER_THREADS = 4  # a worker process counts as one
SEMAPHORES = 8  # of a worker, with what it shares with the app
PATIENCE = 60.0  # seconds until a worker process that does not answer has failed to start


class StartError(Exception):
    """What keeps the app from starting: a sentence."""


def check_limits() -> None:
    """Raise the limit of open files as far as the system lets the app; check the other limits.

    Raises StartError.
    """
    if resource is not None:
        _raise_file_limit()
        _check_address_space()
    count = worker_count()
    _check_threads(THREADS + WORKER_THREADS * count)
    _check_semaphores(SEMAPHORES * count)


def start_worker() -> Future[Any]:
    """The first answer of the first worker process, which imports for it what a scene needs.

    Raises ClusterError.
    """
    return executor().submit(place, abs, 0)


def check_worker(answer: Future[Any]) -> None:
    """Wait for start_worker's answer; a cluster's may come later. Raises StartError."""
    if isinstance(executor(), Cluster):
        return
    try:
        answer.result(PATIENCE)
    except TimeoutError:
        for process in multiprocessing.active_children():
            process.terminate()  # or this one would wait for it at its end
        raise StartError(
            f"No worker process has answered within {PATIENCE:g} seconds. Is this machine too busy?"
        ) from None
    except Exception as error:
        raise StartError(f"No worker process can be started: {error}") from error


def open_files() -> float:
    """How many files the app may open at once."""
    return math.inf if resource is None else _soft_limit(resource.RLIMIT_NOFILE)


def _soft_limit(which: int) -> float:
    """A limit of this process that holds now; infinity for none."""
    soft = resource.getrlimit(which)[0]
    return math.inf if soft == resource.RLIM_INFINITY else soft


def _raise_file_limit() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for most in FILES:
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        if wanted > _soft_limit(resource.RLIMIT_NOFILE):
            with suppress(ValueError, OSError):  # more than macOS's kernel gives a process
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    files = _soft_limit(resource.RLIMIT_NOFILE)
    if files < FEWEST_FILES:
        raise StartError(
            f"The app may open {files:g} files at once and needs {FEWEST_FILES}: each visit takes "
            f"some. Start it after `ulimit -n {FEWEST_FILES}`; in a container, with --ulimit "
            f"nofile={FEWEST_FILES}."
        )


def _check_address_space() -> None:
    size = _soft_limit(resource.RLIMIT_AS)
    if size < ADDRESS_SPACE:
        raise StartError(
            f"The app may have {size / 2**30:.1f} GB of address space and needs "
            f"{ADDRESS_SPACE / 2**30:g} GB for a class's visitors; it uses far less memory. Start "
            "it after `ulimit -v unlimited`."
        )


def _check_threads(count: int) -> None:
    over = threading.Event()
    threads = [threading.Thread(target=over.wait, daemon=True) for _ in range(count)]
    started = 0
    try:
        for thread in threads:
            thread.start()
            started += 1
    except RuntimeError:
        raise StartError(
            f"The app may start {started} more threads and needs {count} for its visitors and "
            "workers. Raise the limit of processes: `ulimit -u`; in a container, --pids-limit."
        ) from None
    finally:
        over.set()
        for thread in threads[:started]:
            thread.join()


def _check_semaphores(count: int) -> None:
    context = multiprocessing.get_context("spawn")
    try:
        _ = [context.Lock() for _ in range(count)]
    except OSError as error:
        raise StartError(
            f"The app cannot get the {count} semaphores of its worker processes "
            f"({error.strerror}). On Linux they are in /dev/shm, which must be writable and have "
            "a few MB free: `df /dev/shm` shows how much; in a container, --shm-size sets it."
        ) from None
