"""The scene as a file with its keys, and the counters as a table."""

from __future__ import annotations

import csv
import io
import json
import re
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from playwright.sync_api import Browser, Page

from simulator import Launch, catalogue, compile_kernel, record, simulate
from simulator.observers.counters import FIELDS, IDEAL_FIELDS
from tests.browser import app
from tests.browser.scene import alike
from ui.analysis.scene_model import build_scene_model
from ui.drawing.look import Look
from ui.scene import export, scene
from ui.view.presets import launch, source
from ui.view.view_url import View

FIGURE = "const figure = "
STOPS = {"beat": [1, 3], "inner": [0, 1, 2, 4], "outer": [0, 2], "barrier": [0, 3, 4], "steps": 5}


def table(view: View) -> tuple[list[dict[str, str]], str]:
    """The rows of a view's counters, and the kernel's text."""
    kernel = compile_kernel(source(view), catalogue()[view.kernel].kernel)
    written = export.counters_csv(simulate(kernel, launch(view)), kernel.text)
    return list(csv.DictReader(io.StringIO(written))), kernel.text


@pytest.mark.parametrize(
    "view",
    [View(), View(kernel="transposed", M=9, N=5, K=7), View(edits=("double", "pad")),
     View(kernel="naive", defines=()), View(kernel="warptiles", defines=(
         ("WARPS_DOWN", 1), ("WARPS_ACROSS", 1), ("ROWS", 4), ("COLUMNS", 4), ("DEPTH", 4)))],
)  # fmt: skip
def test_the_table_holds_simulates_counters_by_line(view: View) -> None:
    rows, text = table(view)
    kernel = compile_kernel(source(view), catalogue()[view.kernel].kernel)
    report = simulate(kernel, launch(view))
    *lines, total = rows
    assert lines
    assert [int(row["line"]) for row in lines] == list(report.lines)
    for row in lines:
        counts = report.lines[int(row["line"])]
        assert {name: int(row[name]) for name in (*FIELDS, *IDEAL_FIELDS)} == counts
        assert row["source"] == text.splitlines()[int(row["line"]) - 1]
    assert total["line"] == "total"
    assert {name: int(total[name]) for name in FIELDS} == report.counters
    for name in IDEAL_FIELDS:
        assert int(total[name]) == sum(int(row[name]) for row in lines)


def test_the_table_of_the_smallest_example_is_as_counted_by_hand() -> None:
    rows, _ = table(View(M=4, N=4, K=4, defines=(("TILE", 2),)))
    by_line = {row["source"].strip().partition(" ")[0]: row for row in rows}
    # Four blocks of one warp each, two outer iterations: a load of A and one of B in each. Two
    # rows of four floats fill a sector, so that a tile of 2 x 2 lies in one.
    assert by_line["As[ty][tx]"]["global_load_requests"] == "8"
    assert by_line["As[ty][tx]"]["global_load_sectors"] == "8"
    assert by_line["As[ty][tx]"]["shared_store_requests"] == "8"
    assert by_line["acc"]["shared_load_requests"] == "32"  # of As and Bs, for two k each
    assert by_line["C[row"]["global_store_requests"] == "4"
    assert rows[-1]["global_load_requests"] == "16"


def test_source_with_commas_and_quotes_stays_one_cell() -> None:
    text = '__global__ void k(float* A)\n{\n    A[0, threadIdx.x] = 1.0f; // "one", and\n}\n'
    kernel = compile_kernel(text, "k")
    report = simulate(kernel, Launch((1, 1, 1), (32, 1, 1), {"A": np.zeros(32, np.float32)}))
    written = export.counters_csv(report, kernel.text)
    rows = list(csv.reader(io.StringIO(written)))
    assert {len(row) for row in rows} == {2 + len(FIELDS) + len(IDEAL_FIELDS)}
    assert rows[1][:2] == ["3", '    A[0, threadIdx.x] = 1.0f; // "one", and']
    assert '"    A[0, threadIdx.x] = 1.0f; // ""one"", and"' in written


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ('=HYPERLINK("//host", A1);', '\'=HYPERLINK("//host", A1);'),
        ("+ b[i];", "'+ b[i];"),
        ("    -a[i];", "'    -a[i];"),
        ("@a", "'@a"),
        ("\ta[i] = 1;", "'\ta[i] = 1;"),
        ("    a[i] = -1;", "    a[i] = -1;"),
        ("}", "}"),
    ],
)
def test_a_spreadsheet_computes_no_line_of_a_text(cell: str, written: str) -> None:
    text = f"__global__ void k(float* a) {{\n{cell}\n}}\n"
    counts = dict.fromkeys((*FIELDS, *IDEAL_FIELDS), -1)
    kernel = compile_kernel("__global__ void k(float* a) { a[0] = 1; }", "k")
    report = simulate(kernel, Launch((1, 1, 1), (1, 1, 1), {"a": np.zeros(1, np.float32)}))
    rows = list(
        csv.reader(io.StringIO(export.counters_csv(replace(report, lines={2: counts}), text)))
    )
    assert rows[1] == ["2", written, *["-1"] * len(counts)], "numbers stay numbers"


