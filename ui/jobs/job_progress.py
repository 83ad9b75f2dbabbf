"""Progress messages of the job that a process computes, for those who wait for it."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []  # of this process


def listen(listener: Callable[[str], None]) -> None:
    """Pass every progress message of this process from now on to a listener."""
    _listeners.append(listener)


def say(sentence: str) -> None:
    """Send a progress message of the job that this process computes."""
    for listener in _listeners:
        listener(sentence)
