"""Sessions that have ended: kept for who comes back, closed before descriptors run out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ui.serving.while_serving import KEPT_SECONDS, EndedSessions


class Sessions:
    """Streamlit's sessions, by name, and whether each is open."""

    def __init__(self) -> None:
        self.are_open: dict[str, bool] = {}

    def list_sessions(self) -> list[Any]:
        return [SimpleNamespace(session=SimpleNamespace(id=name)) for name in self.are_open]

    def is_active_session(self, session_id: str) -> bool:
        return self.are_open[session_id]

    def close_session(self, session_id: str) -> None:
        del self.are_open[session_id]


def test_a_session_that_ended_long_ago_is_closed_and_one_that_came_back_is_not() -> None:
    sessions = Sessions()
    ended = EndedSessions(sessions, 10)
    sessions.are_open = {"there": True, "gone": False, "back": False}
    ended.close_old(0.0)
    sessions.are_open["back"] = True
    ended.close_old(KEPT_SECONDS - 1)
    assert set(sessions.are_open) == {"there", "gone", "back"}
    sessions.are_open["back"] = False
    ended.close_old(KEPT_SECONDS + 1)
    assert set(sessions.are_open) == {"there", "back"}


def test_the_oldest_of_too_many_are_closed() -> None:
    sessions = Sessions()
    ended = EndedSessions(sessions, 2)
    for number in range(5):
        sessions.are_open |= {f"gone {number}": False, "there": True}
        ended.close_old(float(number))
    assert set(sessions.are_open) == {"there", "gone 3", "gone 4"}
