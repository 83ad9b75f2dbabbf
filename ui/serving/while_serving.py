"""What the server does as long as it runs, beside Streamlit: threads, ended sessions, memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import anyio.to_thread
from streamlit import runtime
from streamlit.runtime.session_manager import SessionManager

from ui.jobs.process_memory import give_back
from ui.serving.start import open_files

AT_ONCE = 128  # downloads that wait for their files, and pictures of words
LOOK_SECONDS = 1.0
RETURN_SECONDS = 30.0  # between two times that freed memory is returned
KEPT_SECONDS = 110.0  # a session waits so long for its browser; Streamlit forgets it at 120
DESCRIPTORS = 3  # of a session: its event loop's
OTHERS = 160  # descriptors of the app itself, and of sessions that are open


class EndedSessions:
    """Closes sessions that have ended, before their descriptors are missing.

    Streamlit keeps 128 of them, and looks which are old only when another one ends. Once the
    descriptors have run out no session opens, so none ends, and nothing is ever freed.
    """

    def __init__(self, sessions: SessionManager, most: int) -> None:
        self._sessions = sessions
        self._most = most
        self._since: dict[str, float] = {}  # when a session was first seen ended; the oldest first

    def close_old(self, now: float) -> None:
        """Close those that ended long ago, and the oldest of too many."""
        ended = [
            one.session.id
            for one in self._sessions.list_sessions()
            if not self._sessions.is_active_session(one.session.id)
        ]
        self._since = {name: self._since.get(name, now) for name in ended}
        by_age = sorted(ended, key=self._since.__getitem__)
        for place, name in enumerate(by_age):
            if len(ended) - place > self._most or now - self._since[name] > KEPT_SECONDS:
                self._sessions.close_session(name)


def most_ended(files: float) -> int:
    """How many sessions may be kept that have ended, where the app may open so many files.

    >>> most_ended(256), most_ended(512), most_ended(65_536)
    (16, 58, 128)
    """
    return int(min(128, max(4, (files - OTHERS) // (2 * DESCRIPTORS))))


@asynccontextmanager
async def while_serving(_: object) -> AsyncIterator[None]:
    """Let many downloads and pictures wait at once, close sessions that have ended, save memory.

    asyncio and Starlette by themselves have few threads: the small file of one visitor would wait
    for the large ones of others, and so would a page.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(AT_ONCE, "download"))
    anyio.to_thread.current_default_thread_limiter().total_tokens = AT_ONCE
    tasks = [asyncio.create_task(_close_ended()), asyncio.create_task(_return_memory())]
    yield
    for one in tasks:
        one.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _close_ended() -> None:
    sessions = EndedSessions(runtime.get_instance()._session_mgr, most_ended(open_files()))
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        sessions.close_old(time.monotonic())


async def _return_memory() -> None:
    while True:
        await asyncio.sleep(RETURN_SECONDS)
        await asyncio.to_thread(give_back)
