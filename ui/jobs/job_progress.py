"""What a job says of itself while it runs, for those who wait for it."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []  # of this process


def listen(listener: Callable[[str], None]) -> None:
    """Have every sentence that a job of this process says from now on."""
    _listeners.append(listener)


def say(sentence: str) -> None:
    """Say how far the job is that this process computes."""
    for listener in _listeners:
        listener(sentence)
