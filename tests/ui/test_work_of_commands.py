"""Commands that would take hours or gigabytes say so, and begin nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ui import film, publish

VIEW = "kernel=tiled&M=4&N=4&K=4&TILE=2"
STEPS = 41  # of it


@pytest.mark.parametrize("limit", ["MOST_SECONDS", "MOST_GIF_BYTES"])
def test_a_film_of_too_much_is_refused_before_it_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: str
) -> None:
    monkeypatch.setattr(film, limit, 10)
    monkeypatch.setattr(film, "_page", lambda _: pytest.fail("no browser may begin"))
    assert film.main([VIEW, str(tmp_path / "film.gif"), "--steps", "1-30"]) == 2
    said = capsys.readouterr().err
    assert f" of the view's {STEPS} steps would take about " in said
    assert "--steps 1-100" in said
    assert list(tmp_path.iterdir()) == []


def test_publishing_too_much_is_refused_before_it_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(publish, "MOST_SECONDS", 0.1)
    folder = tmp_path / "pages"
    assert publish.main([str(folder), VIEW]) == 2
    said = capsys.readouterr().err
    assert f"has {STEPS} steps" in said
    assert "a page may take 0.1 s" in said
    assert not folder.exists()
