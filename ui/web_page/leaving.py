"""Whether a visitor is still there: one who leaves ends what only they have waited for."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

GRACE_SECONDS = 1.0  # a job without a waiter ends after them: a page's next run comes sooner
LOOK_SECONDS = 0.25

# The session that this thread works for, where no script run does; "" for none.
_session: ContextVar[str] = ContextVar("session", default="")


class LeftError(Exception):
    """Nobody waits any more for what is being made: a sentence."""

    def __init__(self) -> None:
        super().__init__("The visitor who asked for this has left.")


def current_session() -> str:
    """The session that this thread works for; "" for none."""
    context = get_script_run_ctx(suppress_warning=True)
    return _session.get() if context is None else context.session_id


@contextmanager
def working_for(session: str) -> Iterator[None]:
    """Work for a session in a thread of no script run, as a download's."""
    token = _session.set(session)
    try:
        yield
    finally:
        _session.reset(token)


def check_is_there() -> None:
    """Raise LeftError once the session that this thread works for has no browser's tab."""
    session = _session.get()
    if session and not runtime.get_instance().is_active_session(session):
        raise LeftError


def cancel_when_left(
    cancel: Callable[[], None], is_finished: Callable[[], bool], session: str
) -> None:
    """Cancel a job once its session has had no browser's tab for a while.

    Another page of the app is the same session; a tab that is loaded anew is another one.
    """
    is_there = functools.partial(runtime.get_instance().is_active_session, session)
    threading.Thread(target=watch, args=(cancel, is_finished, is_there), daemon=True).start()


def watch(
    cancel: Callable[[], None], is_finished: Callable[[], bool], is_there: Callable[[], bool]
) -> None:
    """Follow a job to its end, or cancel it when its visitor has been away for too long."""
    seen = time.monotonic()
    while not is_finished():
        if is_there():
            seen = time.monotonic()
        elif time.monotonic() - seen > GRACE_SECONDS:
            cancel()
            return
        time.sleep(LOOK_SECONDS)