def five_steps() -> go.Figure:
    """A figure of five frames, each with only what changed, as the scene's."""

    def frame(n: int, traces: dict[int, str], path: str) -> go.Frame:
        return go.Frame(
            name=str(n), traces=list(traces),
            data=[go.Scatter(text=[text]) for text in traces.values()],
            layout={"title": {"text": f"<b>Step {n + 1} of 5</b> · <i>x &lt; y</i>"},
                    "shapes": [{"path": path}],
                    "meta": {"level": 1, "motions": [["light", n, 0, 1, 1, 0, 1]]}},
        )  # fmt: skip

    return go.Figure(
        data=[go.Scatter(x=[1], y=[y], mode="text", text=["start"]) for y in (1, 2)],
        layout={
            "width": 800, "height": 400, "title": {"text": "Step 1 of 5"},
            "paper_bgcolor": "#123456", "font": {"color": "#fedcba"},
            "shapes": [{"type": "path", "path": "M0,0L1,0", "line": {"color": "red"}}],
            "meta": {"timeline": {"left": 100, "right": 700, "top": 360, "bottom": 390}},
        },
        frames=[
            frame(0, {0: "a0", 1: "b0"}, "M0,0L1,0"),
            frame(1, {0: "a1"}, "M0,0L1,1"),
            frame(2, {1: "b2"}, "M0,0L1,2"),
            frame(3, {0: "a3", 1: "</script><b>b3"}, "M0,0L1,3"),
            frame(4, {0: "a4"}, "M0,0L1,4"),
        ],
    )  # fmt: skip


def frames_of(content: str) -> list[tuple[Any, ...]]:
    """Each frame of a file, valid JSON: name, title, changed texts, shapes, motions, level."""
    assert content.count(FIGURE) == 1
    figure, end = json.JSONDecoder().raw_decode(content, content.index(FIGURE) + len(FIGURE))
    assert content[end:].startswith(";")
    packed, shown, frames = figure["frames"], {}, []
    for name, title, texts, shapes, motions, level in packed["steps"]:
        shown |= dict(zip(shapes[::2], shapes[1::2], strict=True))
        frames.append((
            name, title,
            {t: packed["texts"][n] for t, n in zip(texts[::2], texts[1::2], strict=True)},
            [packed["shapes"][shown[i]] for i in range(len(shown))], motions, level,
        ))  # fmt: skip
    return frames


def test_a_file_is_written_frame_by_frame_and_holds_them_all() -> None:
    view = View(M=4, N=4, K=4, defines=(("TILE", 2),))
    recording = record(compile_kernel(source(view), "tiled"), launch(view))
    drawing = scene.arrange(build_scene_model(recording, 0), Look())
    whole, stops = scene.Scene(drawing.plain()), scene.navigation(recording)
    content = "".join(export.html(whole, stops, "Tiled"))
    assert frames_of(content) == [
        (
            frame["name"], frame["layout"]["title"]["text"],
            {t: data["text"] for t, data in zip(frame["traces"], frame["data"], strict=True)},
            frame["layout"]["shapes"], frame["layout"]["meta"]["motions"],
            frame["layout"]["meta"]["level"],
        )
        for frame in whole.to_dict()["frames"]
    ]  # fmt: skip
    assert content == "".join(export.html(drawing.streamed(), stops, "Tiled"))
    assert content.count("<script>") == content.count("</script>")
    assert not re.search(r"<script[^>]+src=", content), "the file needs nothing beside it"


