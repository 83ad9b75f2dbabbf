"""A Dask cluster on this machine: a scheduler and workers, each a process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120  # until a worker has failed to come


@contextmanager
def running_cluster(folder: Path, workers: Sequence[Sequence[str]]) -> Iterator[str]:
    """The address of a scheduler with workers of a thread, started with some options each."""
    from distributed import Client

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    dask = [sys.executable, "-m", "dask"]
    commands = [
        [*dask, "scheduler", "--host", address, "--no-dashboard"],
        *[
            [*dask, "worker", address, "--nthreads", "1", "--no-dashboard", "--local-directory",
             str(folder / str(number)), *options]
            for number, options in enumerate(workers)
        ],
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    with ExitStack() as stack:
        for command in commands:
            process = stack.enter_context(
                subprocess.Popen(
                    command, cwd=ROOT, env=environment,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
            )  # fmt: skip
            stack.callback(process.terminate)
        with Client(address, timeout=SECONDS, set_as_default=False) as client:
            client.wait_for_workers(len(workers), SECONDS)
        yield address
