"""Scenes as pages without a server: what is written, what is left alone, and how it is stopped."""

from __future__ import annotations

import ctypes
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest

from tests.ui.user_kernels import array, user_kernel
from ui import publish
from ui.drawing.look import Look
from ui.drawing.palette import DARK, LIGHT
from ui.publish import MADE, list_pages
from ui.run.compute import build_animation
from ui.view import presets
from ui.view.view_url import View, to_query

ROOT = Path(__file__).resolve().parents[2]
SINGLE, PAIR = "4 × 4 in tiles of 2 × 2", "Uncoalesced | naive"
LARGEST = 2_200_000  # bytes of a page, which a phone fetches
VOID = {"meta", "link", "input", "img", "source"}


class Reader(HTMLParser):
    """What a page refers to, its figures, and whether its elements are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.figures: dict[str, Any] = {}
        self.open: list[str] = []
        self._figure: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [link for name in ("src", "srcset", "href") if (link := values.get(name))]
        if tag not in VOID:
            self.open.append(tag)
        self._figure = values.get("id") if values.get("type") == "application/json" else None

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._figure = None

    def handle_data(self, data: str) -> None:
        if self._figure:
            self.figures[self._figure] = json.loads(data)


def read(file: Path) -> Reader:
    reader = Reader(file.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


@pytest.fixture(autouse=True)
def _two_presets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish one preset of each kind, which is quick."""
    chosen = tuple(one for one in presets.presets() if one.name in (SINGLE, PAIR))
    monkeypatch.setattr(publish, "presets", lambda: chosen)


