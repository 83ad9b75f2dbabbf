"""The GPU page's section of the GPU's own clock, with a recording in a temporary folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from gpu import recorded
from gpu.trace import recorded as traces_recorded
from gpu.trace.trace import Level
from tests.gpu.trace.traces import TILED, TRACES
from tests.ui.test_gpu_page import opened, settled
from ui.gpu.trace_section import COUNTS, NUMBERS, PLACES, TABS, WAVES

WHEN = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
LARGER = replace(TILED, size=(2048, 2048, 2048))


def draw() -> None:
    from ui.gpu.trace_section import draw_recorded_traces

    draw_recorded_traces()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of traces instead of the one that comes along."""
    monkeypatch.setattr(traces_recorded, "FOLDER", tmp_path)
    yield tmp_path
    traces_recorded._read_folder.cache_clear()


def section(tab: str = "") -> AppTest:
    app = AppTest.from_function(draw, default_timeout=60)
    if tab:
        app.session_state["traced_tabs"] = tab
    app.run()
    assert not app.exception
    return app


def said(app: AppTest) -> str:
    return "\n".join(str(text.value) for text in (*app.markdown, *app.caption))


def test_without_a_recording_nothing_is_said(folder: Path) -> None:
    app = section()
    assert not [*app.header, *app.markdown, *app.caption, *app.tabs, *app.selectbox]


def test_a_recording_says_its_gpu_size_and_day(folder: Path) -> None:
    device = recorded.recordings().runs[0].device
    statements = replace(TILED, kernel="rows", level=Level.STATEMENTS)
    gone = replace(TILED, kernel="of another day")
    traces_recorded.write([*TRACES, statements, gone], device, folder, WHEN)
    app = section()
    assert [header.value for header in app.header] == ["By the GPU's own clock"]
    assert [tab.label for tab in app.tabs] == list(TABS)
    sentence = said(app)
    assert (
        "**Transposed (TILE 32) compared with padded (TILE 32).** The inner loop takes 9,011 "
        "cycles instead of 2,064: 4.4 times as long. Copying is about the same."
    ) in sentence
    assert f"Recorded on {device.name}, 4 March 2026 at 05:06 UTC, 512 × 512 × 512" in sentence
    assert "a kernel took 1.06 times as long as without them. Every C has the same bits" in sentence
    assert app.selectbox(key="traced_clocked").options == [
        "tiled, TILE 16", "tiled, TILE 32", "transposed, TILE 32", "padded, TILE 32",
    ]  # fmt: skip
    assert app.multiselect[0].value == ["tiled:TILE=32", "transposed:TILE=32", "padded:TILE=32"]
    app.selectbox(key="traced_clocked").select("tiled:TILE=32").run()
    assert "Copying, the inner loop and waiting are about the same." in said(app)
    app.selectbox(key="traced_beside").select("tiled:TILE=32").run()  # the same twice
    assert not app.exception


def test_sizes_and_gpus_are_never_mixed(folder: Path) -> None:
    device = recorded.recordings().runs[0].device
    traces_recorded.write([*TRACES, LARGER], device, folder, WHEN)
    other = replace(device, name="NVIDIA Other 1")
    traces_recorded.write([TILED], other, folder, WHEN.replace(year=2025))
    app = section(PLACES)
    assert app.selectbox(key="traced_size").value == "2,048 × 2,048 × 2,048"
    assert "2,048 × 2,048 × 2,048" in said(app)
    assert "512 × 512" not in said(app)
    app.selectbox(key="traced_on").select("NVIDIA Other 1").run()
    assert not app.exception
    assert "NVIDIA Other 1, 4 March 2025" in said(app)
    assert "512 × 512 × 512" in said(app)


@pytest.mark.parametrize(
    ("tab", "sentence"),
    [
        (PLACES, "A bar is a block, from its start to its end"),
        (WAVES, "counts 1 wave of 264 places, which is 97% full"),
        (COUNTS, "warps of a multiprocessor ask for"),
        (NUMBERS, ""),
    ],
)
def test_each_tab_is_drawn_when_it_is_open(folder: Path, tab: str, sentence: str) -> None:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    traces_recorded.write(TRACES, recorded.recordings().runs[0].device, folder, WHEN)
    app = section(tab)
    assert sentence in said(app)
    if tab == NUMBERS:
        table = app.table[0].value
        assert len(table) == sum(len(trace.phases) for trace in TRACES)
        assert set(table["Traced over plain"]) == {"1.06"}


@pytest.mark.parametrize("bits", ["right", "wrong"])
def test_a_kernel_is_traced_on_the_gpu(
    folder: Path, monkeypatch: pytest.MonkeyPatch, bits: str
) -> None:
    pytest.importorskip("clang.cindex", reason="libclang is not installed")
    monkeypatch.setattr(recorded, "recordings", lambda: recorded.Recordings((), ()))
    monkeypatch.setenv("FAKE_TRACE", bits)
    page = opened(monkeypatch, (sys.executable, "-m", "tests.gpu.fake_worker"))
    page.multiselect(key="compare_kernels").set_value(["tiled"]).run()
    for axis in "MNK":
        page.number_input(key=f"compare_{axis}").set_value(300)
    page.run()
    page.button(key="trace_run").click().run()
    settled(page)
    assert not page.exception
    assert "tiled, TILE 16 by the GPU's own clock, 300 × 300 × 300" in [
        header.value for header in page.subheader
    ]
    sentence = said(page)
    assert "took 1.06 times as long as without" in sentence
    assert ("Every C has the same bits" in sentence) is (bits == "right")
    assert ("do not trust its phases" in sentence) is (bits == "wrong")
    assert "tiled -4.0%" in sentence  # the sum of the phases
    assert any("+++ traced" in code.value for code in page.code)
