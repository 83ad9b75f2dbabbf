"""Any user kernel steps like the catalogue's: every step draws, and every cell is found."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simulator import LaunchError, narrate
from simulator.language.tree import MemorySpace
from simulator.machine.observer import AccessKind
from simulator.number_format import format_short
from tests.ui.user_kernels import (
    OTHERS,
    PRODUCTS,
    SAXPY,
    STRUCTS,
    TILED_PRODUCT,
    USER_KERNELS,
    array,
    user_kernel,
)
from ui.analysis.loads import global_loads
from ui.drawing.hit import GLOBAL, SHARED
from ui.drawing.look import Look, Stage
from ui.drawing.palette import PALETTES
from ui.lecture.arrays import ArrayName, ArrayReader
from ui.lecture.arrays_panel import ArraysPanel
from ui.lecture.lecture_sheet import LectureSheet, OnStage
from ui.lecture.threads_stage import ThreadsStage
from ui.run.compute import load_drawing, load_recording, load_report, open_view
from ui.run.follow_click import follow_click
from ui.scene.scene import Drawing
from ui.view.view_url import View

BODY = np.dtype([("mass", "f8"), ("x", "f4"), ("y", "f4"), ("hits", "i4")], align=True)
MOST = 60  # steps of a recording that are drawn
LOOKS = {
    "lecture": Look(),
    "phone": Look(width=374, height=700),
    "wall": Look(width=1920, height=1080, presenting=True),
}


def drawing(name: str, look: Look = LOOKS["lecture"], thread: int = 0) -> Drawing[Any]:
    """The scene of a kernel of the table."""
    return load_drawing(View(user_kernel=USER_KERNELS[name], thread=(thread, 0)), look)


def spread(drawn: Drawing[Any]) -> range:
    """The numbers of at most MOST steps, the first and the last among them."""
    count = len(drawn.steps)
    return range(0, count, max(1, count // MOST))


def arrays_panel(drawn: Drawing[Any]) -> ArraysPanel:
    """The lecture's panel of arrays."""
    sheet = drawn.sheet
    assert isinstance(sheet, LectureSheet)
    stages = [panel.panel for panel in sheet.panels if isinstance(panel, OnStage)]
    return next(panel for panel in stages if isinstance(panel, ArraysPanel))


@pytest.mark.sample(25)
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", USER_KERNELS)
def test_every_step_draws_alike(name: str, look: str) -> None:
    drawn = drawing(name, LOOKS[look])
    assert drawn.steps
    counts = set()
    for number in spread(drawn):
        step = drawn.steps[number]
        counts.add((len(drawn.changing(step)), len(drawn.shapes(step))))
        texts = [text for trace in drawn.changing(step) for text in trace["text"]]
        assert all(isinstance(text, str) and text for text in texts)
        drawn.sheet.motions(step)
        for x, y in ((0.3, 0.3), (0.6, 0.5), (0.8, 0.7), (0.7, 0.2)):
            drawn.hit(number, x * drawn.sheet.size[0], y * drawn.sheet.size[1])
    assert len(counts) == 1, "a frame has the same traces and shapes at each step"


@pytest.mark.sample(4)
@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("name", ["reduction", "structs", "a tiled product", "printf"])
def test_every_stage_can_be_pinned(name: str, stage: Stage) -> None:
    drawn = drawing(name, Look(stage=stage))
    for number in spread(drawn):
        assert drawn.changing(drawn.steps[number])
        assert drawn.stage_at(number) is stage


def words_of(drawn: Drawing[Any]) -> set[str]:
    """Every word that the scene says at some step, in its title or beside its cells."""
    found: set[str] = set()
    for step in drawn.steps:
        texts = [text for trace in drawn.changing(step) for text in trace["text"]]
        texts += [text for trace in drawn.static() for text in trace.get("text", ())]
        for text in [*texts, drawn.sheet.title(step)]:
            found |= set(re.findall(r"\b[A-Za-z]\w*", re.sub(r"<[^>]*>", "", text)))
    return found


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", USER_KERNELS)
def test_no_name_of_another_kernel_is_left_over(name: str) -> None:
    kernel = USER_KERNELS[name]
    words = words_of(drawing(name))
    mine = set(re.findall(r"\w+", kernel.text))
    foreign = {"A", "B", "C", "As", "Bs", "M", "N", "K", "tiled", "TILE"} - mine
    assert not words & foreign
    given = {argument.name for argument in kernel.form.arguments[:1]}
    assert given <= words


