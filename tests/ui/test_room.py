"""The room of a scene, as a browser says it or as it is guessed."""

from __future__ import annotations

from typing import Any

import pytest

from ui.drawing.room import PHONE, USUAL, guess_room, parse_cookie, parse_room


def test_a_reported_room_is_a_looks() -> None:
    room = parse_room({"width": 1880, "height": 940, "presenting": True})
    assert room is not None
    assert (room.width, room.height, room.presenting) == (1880, 940, True)


@pytest.mark.parametrize(
    "reported",
    [None, {}, {"width": 1240}, {"width": "wide", "height": 600}, {"width": 1e400, "height": 600},
     {"width": 10, "height": 600}, {"width": 1240, "height": 10**9}, {"width": None, "height": 1}],
)  # fmt: skip
def test_what_is_no_room_is_none(reported: dict[str, Any] | None) -> None:
    assert parse_room(reported) is None


@pytest.mark.parametrize("text", ["", "None", "1240", "1240x", "1x1", "99999x600", "1240x600x2"])
def test_what_is_no_cookie_is_none(text: str) -> None:
    assert parse_cookie(text) is None


def test_a_phone_is_guessed_by_its_name() -> None:
    assert guess_room("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0) Mobile/15E148 Safari") == PHONE
    assert guess_room("Mozilla/5.0 (X11; Linux x86_64) Chrome/130") == guess_room("") == USUAL
