"""Limits the rate of repeated messages in the server's log.

Where descriptors run out, asyncio's loop tries to accept each waiting connection again each second,
and logs every attempt with a traceback, by the thousand (asyncio/selector_events.py).
"""

from __future__ import annotations

import logging
import time

SECONDS = 30.0  # for which a message is not repeated
MOST = 1000  # messages that are remembered
LOGGERS = ("asyncio", "uvicorn.error")  # connections, and sessions that fail to open


class RateLimitFilter(logging.Filter):
    """Passes a message once per period; the next one passed says how many were suppressed."""

    def __init__(self) -> None:
        super().__init__()
        # Suppressed until when, and how many were, by the first line and the exception's type.
        self._suppressed: dict[tuple[str, object], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be written."""
        text = record.getMessage()
        alike = text.partition("\n")[0], record.exc_info and record.exc_info[0]
        now = time.monotonic()
        until, count = self._suppressed.get(alike, (now, 0))
        if now < until:
            self._suppressed[alike] = until, count + 1
            return False
        if len(self._suppressed) >= MOST:
            self._suppressed.clear()
        self._suppressed[alike] = now + SECONDS, 0
        if count:
            record.msg, record.args = f"{text} (and {count} more like this before)", ()
        return True


def limit_log_rate() -> None:
    """Limit the rate of the server's own messages."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(RateLimitFilter())
