"""Files that are made when a visitor asks for them, and kept until the browser has fetched them.

Streamlit lets go of such a file once two script runs have ended after it, whoever's they are: in a
class, before the browser asks for it. Where nobody else is there it keeps the file for ever.
"""

from __future__ import annotations

import functools
import io
import itertools
import threading
from collections.abc import Callable

import streamlit as st
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager

LATEST = 3  # files that are kept at most
SECONDS = 30.0  # that they are kept after the latest: a browser asks for a file at once


def download_button(
    label: str, make: Callable[[], bytes], name: str, media_type: str, icon: str
) -> None:
    """Draw a button that downloads a file; each click makes it. The script does not run again."""
    st.download_button(
        label, functools.partial(hand_out, make, name, media_type), name, media_type,
        icon=icon, on_click="ignore", width="stretch",
    )  # fmt: skip


def hand_out(make: Callable[[], bytes], name: str, media_type: str) -> io.BytesIO:
    """Make a file for Streamlit, which finds it in its storage already, and keeps it there."""
    if not runtime.exists():
        return io.BytesIO(make())
    files = runtime.get_instance().media_file_mgr
    files.remove_orphaned_files()  # as a script run does when it ends: downloads run no script
    content = make()
    shelf().keep(files, content, media_type, name)
    return io.BytesIO(content)


class Shelf:
    """The latest files that were handed out. They belong to no visitor."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places = itertools.cycle(range(LATEST))
        self._timer: threading.Timer | None = None

    def keep(self, files: MediaFileManager, content: bytes, media_type: str, name: str) -> None:
        """Keep a file in the place of the oldest; all go when none has come for a while."""
        with self._lock:
            place = str(next(self._places))
            files.add(content, media_type, place, name, is_for_static_download=True)
            if self._timer is not None:
                self._timer.cancel()
            # A thread of no script: what is added or let go of there belongs to no visitor.
            self._timer = threading.Timer(SECONDS, files.clear_session_refs)
            self._timer.daemon = True
            self._timer.start()


@functools.cache
def shelf() -> Shelf:
    """The app's shelf."""
    return Shelf()
