"""The progress reports of a job."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with what the job is doing, and with the share of it that is done if known."""

    def __call__(self, message: str, done: float | None = None, /) -> None:
        """Report the beginning of a sentence, and the share that is done, 0 to 1."""


def portion(progress: Progress, begin: float, end: float) -> Progress:
    """Progress of one phase of a job, which covers the shares `begin` to `end` of the whole job.

    Both are 0 to 1. The phase reports its own share of 0 to 1, None counts as 0.
    """

    def report(message: str, done: float | None = None, /) -> None:
        progress(message, begin + (end - begin) * (done or 0.0))

    return report
