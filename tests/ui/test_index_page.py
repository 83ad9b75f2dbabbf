"""Streamlit's page as the app sends it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from starlette.requests import Request
from starlette.routing import Match

from ui.web_page import index_page


def test_what_a_page_loads_early_is_there() -> None:
    early = index_page.early_modules(index_page.INDEX)
    found = re.findall(r'href="\./(static/\w+/([\w-]+)\.[^"]+)"', early)
    names = [name for _, name in found]
    assert names[: len(index_page.MODULES)] == list(index_page.MODULES)
    assert {"Input", "SourceCodeVF-Upright"} <= set(names)  # a selectbox needs it; code's font
    assert len(set(found)) == len(found)
    assert all((index_page.INDEX.parent / file).is_file() for file, _ in found)
    assert not [file for file, _ in found if file in index_page.INDEX.read_text(encoding="utf-8")]


def test_our_scripts_come_before_streamlits_and_its_late_modules_after() -> None:
    body = bytes(index_page.send_index(None).body).decode()  # type: ignore[arg-type]  # unread
    places = [body.index(text) for text in (
        "BACKEND_BASE_URL", "tilewise_room", "static/js/index.", "static/js/PlotlyChart.", "<body",
    )]  # fmt: skip
    assert places == sorted(places)


def test_without_streamlits_files_nothing_is_loaded_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_page, "INDEX", tmp_path / "index.html")
    assert index_page.early_modules(index_page.INDEX) == ""
    assert index_page.routes([""]) == []


@pytest.mark.parametrize(
    ("path", "query", "leads_to"),
    [
        ("/gpu", "", "/compare"),
        ("/GPU", "?kernel=padded", "/compare?kernel=padded"),
        ("/gpu/", "", "/compare"),
        ("/lessons", "?lesson=banks", "/learn?lesson=banks"),
        ("/exercises", "", "/write"),
    ],
)
def test_another_name_of_a_page_leads_to_its_address(path: str, query: str, leads_to: str) -> None:
    pages = ["", "learn", "step", "write", "compare"]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": query[1:].encode(),
             "headers": [(b"host", b"tilewise")]}  # fmt: skip
    [route] = [one for one in index_page.routes(pages) if one.matches(scope)[0] is Match.FULL]
    answer = route.endpoint(Request(scope))
    assert urljoin(path, answer.headers["location"]) == leads_to
    assert set(index_page.OTHER_NAMES.values()) <= set(pages)


def test_the_script_that_runs_early_needs_no_name_that_a_browser_lacks() -> None:
    """WebKit has no requestIdleCallback: a bare name that is not declared throws, even with ?."""
    assert not re.search(
        r"(?<!window\.)requestIdleCallback", index_page.early_modules(index_page.INDEX)
    )