def test_a_long_recording_never_stands_in_memory_as_a_whole() -> None:
    """The frames of 200 MB of text take the memory of the library and of each text once."""
    letters, count = 1_000_000, 200
    figure = scene.Scene(five_steps().to_dict())
    figure._frames = (
        {
            "name": str(i),
            "data": [{"text": [chr(97 + i % 9) * letters]}],
            "traces": [0],
            "layout": {
                "title": {"text": "Long"},
                "shapes": [],
                "meta": {"level": 1, "motions": []},
            },
        }
        for i in range(count)
    )
    tracemalloc.start()
    try:
        size = sum(len(piece) for piece in export.html(figure, STOPS, "Long"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 9 * letters < size < 2 * 9 * letters
    assert peak < 100 * 2**20


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    """A page in the browser; nothing it opens may ask for anything else or write an error."""
    errors: list[str] = []
    opened = chromium.new_page(viewport={"width": 1280, "height": 720})
    opened.set_default_timeout(app.PATIENCE)
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda asked: None if asked.url.startswith(("file:", "data:", "blob:"))
              else errors.append(asked.url))  # fmt: skip
    yield opened
    opened.close()
    assert errors == []


def opened(page: Page, folder: Path, content: str) -> Page:
    file = folder / "scene.html"
    file.write_text(content, encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".plot[data-ready]")
    return page


def state(page: Page) -> tuple[str, list[str], str, str]:
    """The drawn title, the drawn texts, the drawn shape, and what a screen reader gets."""
    return (
        page.locator(".gtitle").text_content() or "",
        page.locator(".textpoint").all_text_contents(),
        page.evaluate("document.querySelector('.plot').layout.shapes[0].path"),
        page.locator(".live").text_content() or "",
    )


@pytest.mark.browser
def test_each_step_is_right_from_any_other(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, "".join(export.html(five_steps(), STOPS, "Five </title> steps")))
    assert page.title() == "Five </title> steps"
    texts = [["a0", "b0"], ["a1", "b0"], ["a1", "b2"], ["a3", "</script>b3"], ["a4", "</script>b3"]]
    for key, step in (
        ("", 1), ("ArrowDown", 2), ("ArrowDown", 3), ("ArrowDown", 4), ("ArrowDown", 5),
        ("ArrowDown", 5), ("ArrowUp", 4), ("Home", 1), ("ArrowUp", 1), ("End", 5),
        ("PageUp", 4), ("PageUp", 2), ("PageUp", 1), ("PageDown", 2), ("PageDown", 4), ("B", 5),
        ("ArrowLeft", 4), ("ArrowLeft", 2), ("ArrowUp", 1), ("ArrowRight", 2), ("ArrowDown", 3),
        ("ArrowRight", 4), ("ArrowRight", 5), ("Home", 1), ("b", 4), ("Home", 1),
        ("Shift+ArrowRight", 2), ("Shift+ArrowRight", 3), ("Shift+ArrowRight", 5),
        ("Shift+ArrowLeft", 3), ("Control+ArrowRight", 3), ("x", 3),
        ("4", 3), ("Enter", 4), ("Enter", 4), ("2", 4), ("x", 4), ("Enter", 4),
    ):  # fmt: skip
        if key:
            page.keyboard.press(key)
        title, shown, path, sentence = state(page)
        assert title.startswith(f"Step {step} of 5"), key
        assert sorted(shown) == sorted(texts[step - 1]), key
        assert path == f"M0,0L1,{step - 1}", key
        assert sentence == f"Step {step} of 5 · x < y", key


@pytest.mark.browser
def test_buttons_slider_and_space_do_the_same(page: Page, tmp_path: Path) -> None:
    opened(page, tmp_path, "".join(export.html(five_steps(), STOPS, "Five steps")))
    for name, step in (
        ("Last step", 5), ("Beat back", 4), ("Statement back", 3), ("First step", 1),
        ("Statement forward", 2), ("Beat forward", 4),
    ):  # fmt: skip
        page.get_by_role("button", name=name).click()
        assert state(page)[0].startswith(f"Step {step} of 5")
    box = page.get_by_role("slider", name="Step").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 1, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 5)
    assert state(page)[0].startswith("Step 3 of 5")
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 5)
    page.mouse.up()
    assert state(page)[1] == ["a3", "</script>b3"]
    page.keyboard.press("Home")
    page.get_by_label("Beats a second").select_option("10")
    page.keyboard.press(" ")
    page.wait_for_function("/^Step [345]/.test(document.querySelector('.live').textContent)")
    page.keyboard.press(" ")
    assert page.locator(".slider-container").count() == 0  # one slider, not two
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 52, 86)"


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.deep)])
def test_the_scene_itself_steps_forward_and_back(page: Page, tmp_path: Path, theme: str) -> None:
    view = View(M=4, N=4, K=4, defines=(("TILE", 2),))
    recording = record(compile_kernel(source(view), "tiled"), launch(view))
    figure = scene.arrange(build_scene_model(recording, 0), Look(theme)).streamed()
    content = "".join(export.html(figure, scene.navigation(recording), "Tiled"))
    opened(page, tmp_path, content)
    first = state(page)
    assert first[0].startswith("Step 1 of")
    picture = page.locator(".stage").screenshot()
    page.keyboard.press("ArrowDown")
    assert state(page)[0].startswith("Step 2 of")
    page.keyboard.press("ArrowUp")
    assert state(page) == first
    for _ in range(9):
        page.keyboard.press("ArrowDown")
    there = state(page)
    assert not alike(page.locator(".stage").screenshot(), picture)
    page.keyboard.press("PageDown")
    page.keyboard.press("End")
    for _ in range(len(recording.steps) - 10):
        page.keyboard.press("ArrowUp")
    assert state(page) == there
    page.keyboard.press("Home")
    assert state(page) == first
    assert alike(page.locator(".stage").screenshot(), picture)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
