"""Waits for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 60.0  # until what is awaited has failed to come


def until(is_so: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait for something that must come within some seconds."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)
