"""Bounds what the server writes into its log: one message again and again is one line of it.

Where descriptors run out, asyncio's loop tries to accept each waiting connection again each second,
and tells of every try with a traceback, by the thousand (asyncio/selector_events.py).
"""

from __future__ import annotations

import logging
import time

SECONDS = 30.0  # for which a message is not repeated
MOST = 1000  # messages that are remembered
LOGGERS = ("asyncio", "uvicorn.error")  # connections, and sessions that fail to open


class Seldom(logging.Filter):
    """Lets a message through once in a while; the next one says how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        # Until when, and how many were left out, by the first line and the exception's type.
        self._silent: dict[tuple[str, object], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be written."""
        text = record.getMessage()
        alike = text.partition("\n")[0], record.exc_info and record.exc_info[0]
        now = time.monotonic()
        until, left_out = self._silent.get(alike, (now, 0))
        if now < until:
            self._silent[alike] = until, left_out + 1
            return False
        if len(self._silent) >= MOST:
            self._silent.clear()
        self._silent[alike] = now + SECONDS, 0
        if left_out:
            record.msg, record.args = f"{text} (and {left_out} more like this before)", ()
        return True


def bound_log() -> None:
    """Write no message of the server again and again."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(Seldom())
