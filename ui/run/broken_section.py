"""What is wrong in a file that comes with Tilewise: a sentence instead of what it holds."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import streamlit as st

from simulator import LaunchError, SourceError
from simulator.broken_file import Broken, BrokenFileError, log
from ui.jobs.workers import WorkerLostError
from ui.web_page.plain_text import plain_text


def list_broken(found: Iterable[Broken]) -> None:
    """Name what is missing from a list, where it would have stood."""
    for broken in found:
        st.caption(f":material/error: {plain_text(str(broken))}")


def draw_broken(reason: Broken | Exception, trace: str = "") -> None:
    """Say, and log where a file is broken, why a part of a page is missing."""
    broken = reason.broken if isinstance(reason, BrokenFileError) else reason
    if isinstance(broken, Broken):
        log(broken, trace)
    st.error(plain_text(f"This cannot be shown: {reason}"), icon=":material/error:")


@contextmanager
def drawn_from(file: str, line: int = 1) -> Iterator[None]:
    """Draw a part of a page from a file: where that fails, a sentence says so there."""
    try:
        yield
    except (SourceError, LaunchError, WorkerLostError) as error:
        draw_broken(error)
    except ValueError as error:
        draw_broken(Broken(file, line, str(error)))
    except Exception as error:  # what a file holds may be wrong in any way
        trace = "".join(traceback.format_exception(error))
        draw_broken(Broken(file, line, f"{type(error).__name__}: {error}."), f"\n{trace}")