@pytest.fixture
def _empty_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no steps: nearly all of what a page takes."""
    monkeypatch.setattr(publish.export, "figure_json", lambda _: iter(["{}"]))


def files(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


SHARED = {"tilewise/plotly.js", "tilewise/player.js", "tilewise/style.css"}
TWO = {"4-x-4-in-tiles-of-2-x-2.html", "uncoalesced-naive.html"}


def pictures(pages: set[str]) -> set[str]:
    names = [page.removesuffix(".html") for page in pages]
    return {f"tilewise/{name}-{theme}.svg" for name in names for theme in ("light", "dark")}


@pytest.mark.usefixtures("_empty_figures")
def test_a_folder_has_an_index_the_pages_and_one_plotly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "pages"
    view = "http://host:1/?kernel=naive&M=4&N=4&K=4&tx=1"
    assert publish.main([str(folder), view]) == 0
    said = capsys.readouterr()
    assert said.out == f"{folder / 'index.html'}: 3 scenes\n"
    assert [line[:6] for line in said.err.splitlines()] == ["1 of 3", "2 of 3", "3 of 3"]
    assert f"1 of 3: {SINGLE}\n" in said.err
    pages = {*TWO, "naive-tx-1.html"}
    assert files(folder) == {"index.html", *SHARED, *pages, *pictures(pages)}
    index = read(folder / "index.html")
    assert {link for link in index.links if link.endswith(".html")} == pages
    for name in ("index.html", *pages):
        links = [link for link in read(folder / name).links if not link.startswith("data:")]
        for link in links:
            assert (folder / link.partition("?")[0]).is_file(), (name, link)
        assert "index.html" in links or name == "index.html"
    assert set(index.links) >= pictures(pages)
    for name in SHARED:
        assert (folder / name).read_text(encoding="utf-8").startswith(f"/* {MADE} */")
    for name in pictures(pages):
        picture = ElementTree.parse(folder / name).getroot()  # noqa: S314  # our own
        assert picture.get("width") == "1240"


def test_a_page_has_a_figure_for_each_room_and_theme(tmp_path: Path) -> None:
    list(publish.publish(tmp_path, list_pages([])))
    for name in TWO:
        page = tmp_path / name
        figures = read(page).figures
        assert set(figures) == {"phone-light", "phone-dark", "wide-light", "wide-dark"}
        for kind, figure in figures.items():
            room, theme = kind.split("-")
            layout = figure["layout"]
            assert layout["width"] == (370 if room == "phone" else 1240)
            assert layout["paper_bgcolor"] == (LIGHT if theme == "light" else DARK).paper
            assert len(figure["frames"]["steps"]) == (41 if "4-x-4" in name else 31)
        assert page.stat().st_size < LARGEST
    text = (tmp_path / "4-x-4-in-tiles-of-2-x-2.html").read_text(encoding="utf-8")
    assert re.search(r'const navigation = \{"steps": 41, .*\}, start = 26;', text)
    assert "loads 4 values from global memory" in text


def test_every_preset_has_a_page_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "presets", presets.presets)
    pages = list_pages([])
    assert [page.view for page in pages] == [preset.view for preset in presets.presets()]
    assert len({page.file for page in pages}) == len(pages)
    assert all(re.fullmatch(r"[a-z0-9-]+\.html", page.file) for page in pages)


def test_names_that_are_alike_get_files_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    one = presets.presets()[0]
    named = tuple(replace(one, name=name) for name in ("A | b", "a b", "A, B!", "Index", "×", "…"))
    monkeypatch.setattr(publish, "presets", lambda: named)
    found = [page.file for page in list_pages([one.view, one.view])]
    assert found == [
        "a-b.html", "a-b-2.html", "a-b-3.html", "index-2.html", "x.html", "scene.html",
        "tiled-m-4-n-4-k-4-tile-2.html",
    ]  # fmt: skip


@pytest.mark.usefixtures("_empty_figures")
@pytest.mark.usefixtures("_empty_figures")
def test_what_is_not_tilewises_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tilewise").mkdir()
    for name in ("notes.txt", "other.html", "tilewise/mine.js"):
        (tmp_path / name).write_text(f"my {name}")
    for _ in range(2):  # the second time over its own pages
        assert publish.main([str(tmp_path)]) == 0
    for name in ("notes.txt", "other.html", "tilewise/mine.js"):
        assert (tmp_path / name).read_text() == f"my {name}"
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    for name in ("index.html", "tilewise/plotly.js", "uncoalesced-naive.html",
                 "tilewise/uncoalesced-naive-dark.svg"):  # fmt: skip
        (tmp_path / name).write_text("mine too")
        assert publish.main([str(tmp_path)]) == 2
        said = capsys.readouterr().err.splitlines()[-1]
        assert said.startswith(f"error: {tmp_path / name} is there already and was not made by")
        (tmp_path / name).write_bytes(before[name])
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


@pytest.mark.parametrize(
    ("folder", "view", "said"),
    [
        ("file", "", "is a file; name a folder."),
        ("file/below", "", "cannot be written: Not a directory. Name a folder that can be"),
        ("new", "kernel=nope", "kernel = “nope” is none of"),
        ("new", "M", "M = “” is not a whole number"),
        ("new", "nonsense", "The address of this kernel has no “nonsense”"),
        ("new", "&", "'&' is not a view; write one as kernel=tiled&M=8"),
        ("new", "http://[::1", "'http://[::1' is not a view; write one as kernel=tiled&M=8"),
    ],
)
def test_what_cannot_be_published_is_said_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str, view: str, said: str
) -> None:
    (tmp_path / "file").write_text("mine")
    assert publish.main([str(tmp_path / folder), *([view] if view else [])]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("error: ")
    assert said in printed
    assert files(tmp_path) == {"file"}


def test_a_full_disk_is_said_in_a_sentence_and_leaves_no_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(*_: Any) -> Iterator[str]:
        yield "{"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publish.export, "figure_json", fill)
    assert publish.main([str(tmp_path)]) == 2
    assert "cannot be written: No space left on device." in capsys.readouterr().err
    assert files(tmp_path) == SHARED


def test_control_c_leaves_whole_pages_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, seen = publish.export.figure_json, []

    def draw_until_stopped(figure: Any) -> Iterator[str]:
        seen.append(figure)
        for piece in draw(figure):
            if len(seen) == 6:  # the second page's second figure
                raise KeyboardInterrupt
            yield piece

    monkeypatch.setattr(publish.export, "figure_json", draw_until_stopped)
    assert publish.main([str(tmp_path)]) == 130
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith("Stopped after 1 of 2 pages.")
    page = "4-x-4-in-tiles-of-2-x-2.html"
    assert files(tmp_path) == {*SHARED, page, *pictures({page})}
    read(tmp_path / page)
    seen.clear()
    old = tmp_path / "uncoalesced-naive.html"
    old.write_text(f"<!-- {MADE} --> the last one")
    assert publish.main([str(tmp_path)]) == 130
    assert old.read_text().endswith("the last one")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_control_c_in_a_callback_of_a_library_stops_after_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = publish.run_view

    def run_and_press(view: View) -> publish.Run:
        ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
        return run(view)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(publish, "run_view", run_and_press)
    try:
        assert publish.main([str(tmp_path)]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert "Stopped after 1 of" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has another way to stop a program.")
def test_a_signal_stops_it_with_a_sentence(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ui.publish", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith(f"1 of {len(presets.presets())}: ")
        running.send_signal(signal.SIGINT)
        said = running.stderr.read()
    assert running.returncode == 130
    assert "Stopped after" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert not [name for name in files(tmp_path) if name.endswith(".part")]
    assert "index.html" not in files(tmp_path)


def test_a_kernel_of_ones_own_gets_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "presets", lambda: ())
    text = (
        "template <typename T> __global__ void twice(T* values) { values[threadIdx.x] *= 2; }\n"
        "template __global__ void twice<float>(float*);\n"
    )
    twice = replace(user_kernel(text, "1", "8", array("values", "8")), kernel="twice<float>")
    address = urlencode(to_query(View(user_kernel=twice)))
    assert publish.main([str(tmp_path), address]) == 0
    [page] = list(tmp_path.glob("twice*.html"))
    written = page.read_text(encoding="utf-8")
    assert "User kernel: twice&lt;float&gt;" in written
    assert "twice<float>" not in re.sub(r"(?s)<script.*?</script>", "", written)
    reader = read(page)
    assert reader.figures
    assert b"User kernel: twice&lt;float&gt;" in build_animation(View(user_kernel=twice), Look())
