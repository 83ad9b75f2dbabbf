"""A visitor who leaves cancels their job."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Protocol

from streamlit import runtime

GRACE_SECONDS = 10.0  # a browser whose connection broke has come back by then
LOOK_SECONDS = 0.5


class State(Protocol):
    """How far a job is."""

    @property
    def finished(self) -> bool:
        """Whether it has ended."""


class Job(Protocol):
    """What takes long, and can be cancelled: a job of the GPU, a run of a whole grid."""

    @property
    def state(self) -> State:
        """How far it is now."""

    def cancel(self) -> None:
        """Let it end soon."""


def cancel_when_left(job: Job, session: str) -> None:
    """Cancel a job once its session has had no browser's tab for a while.

    Another page of the app is the same session; a tab that is loaded anew is another one.
    """
    is_there = functools.partial(runtime.get_instance().is_active_session, session)
    threading.Thread(target=watch, args=(job, is_there), daemon=True).start()


def watch(job: Job, is_there: Callable[[], bool]) -> None:
    """Follow a job to its end, or cancel it when its visitor has been away for too long."""
    seen = time.monotonic()
    while not job.state.finished:
        if is_there():
            seen = time.monotonic()
        elif time.monotonic() - seen > GRACE_SECONDS:
            job.cancel()
            return
        time.sleep(LOOK_SECONDS)