def test_it_says_what_the_focused_thread_has_loaded() -> None:
    drawn = drawing("reduction")
    model = drawn.sheet._model
    loads = global_loads(model, model.thread)
    assert loads[-1]
    for step in drawn.steps:
        texts = [text for trace in drawn.changing(step) for text in trace["text"]]
        assert f"This thread's loads: <b>{loads[step.number]}</b> of {loads[-1]}" in texts


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.sample(3)
def test_a_click_on_a_number_finds_the_cell_that_holds_it(name: str) -> None:
    drawn = drawing(name)
    panel = arrays_panel(drawn)
    found = 0
    for number in [*spread(drawn)][::6]:
        step = drawn.steps[number]
        for window, content in panel.windows(step):
            assert content is not None
            for x, y, text in zip(
                *(window.changing(content)[0][key] for key in ("x", "y", "text")), strict=True
            ):
                hit = panel.hit(step, x, y)
                if hit is None:
                    assert text == "\u00a0"
                    continue
                name_ = hit.name.removeprefix(GLOBAL).removeprefix(SHARED)
                held = step.shared if hit.name.startswith(SHARED) else step.outputs
                values = held.get(
                    name_, load_recording(View(user_kernel=USER_KERNELS[name])).arguments.get(name_)
                )
                value = (
                    body(values, hit.index) if name == "structs" else np.ravel(values)[hit.index]
                )
                found += text == format_short(value)
                assert text in ("\u00a0", format_short(value))
    assert found or name == "printf"


