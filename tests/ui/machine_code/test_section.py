"""What the compiler made of a kernel, on the Step and Write pages of a machine without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from compiler.recorded import recorded
from simulator.catalogue import catalogue
from tests.simulator.test_verdict import user_kernel_of
from tests.ui.apps import checked, control
from tests.ui.test_user_kernel_step_page import opened
from tests.ui.test_write_page import linked
from tests.ui.test_write_page import opened as opened_write
from tests.ui.user_kernels import SAXPY
from ui.gpu_charts.residency import describe, draw_residency
from ui.machine_code.compiled import find_both, find_compared, find_compiled
from ui.machine_code.section import TITLE, brief_html, line_html
from ui.run.compute import figure_key, find_line, load_recording, recording_key
from ui.user_kernel.judged import judge_user_kernel
from ui.view.view_url import View, opening_view, parse_view, to_query

pytestmark = pytest.mark.usefixtures("_no_toolchain")
TILED = opening_view("tiled")


def html(app: AppTest) -> str:
    return "\n".join(str(one.proto.body) for one in app.get("html"))


def line_of(text: str, begins: str) -> int:
    return next(
        number for number, line in enumerate(text.split("\n"), 1) if line.strip().startswith(begins)
    )


def shown(app: AppTest) -> AppTest:
    """The page with the section switched on."""
    return control(app.toggle, f"{TITLE}, below the scene").set_value(True).run()  # type: ignore[no-any-return]


def test_the_section_has_the_line_that_the_step_is_at_for_each_recorded_card() -> None:
    line = line_of(catalogue()["tiled"].source(), "acc +=")
    steps = load_recording(recording_key(TILED)).steps
    at = next(one.number for one in steps if one.line == line)
    assert find_line(replace(figure_key(TILED), step=at)) == line
    app = opened(to_query(replace(TILED, step=at)))
    assert TITLE not in [one.value for one in app.subheader]
    app = shown(app)
    assert not app.exception
    assert TITLE in [one.value for one in app.subheader]
    assert f"<b>Line {line}</b> <code>acc += As" in html(app)
    assert "<code>FFMA</code>" in html(app)
    card = control(app.selectbox, "Card")
    assert card.options == ["A100 (sm_80)", "H100, H200 (sm_90)", "RTX 50 (sm_120)"]
    assert "H100, H200: " in html(app)
    app = card.set_value("sm_120").run()
    assert "RTX 50: " in html(app)
    assert "H100, H200: " not in html(app)


def test_without_the_compiler_others_are_a_sentence_that_says_what_brings_it() -> None:
    app = shown(opened(to_query(View(user_kernel=SAXPY))))
    assert not app.exception
    [said] = app.info
    assert "requirements-compiler.txt" in said.value
    assert "Card" not in [one.label for one in app.selectbox]


def test_the_occupancy_is_that_of_the_launch() -> None:
    small, large = (
        find_compiled(recording_key(replace(TILED, defines=(("TILE", tile),))), "sm_90").facts[1]
        for tile in (2, 16)
    )
    assert "blocks of 4 threads" in small
    assert "limited by blocks" in small
    assert "blocks of 256 threads" in large


def beside_control(app: AppTest, place: str = "machine_code") -> Any:
    """The choice of what is beside the machine code: below the scene, or under Beside."""
    [found] = [one for one in app.selectbox if str(one.key).startswith(f"{place}_beside_")]
    return found


def test_two_builds_stand_beside_each_other() -> None:
    """A choice below the scene: what is asked, the figures, the line's both builds, the others."""
    line = line_of(catalogue()["tiled"].source(), "acc +=")
    steps = load_recording(recording_key(TILED)).steps
    at = next(one.number for one in steps if one.line == line)
    app = shown(opened(to_query(replace(TILED, step=at))))
    beside = beside_control(app)
    assert "Innermost loops with #pragma unroll 1" in beside.options
    assert "RTX 50 (sm_120)" in beside.options
    app = beside.set_value("unroll-1").run()
    assert not app.exception
    said = html(app)
    assert "Each innermost loop stays a loop" in said
    assert f"<b>Line {line}</b>" in said
    assert f"<b>Line {line + 1}</b>" in said
    assert "Unrolled: " in said
    assert [one.label for one in app.expander if "have other instructions" in one.label]
    assert beside_control(app).value == "unroll-1"
    app = beside_control(app).set_value("sm_120").run()
    assert "The same code for another GPU" in html(app)


