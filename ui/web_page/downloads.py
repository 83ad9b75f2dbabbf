"""Files that are made when a visitor asks for them, and kept until the browser has fetched them.

Streamlit lets go of such a file once two script runs have ended after it, whoever's they are: in a
class, before the browser asks for it. Where nobody else is there it keeps the file for ever.
"""

from __future__ import annotations

import functools
import io
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager

from ui.web_page.leaving import LeftError, current_session, working_for

SECONDS = 10.0  # a file is kept so long after its latest click: a browser asks for it at once
LARGEST = 64 * 2**20  # bytes of the files that are kept; the oldest go first


def download_button(
    label: str, make: Callable[[], bytes], name: str, media_type: str, icon: str
) -> None:
    """Draw a button that downloads a file; each click makes it. The script does not run again."""
    st.download_button(
        label, functools.partial(hand_out, make, name, media_type, current_session()), name,
        media_type,
        icon=icon, on_click="ignore", width="stretch", key=f"download {label}",
    )  # fmt: skip


def hand_out(
    make: Callable[[], bytes], name: str, media_type: str, session: str = ""
) -> io.BytesIO:
    """Make a file for Streamlit, which finds it in its storage already, and keeps it there.

    It is empty, and not kept, if the visitor leaves before it is there.
    """
    if not runtime.exists():
        return io.BytesIO(make())
    files = runtime.get_instance().media_file_mgr
    files.remove_orphaned_files()  # as a script run does when it ends: downloads run no script
    try:
        with working_for(session):
            content = make()
    except LeftError:
        return io.BytesIO()
    shelf().keep(files, content, media_type, name)
    return io.BytesIO(content)


@dataclass(frozen=True, slots=True)
class Kept:
    """A file that is kept."""

    size: int  # bytes
    until: float  # by time.monotonic()


class Shelf:
    """The latest files that were handed out. They belong to no visitor."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Kept] = OrderedDict()  # by their place, the latest is last
        self._timer: threading.Timer | None = None

    def keep(self, files: MediaFileManager, content: bytes, media_type: str, name: str) -> None:
        """Keep a file for a while."""
        place = f"{hash((name, content))}"
        with self._lock:
            files.add(content, media_type, place, name, is_for_static_download=True)
            self._kept[place] = Kept(len(content), time.monotonic() + SECONDS)
            self._kept.move_to_end(place)
            self._drop(files)
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(SECONDS, self._let_go, [files])
            self._timer.daemon = True
            self._timer.start()

    def _drop(self, files: MediaFileManager) -> None:
        """Let go of the files whose time is over, and of the oldest beyond LARGEST."""
        total = sum(one.size for one in self._kept.values())
        while self._kept:
            place, oldest = next(iter(self._kept.items()))
            has_room = total <= LARGEST or len(self._kept) == 1
            if has_room and time.monotonic() < oldest.until:
                break
            total -= oldest.size
            del self._kept[place]
            files.add(b"", "text/plain", place, is_for_static_download=True)  # in its place
        if not self._kept:
            files.clear_session_refs()

    def _let_go(self, files: MediaFileManager) -> None:
        """Let go of all, which none has asked for lately.

        A thread of no script: what is added or let go of there belongs to no visitor.
        """
        with self._lock:
            self._drop(files)


@functools.cache
def shelf() -> Shelf:
    """The app's shelf."""
    return Shelf()