def body(cells: Any, number: int) -> Any:
    """The number of a Body that begins at a cell of four bytes."""
    bodies = np.ascontiguousarray(cells).view(BODY).reshape(-1)
    struct, cell = divmod(number, BODY.itemsize // 4)
    fields = {offset: name for name, (_, offset) in (BODY.fields or {}).items()}
    return bodies[struct][fields[4 * cell]]


@pytest.mark.parametrize("name", ["saxpy", "structs", "short vectors", "histogram"])
def test_what_a_step_touches_is_marked(name: str) -> None:
    drawn = drawing(name, thread=3)
    panel = arrays_panel(drawn)
    for number in spread(drawn):
        step = drawn.steps[number]
        touched = {
            (access.name, cell)
            for access in step.accesses if access.space in ("global", "shared")
            for cell in panel._reader.touched(access)[0].tolist()
        }  # fmt: skip
        marked = {
            (content.array.name, cell)
            for _, content in panel.windows(step) if content is not None
            for cell in np.flatnonzero(content.touched).tolist()
        }  # fmt: skip
        assert marked == touched


def test_a_struct_is_a_row_and_its_members_are_columns() -> None:
    panel = arrays_panel(drawing("structs"))
    [place] = panel._places
    assert (place.shape, place.members) == ((20, 4), ("mass", "x", "y", "hits"))
    step = drawing("structs").steps[-1]
    stores = [a for s in drawing("structs").steps for a in s.accesses if a.kind is AccessKind.STORE]
    masses = [a for a in stores if a.name == "bodies" and a.width == 8]
    cells, threads = masses[0].touched_cells()
    assert cells[threads == 2].tolist() == [12, 13]  # of 24 bytes each, in cells of 4
    touched, threads = panel._reader.touched(masses[0])
    assert set(touched[threads == 2].tolist()) == {8}
    hit = panel.hit(step, place.cells.left + 1, place.cells.top + place.cells.height + 1)
    assert hit is not None
    assert hit.index == 6


def test_arrays_of_bfloat16_show_their_numbers() -> None:
    drawn = drawing("bfloat16")
    model = drawn.sheet._model  # type: ignore[attr-defined]
    reader = ArrayReader(model)
    step = next(step for step in drawn.steps if step.shared and step.written["Bs"].all())
    A, As = ArrayName("A", MemorySpace.GLOBAL), ArrayName("As", MemorySpace.SHARED)
    bits = model.recording.arguments["A"].astype(np.uint32) << 16
    given = bits.view(np.float32)
    assert set(given.reshape(-1).tolist()) <= set(range(10))
    assert reader.values(step, A).tolist() == given.reshape(-1).tolist()
    assert (reader.members(As), reader.shape(As)) == (None, (4, 4))
    assert reader.texts(step, As) == [f"{value:.0f}" for value in given[:4, :4].reshape(-1)]
    assert {line for step in drawn.steps if (line := step.statement.span.line)} <= set(range(4, 16))


def test_the_tile_of_a_product_follows_from_what_it_does() -> None:
    drawn = load_drawing(View(user_kernel=TILED_PRODUCT, block=(1, 1)), Look())
    model = drawn.sheet._model  # type: ignore[attr-defined]
    assert model.tile == (4, 4, 4)
    assert model.tiles_of_k is not None
    assert (model.tiles_of_k.depth, model.tile_count) == (4, 3)
    assert model.shapes == {"x": (10, 10), "weights": (10, 10), "y": (10, 10)}
    corner = load_drawing(View(user_kernel=TILED_PRODUCT, block=(2, 2)), Look()).sheet
    assert corner._model.tile == (4, 4, 4)  # type: ignore[attr-defined]  # it stores 2 x 2


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_is_drawn_as_matrices(name: str) -> None:
    drawn = drawing(name)
    model = drawn.sheet._model  # type: ignore[attr-defined]
    roles = dict(USER_KERNELS[name].form.roles)
    assert model.product.names == (roles["A"], roles["B"], roles["C"])
    assert Stage.PRODUCT in {drawn.stage_at(number) for number in spread(drawn)}


def test_arrays_that_cannot_be_multiplied_are_drawn_as_they_are() -> None:
    text = TILED_PRODUCT.text
    odd = user_kernel(
        text, "1,1", "T * T", array("x", "400"), array("weights", "400"), array("y", "400"),
        ("n", "10"), roles="A=x B=weights C=y M=n N=n K=n",
    )  # fmt: skip
    sheet = load_drawing(View(user_kernel=odd), Look()).sheet
    assert sheet._model.product is None  # type: ignore[attr-defined]


def test_clicks_move_the_focus_and_the_step() -> None:
    view, look = View(user_kernel=SAXPY, step=2), Look()
    drawn = load_drawing(view, look)
    panel = arrays_panel(drawn)
    place = next(one for one in panel._places if one.array.name == "x")
    x, y = place.cells.centres()[17]
    number = next(step.number for step in drawn.steps if drawn.stage_at(step.number) is Stage.STORE)
    clicked = follow_click(View(user_kernel=SAXPY, step=number), look, x, y)
    assert clicked.thread == (17, 0)
    step = drawn.steps[clicked.step]
    assert any(access.name == "x" for access in step.accesses)


def test_an_element_that_is_no_part_of_its_array_stands_beside_its_name() -> None:
    drawn = load_drawing(
        View(user_kernel=USER_KERNELS["outside"], block=(1, 0), thread=(20, 0)), Look()
    )
    panel = arrays_panel(drawn)
    names = panel.changing(drawn.steps[-1])[1]["text"]
    assert names[0] == "<b>⚠ x</b>[52] is outside: it has 50"


def test_a_click_focuses_a_thread_of_any_plane() -> None:
    look = Look(stage=Stage.THREADS)
    drawn = load_drawing(View(user_kernel=USER_KERNELS["three loops"]), look)
    assert isinstance(drawn.sheet, LectureSheet)
    stages = [panel.panel for panel in drawn.sheet.panels if isinstance(panel, OnStage)]
    threads = next(panel for panel in stages if isinstance(panel, ThreadsStage))
    x, y = threads.rows.cells.centres()[19]  # of 4 x 3 x 2 threads, in one row
    assert follow_click(View(user_kernel=USER_KERNELS["three loops"]), look, x, y).thread_index == (
        3,
        1,
        1,
    )


def test_a_block_and_a_thread_beyond_the_launch_are_the_nearest() -> None:
    view = View(user_kernel=SAXPY, block=(9, 9), thread=(900, 9))
    opened = open_view(view)
    assert opened.grid == (2, 1, 1)
    assert load_drawing(view, Look()).steps[0].active.size == 32


def test_hazards_of_ones_own_are_marked() -> None:
    report = load_report(View(user_kernel=USER_KERNELS["race"]))
    assert report.hazards
    drawn = drawing("race")
    titles = [drawn.sheet.title(step) for step in drawn.steps]
    assert any("⚠" in title for title in titles)


def test_arrays_that_are_too_large_are_refused_in_a_sentence() -> None:
    large = user_kernel(
        SAXPY.text, "1", "32", ("n", "50000"), ("a", "1"), array("x", "n"), array("y", "n")
    )
    with pytest.raises(LaunchError, match=r"x has 50,000 numbers.*smaller sizes"):
        open_view(View(user_kernel=large))
    form = STRUCTS.form
    bodies = replace(form, arguments=(array("bodies", "4000"), *form.arguments[1:]))
    device = user_kernel(
        "__device__ int big[20000];\n__global__ void fill() { big[threadIdx.x] = 1; }\n", "1", "32"
    )
    with pytest.raises(LaunchError, match="big has 20,000 numbers"):
        open_view(View(user_kernel=device))
    with pytest.raises(LaunchError, match="bodies has 24,000 numbers"):
        open_view(View(user_kernel=replace(STRUCTS, form=bodies)))


def test_a_flat_shared_array_is_drawn_as_the_tile_that_it_holds() -> None:
    sheet = load_drawing(View(user_kernel=TILED_PRODUCT), Look()).sheet
    shapes = sheet._model.shared_shapes  # type: ignore[attr-defined]
    assert shapes == {"xs": (4, 4), "ws": (4, 4)}
    turned = TILED_PRODUCT.text.replace("xs[T * T]", "xs[T * (T + 1)]")
    turned = turned.replace("xs[ty * T + tx]", "xs[tx * (T + 1) + ty]")
    turned = turned.replace("xs[ty * T + k]", "xs[k * (T + 1) + ty]")
    assert turned.count("(T + 1)") == 3
    padded = load_drawing(View(user_kernel=replace(TILED_PRODUCT, text=turned)), Look()).sheet
    assert padded._model.shared_shapes["xs"] == (4, 5)  # type: ignore[attr-defined]
    other = load_drawing(View(user_kernel=USER_KERNELS["reduction"]), Look()).sheet
    assert other._model.shared_shapes == {"partial": (64,)}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("saxpy", 3, "computes y[3] = 2.5 × {x[3]} + {y[3]} = {out}."),
        ("reduction", 8, "computes partial[3] = {partial[3]} + {partial[35]} = {out}."),
        ("histogram", 6, "updates counts[4] with atomicAdd: it held 0."),
        ("structs", 8, "computes bodies[3].hits = 1 + 1 = 2."),
        ("short vectors", 4, "reads left[3] = (0, 1, 9, 5) from global memory into a."),
    ],
)
def test_a_line_is_told_with_its_own_numbers(name: str, line: int, said: str) -> None:
    recording = load_recording(View(user_kernel=USER_KERNELS[name]))
    step = next(
        step for step in recording.steps if step.line == line and step.active[3] and step.accesses
    )
    values = {
        f"{access.name}[{int(access.offsets[3]) // access.cell_bytes}]": access.values[3]
        for access in step.accesses if access.kind is AccessKind.LOAD
    }  # fmt: skip
    stored = [access.values[3] for access in step.accesses if access.kind is AccessKind.STORE]
    for cell, value in {**values, "out": stored[-1] if stored else 0}.items():
        said = said.replace(f"{{{cell}}}", format_short(np.ravel(value)[0]))
    assert narrate.spoken(recording, step, 3)[0] == said


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize(
    ("name", "line", "array_", "cells"),
    [("a hasty histogram", 3, "bins", range(5)), ("a hasty product", 3, "R", range(16))],
)
def test_cells_of_global_memory_that_race_are_marked(
    name: str, line: int, array_: str, cells: range, look: str
) -> None:
    drawn, marked = drawing(name, LOOKS[look]), set()
    dotted = {"color": PALETTES["light"].focus, "width": 3, "dash": "dot"}
    for step in drawn.steps:
        corners = [
            corner for shape in drawn.shapes(step) if shape["line"] == dotted
            for corner in re.findall(r"M([\d.]+),([\d.]+)[HL]", shape["path"])
        ]  # fmt: skip
        assert bool(corners) == (step.line == line and bool(step.accesses))
        for x, y in corners:
            hit = drawn.hit(step.number, float(x) + 2, float(y) + 2)
            assert hit is not None
            assert hit.name == GLOBAL + array_
            marked.add(hit.index)
    assert marked == set(cells)


def test_the_sentence_warns_of_an_access_to_global_memory_that_nothing_orders() -> None:
    values_of = {
        thread: [
            text for step in drawn.steps if step.line == 3
            for trace in drawn.changing(step) if "⚠" in (text := " ".join(trace["text"]))
        ]
        for thread in (0, 3) for drawn in [drawing("a hasty histogram", thread=thread)]
    }  # fmt: skip
    assert any("bins[" in text for text in values_of[0])  # the hazard's own example
    assert any("no barrier orders the accesses to bins" in text for text in values_of[3])
