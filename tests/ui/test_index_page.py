"""Streamlit's page as the app sends it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ui import index_page


def test_what_a_page_loads_early_is_there() -> None:
    found = re.findall(r'href="\./(static/js/([A-Za-z]+)\.[^"]+)"', index_page.early_modules())
    assert [name for _, name in found] == list(index_page.MODULES)
    assert all((index_page.INDEX.parent / file).is_file() for file, _ in found)


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
    assert index_page.early_modules() == ""
    assert index_page.routes([""]) == []
