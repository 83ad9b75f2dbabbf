"""A process that runs `python -m simulator` for one command line after another.

A process for each would spend most of its time on imports; a process of its own keeps what a
command line does to memory, or to the interpreter, away from the tests.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import IO

from tests.memory import peak_bytes

ENDED = -1  # the exit code of a command line that took its process along, or more than its time


class Commands:
    """Starts the process with the first command line, and again after one that ended it."""

    def __init__(self) -> None:
        self.peak_bytes = 0  # of memory, of the process so far; 0 on Windows, which does not tell
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None

    def run(self, arguments: Sequence[str], seconds: float) -> tuple[int, str, str]:
        """The exit code of a command line, and what it wrote to stdout and stderr."""
        connection = self._connection or self._start()
        connection.send(list(arguments))
        try:
            if not connection.poll(seconds):
                self.close()
                return ENDED, "", f"It took more than {seconds} seconds."
            code, out, error, self.peak_bytes = connection.recv()
        except (EOFError, ConnectionError):
            assert self._process is not None
            self._process.join()
            exit_code = self._process.exitcode
            self.close()
            return ENDED, "", f"Its process ended with exit code {exit_code}."
        return code, out, error

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None and self._connection is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
        self._process = self._connection = None

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        return self._connection


def _serve(connection: Connection) -> None:
    from simulator.__main__ import main
    from simulator.machine import budget

    budget.SLOWEST = 1000.0  # as in the tests' own process: a busy machine ends no run
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        # The file descriptors, not sys.stdout: libclang writes too.
        for stream, file in ((sys.stdout, out), (sys.stderr, error)):
            os.dup2(file.fileno(), stream.fileno())
            stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # a file's
        while True:
            try:
                arguments = connection.recv()
            except EOFError:
                return
            try:
                code = main(arguments)
            except SystemExit as left:
                code = left.code
            except BaseException:  # as the interpreter would
                traceback.print_exc()
                code = 1
            texts = [_taken(stream, file) for stream, file in
                     ((sys.stdout, out), (sys.stderr, error))]  # fmt: skip
            connection.send((code, *texts, peak_bytes()))


def _taken(stream: IO[str], file: IO[bytes]) -> str:
    """What a stream has written to its file, which is empty afterwards."""
    stream.flush()
    file.seek(0)
    text = file.read().decode("utf-8").replace(os.linesep, "\n")
    file.seek(0)
    file.truncate()
    return text