def test_the_kernels_of_two_scenes_are_compared() -> None:
    app = shown(opened(to_query(parse_view({"kernel": "naive", "with": "tiled"}))))
    app = beside_control(app).set_value("second").run()
    assert not app.exception
    said = html(app)
    assert "<p class='head'>naive</p><p class='head'>tiled</p>" in said
    assert "Lines that are the same or alike are beside each other." in said
    assert "No such line." in said
    naive, tiled = (opening_view(name) for name in ("naive", "tiled"))
    found = find_both(recording_key(naive), recording_key(tiled), "sm_90")
    for side, view in (("first", naive), ("second", tiled)):
        alone = find_compiled(recording_key(view), "sm_90").lines
        assert [getattr(one, side) for one in found.pairs if getattr(one, side)] == list(alone)


def test_a_choice_of_what_stands_beside_opens_the_section() -> None:
    app = opened(to_query(TILED))
    assert TITLE not in [one.value for one in app.subheader]
    app = beside_control(app, "popover").set_value("volatile").run()
    assert not app.exception
    assert TITLE in [one.value for one in app.subheader]
    assert "Every read and write of shared memory stays" in html(app)


def test_lines_that_differ_are_marked() -> None:
    compared = find_compared(recording_key(TILED), "sm_90", "unroll-1")
    changed = [one for one in compared.pairs if one.is_changed]
    assert changed
    assert len(changed) < len(compared.pairs)
    for one in compared.pairs:
        assert one.first is None or one.second is None or one.first.source == one.second.source
    restricted = find_compared(recording_key(TILED), "sm_90", "restrict").pairs
    before = {row.opcode for one in restricted if one.first for row in one.first.opcodes}
    after = {row.opcode for one in restricted if one.second for row in one.second.opcodes}
    assert "LDG.E.CONSTANT" in after - before
    assert find_compared(recording_key(TILED), "sm_90", "nothing").problem


def test_a_multiprocessor_is_drawn_with_the_blocks_that_fit() -> None:
    found = find_compiled(recording_key(replace(TILED, defines=(("TILE", 16),))), "sm_90").occupancy
    assert found is not None
    boxes = [bar for bar in draw_residency(found).data if bar.type == "bar"]
    assert sum(len(bar.x) for bar in boxes) == found.blocks * 4
    full = max(begin + share for bar in boxes for begin, share in zip(bar.base, bar.x, strict=True))
    assert full == 100
    assert "places for warps: 64 of 64: no more fit" in describe(found)


def test_the_verdict_knows_the_registers_of_what_was_recorded() -> None:
    text = catalogue()["tiled"].source(TILE=16)
    found = judge_user_kernel(user_kernel_of(text)).occupancy
    assert found is not None
    assert found.registers == 32
    assert "with 32 registers a thread" in found.sentence


def test_a_band_has_the_registers_that_are_live_at_a_line() -> None:
    code = recorded(catalogue()["tiled"].source(), "sm_90")
    assert code is not None
    live = code.live_registers()
    assert live is not None
    lines = find_compiled(recording_key(replace(TILED, defines=(("TILE", 16),))), "sm_90").lines
    for rows in lines:
        held = {first + number for first, count in rows.live for number in range(count)}
        assert held == live.get(rows.line or 0, set())
        assert len(held) >= (rows.registers or 0)
        assert (f"aria-label='{len(held)} of 32 registers'" in brief_html(rows)) is bool(held)


def test_code_is_shown_as_it_is() -> None:
    compiled = find_compiled(recording_key(TILED), "sm_90")
    line = next(one for one in compiled.lines if one.opcodes)
    assert "<script>" not in line_html(replace(line, source="<script>"))


def test_the_write_page_has_the_section_once_a_kernel_is_checked() -> None:
    text = catalogue()["naive"].source()
    page = opened_write(own=linked(text, "naive"))
    assert TITLE not in [one.label for one in page.expander]
    control(page.button, "Check").click()
    page = checked(page.run())
    assert TITLE in [one.label for one in page.expander]
    page.session_state["write_machine_code"] = True
    page = checked(page.run())
    assert "naive for sm_90 by NVRTC" in html(page)
    assert "<code>acc += A" in html(page)
