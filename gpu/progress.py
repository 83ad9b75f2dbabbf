"""How a job tells where it stands."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with what is being done, and with the share of the job that is done if known."""

    def __call__(self, message: str, done: float | None = None, /) -> None:
        """`message` is a sentence's beginning, `done` from 0 to 1."""


def part(progress: Progress, begin: float, end: float) -> Progress:
    """Progress of a part of a job, that goes from the share `begin` of the whole to `end`."""

    def told(message: str, done: float | None = None, /) -> None:
        progress(message, begin + (end - begin) * (done or 0.0))

    return told
