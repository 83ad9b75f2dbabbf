"""What browsers get of the glossary: its words, and the picture of one."""

from __future__ import annotations

import json

import pytest
from starlette.requests import Request
from starlette.routing import Match, Route

from ui.glossary import route
from ui.glossary.entry import glossary


def found_route(path: str) -> tuple[Route, Request] | None:
    scope = {"type": "http", "method": "GET", "path": path, "root_path": ""}
    for one in route.routes():
        match, child = one.matches(scope)
        if match is Match.FULL:
            return one, Request(scope | child)
    return None


def test_all_words_are_sent_with_whether_they_have_a_picture() -> None:
    found = found_route(f"/{route.folder()}/words.json")
    assert found is not None
    answer = route._send_words(found[1])
    words = json.loads(bytes(answer.body))
    assert words.keys() == glossary().keys()
    assert words["bank conflict"]["picture"] == "bank-conflict"
    assert words["latency"]["picture"] == "latency"
    assert (words["bank conflict"]["opens"], words["latency"]["opens"]) == (True, False)
    assert all(word["picture"] for word in words.values())
    assert "<code>__syncthreads()</code>" in words["barrier"]["text"]
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (route.picture_path("tile", "light"), 200),
        (route.picture_path("tile", "dark"), 200),
        (route.picture_path("latency", "light"), 200),
        (route.picture_path("lecture", "dark"), 200),
        (route.picture_path("nothing", "light"), 404),
        (route.picture_path("tile", "pink"), 404),
    ],
)
def test_a_picture_is_sent_for_a_word_of_the_table_alone(path: str, status: int) -> None:
    found = found_route(f"/{path}")
    assert found is not None
    answer = route._send_picture(found[1])
    assert answer.status_code == status
    if status == 200:
        assert answer.media_type == "image/svg+xml"
        assert bytes(answer.body).startswith(b"<svg")
        assert "max-age" in answer.headers["cache-control"]


def test_a_picture_that_cannot_be_drawn_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWISE_WRITE", "off")
    found = found_route(f"/{route.picture_path('atomic', 'light')}")
    assert found is not None
    assert route._send_picture(found[1]).status_code == 404


def test_the_routes_hold_for_the_apps_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "prefix", lambda: "/lectures")
    assert found_route(f"/lectures/{route.folder()}/words.json") is not None
    assert found_route(f"/{route.folder()}/words.json") is None
