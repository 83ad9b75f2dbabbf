"""The viewport of a scene, as a browser reports it or as it is estimated."""

from __future__ import annotations

from typing import Any

import pytest

from ui.drawing.viewport import PHONE, USUAL, estimate_viewport, parse_cookie, parse_viewport


def test_a_reported_viewport_is_a_looks() -> None:
    viewport = parse_viewport({"width": 1880, "height": 940, "presenting": True})
    assert viewport is not None
    assert (viewport.width, viewport.height, viewport.presenting) == (1880, 940, True)


@pytest.mark.parametrize(
    "reported",
    [None, {}, {"width": 1240}, {"width": "wide", "height": 600}, {"width": 1e400, "height": 600},
     {"width": 10, "height": 600}, {"width": 1240, "height": 10**9}, {"width": None, "height": 1}],
)  # fmt: skip
def test_what_is_no_viewport_is_none(reported: dict[str, Any] | None) -> None:
    assert parse_viewport(reported) is None


@pytest.mark.parametrize("text", ["", "None", "1240", "1240x", "1x1", "99999x600", "1240x600x2"])
def test_what_is_no_cookie_is_none(text: str) -> None:
    assert parse_cookie(text) is None


def test_a_phone_is_guessed_by_its_name() -> None:
    phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0) Mobile/15E148 Safari"
    assert estimate_viewport(phone) == PHONE
    assert estimate_viewport("Mozilla/5.0 (X11; Linux x86_64) Chrome/130") == USUAL
    assert estimate_viewport("") == USUAL
