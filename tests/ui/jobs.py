"""Functions for worker processes of tests; the first argument is where their like is computed."""

from __future__ import annotations

import os
import time
from pathlib import Path

from simulator import compile_kernel
from simulator.guard import COMPILING, limited
from ui.jobs.job_progress import say


def process(_: object) -> int:
    """The process that computes this."""
    return os.getpid()


def process_after(_: object, seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def end_until(_: object, marks: str, times: int) -> int:
    """End the process; from a time on give how often that was done. Each time leaves a file."""
    done = len(list(Path(marks).iterdir()))
    if done >= times:
        return done
    (Path(marks) / str(done)).touch()
    os._exit(1)


def end_compiling_until(place: object, marks: str, times: int) -> int:
    """As end_until, in the middle of what counts as compiling."""
    with limited(COMPILING):
        return end_until(place, marks, times)


def compile_text(_: object, text: str) -> str:
    return compile_kernel(text, "k").name


def leave_mark(_: object, mark: str) -> None:
    Path(mark).touch()


def fail(_: object, sentence: str) -> None:
    raise ValueError(sentence)


def note_process_and_wait(_: object, note: str, seconds: float) -> int:
    """Note the process that computes this in a file, whole at once, and wait."""
    written = Path(f"{note}.{os.getpid()}")
    written.write_text(str(os.getpid()))
    written.rename(note)
    time.sleep(seconds)
    return os.getpid()


def compute_for_ever(_: object) -> None:
    while True:
        pass


_held: list[bytes] = []  # of this process, for ever


def hold(_: object, size: int) -> int:
    """Let this process use so many bytes more from now on."""
    _held.append(b"1" * size)
    return os.getpid()


def say_and_wait(_: object, sentence: str, seconds: float) -> int:
    """Say how far this is, and wait."""
    say(sentence)
    time.sleep(seconds)
    return os.getpid()
