"""Waiting for a job on a page: how far it is, and a button that stops it.

It is shown over the page: what is on this neither moves nor is drawn anew, as it would be behind
an element that comes and goes.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.jobs.workers import Running
from ui.web_page.leaving import check_is_there
from ui.web_page.plain_text import plain_text

POLL_SECONDS = 0.2  # a hundred who wait look five hundred times a second
SPINNER_SECONDS = 1.0  # from then on the page says how far the job is
QUIET_SECONDS = 2.0  # from then on it says that there is one that usually is soon done

_numbers = itertools.count()  # of buttons: a script run may wait several times
_place: ContextVar[Any] = ContextVar("place", default=None)  # of this run of app.py


def draw_waiting_place() -> None:
    """Draw where waits are shown, in a run of app.py before its page."""
    _place.set(st.container(key="waiting"))


@contextmanager
def waits_told_here() -> Iterator[None]:
    """Tell waits where the page is drawn: a fragment may not draw a button outside of itself."""
    token = _place.set(None)
    try:
        yield
    finally:
        _place.reset(token)


def wait(future: Future[Any], on_stop: Callable[[], None] | None = None) -> None:
    """Wait for a job, where a page waits so that its visitor sees it.

    on_stop is called in the script run that follows upon a click on Stop; without it there is no
    such button. A script run that another replaces ends here.
    """
    if future.done() or get_script_run_ctx(suppress_warning=True) is None:
        wait_quietly(future)
        return
    begin = time.monotonic()
    with _place.get() or nullcontext():
        with st.spinner("Running the kernel…"):
            if _is_done(future, SPINNER_SECONDS):
                return
        place = st.empty()
        with place.container(
            horizontal=True, vertical_alignment="center", key=f"wait{next(_numbers)}"
        ):
            text = st.empty()
            if on_stop is not None and isinstance(future, Running):
                st.button(
                    "Stop", icon=":material/stop:", on_click=on_stop, key=f"stop{next(_numbers)}"
                )
        while True:
            text.markdown(plain_text(_progress_text(future, time.monotonic() - begin)))
            if _is_done(future, SPINNER_SECONDS):
                break
        place.empty()


def wait_quietly(future: Future[Any], seconds: float = math.inf) -> bool:
    """Whether a job is done within some seconds, while the page stays as it is."""
    return _is_done(future, seconds)


def _progress_text(future: Future[Any], seconds: float) -> str:
    """The text for a visitor who waits: the time so far and the job's progress message."""
    message = future.progress_message() if isinstance(future, Running) else ""
    is_waiting = not future.running() and not future.done()
    return f"{'Waiting' if is_waiting else 'Running the kernel'}, {seconds:.0f} s. {message}"


def _is_done(future: Future[Any], seconds: float) -> bool:
    """Whether a job ends within some seconds.

    Here Streamlit ends a run that is replaced, or whose visitor has left. Raises LeftError where
    there is no such run and the visitor has left.
    """
    is_run = get_script_run_ctx(suppress_warning=True) is not None
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if concurrent.futures.wait([future], POLL_SECONDS).done:
            return True
        if is_run:
            "anything" in st.session_state  # noqa: B015
        else:
            check_is_there()
    return False
