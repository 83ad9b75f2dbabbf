"""The two places of the canvas: loads, what crosses between them, and who shares a cell."""

from __future__ import annotations

import html
import itertools
import re
from typing import Any

import numpy as np
import pytest

from gpu.recorded import newest
from simulator.language.tree import MemorySpace
from simulator.launch import WARP_SIZE
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from simulator.recording.requests import requests
from tests.ui.lecture.lectures import Lecture, of_query, seen, spread
from ui.analysis.loads import global_loads, naive_loads
from ui.drawing.canvas import SPACE, Shape
from ui.drawing.look import Look, Stage
from ui.drawing.motions import Flight
from ui.drawing.palette import LIGHT
from ui.lecture.board import sums_of_threads
from ui.lecture.crossings import CrossingsPanel
from ui.lecture.global_memory import GlobalMemoryPanel
from ui.lecture.places import PlacesPanel
from ui.lecture.product_stage import ProductStage
from ui.lecture.source_window import SourceWindow
from ui.lecture.warp_rows import WarpRows

QUERIES: list[dict[str, Any]] = [
    {"kernel": "tiled", "M": 8, "N": 8, "K": 8, "TILE": 4},
    {"kernel": "tiled", "M": 5, "N": 7, "K": 6, "TILE": 4, "bx": 1, "by": 1},
    {"kernel": "naive", "M": 8, "N": 8, "K": 8},
    {"kernel": "uncoalesced", "M": 8, "N": 8, "K": 4},
    {"kernel": "tiled", "M": 8, "N": 8, "K": 8, "TILE": 4, "edits": "first-barrier"},
]
EACH_QUERY = pytest.mark.parametrize(
    "query", QUERIES, ids=lambda query: "-".join(map(str, query.values()))
)


def arrows(shape: Shape) -> int:
    """The arrows of a path: each is a curve and a head of two lines."""
    path = shape["path"]
    return path.count("C") if path != "M0,0Z" else 0


def of_warp(lecture: Lecture, access: StepAccess) -> list[tuple[int, int]]:
    """The cells that the focused thread's warp accesses, with the thread of each."""
    cells, threads = access.touched_cells()
    warp = lecture.model.thread // WARP_SIZE
    return sorted(
        (cell, thread) for cell, thread in zip(cells.tolist(), threads.tolist(), strict=True)
        if thread // WARP_SIZE == warp
    )  # fmt: skip


@EACH_QUERY
def test_the_bars_are_as_long_as_what_the_block_has_loaded(query: dict[str, Any]) -> None:
    lecture = of_query(**query)
    panel, loads, naive = (
        lecture.panel(PlacesPanel), global_loads(lecture.model), naive_loads(lecture.model)
    )  # fmt: skip
    assert naive is not None
    name = lecture.recording.kernel.name
    longest = max(loads[-1], naive[-1])
    widths = set()
    for step in spread(lecture.steps, 12):
        texts = [text for text in panel.changing(step)[0]["text"] if text != SPACE]
        expected = [f"{name} loads {loads[step.number]:,}"]
        if name != "naive":
            expected.insert(0, f"naive loads {naive[step.number]:,}")
        assert texts in (
            expected,
            [text.replace(" loads", "") for text in expected],
            [expected[0].replace(" loads", ""), *expected[1:]],
        )  # as there is room
        for shape, count in zip(
            panel.shapes(step)[3:5], (naive[step.number], loads[step.number]), strict=True
        ):
            for left, _, right, _ in seen(shape):
                if count:
                    widths.add(round((right - left) * longest / count))
    assert max(widths) - min(widths) <= 0.02 * max(widths) + 2, "one scale for both bars"


def test_what_a_value_costs_is_what_a_gpu_measured() -> None:
    limits = newest().limits
    assert limits is not None
    lecture = of_query(kernel="tiled")
    panel = lecture.panel(PlacesPanel)
    texts = {text for trace in panel.static() for text in trace["text"]}
    assert f"far: {limits.latency.dram:.0f} cycles" in texts
    assert any(text.endswith(f"{limits.latency.shared:.0f} cycles") for text in texts)
    far, near = (right - left for left, _, right, _ in seen(panel.shapes(lecture.steps[0])[-1]))
    assert far / near == pytest.approx(limits.latency.dram / limits.latency.shared, rel=0.05)


@EACH_QUERY
def test_sectors_are_those_that_the_block_moves_and_the_hatched_cells_nobody_asks_for(
    query: dict[str, Any],
) -> None:
    lecture, hatched = of_query(**query), 0
    panel = lecture.panel(GlobalMemoryPanel)
    warps = range(-(-lecture.recording.launch.threads // WARP_SIZE))
    for step in lecture.steps:
        loads = [a for a in step.accesses
                 if a.kind is AccessKind.LOAD and a.space is MemorySpace.GLOBAL]  # fmt: skip
        moved = {
            (request.access.name, sector)
            for warp in warps
            for request in requests(lecture.recording, step, warp)
            if request.access in loads
            for sector in request.sectors
        }
        asked = {(a.name, cell) for a in loads for cell in a.touched_cells()[0].tolist()}
        size = {name: cells.rows * cells.columns for name, cells in panel._maps.items()}
        unused = {
            (name, cell)
            for name, sector in moved
            for cell in range(8 * sector, min(8 * sector + 8, size[name]))
        } - asked
        [hatch] = [
            s for s in panel.shapes(step)
            if (s["line"]["color"], s["line"]["width"]) == (LIGHT.phases["load"], 1.5)
        ]  # fmt: skip
        drawn = 0 if hatch["path"] == "M0,0Z" else hatch["path"].count("M")
        assert drawn == len(unused), step.number
        hatched += drawn
    assert hatched


def test_a_copy_crosses_the_border_in_an_arrow_for_each_run_of_neighbours() -> None:
    lecture = of_query(kernel="tiled", M=8, N=8, K=8, TILE=4)
    panel = lecture.panel(CrossingsPanel)
    for step in lecture.steps:
        *_, fans, loads, stores = panel.shapes(step)
        line = lecture.line(step)
        copies = line.startswith(("As[", "Bs["))
        assert arrows(loads) == (4 if copies else 0)  # a row of a tile each
        assert arrows(stores) == (4 if line.startswith("C[") else 0)
        assert bool(arrows(fans)) == line.startswith("acc +=")


@pytest.mark.parametrize("width", [1280, 390])
def test_an_arrow_bends_between_its_ends_and_leaves_numbers_free(width: int) -> None:
    lecture = of_query(Look(width=width), kernel="tiled", M=8, N=8, K=8, TILE=4)
    along = int(width == 390)  # there the chip is below global memory: arrows lead down
    for line, shape in (("As[", -2), ("C[", -1)):
        path = lecture.panel(CrossingsPanel).shapes(lecture.steps_of(line)[0])[shape]["path"]
        curves = [
            np.array(re.findall(r"-?[\d.]+", curve), float).reshape(-1, 2)
            for curve in re.findall("M[^M]*C[^M]*", path)
        ]
        assert len(curves) == 4
        for first, *bends, last in (curve[:4, along] for curve in curves):
            assert all(min(first, last) < bend < max(first, last) for bend in bends)
        starts = sorted(curve[0, 1 - along] for curve in curves)
        if along:  # from within the first of four columns, and from the borders after each
            column = (starts[3] - starts[1]) / 2
            assert starts == pytest.approx(starts[1] + column * np.array([-0.5, 0, 1, 2]), abs=0.2)
        assert starts[0] + 1 < starts[1]


def test_a_row_that_lies_across_rows_of_a_matrix_crosses_cell_by_cell() -> None:
    lecture = of_query(kernel="uncoalesced", M=8, N=8, K=4)
    step = lecture.steps_of("acc +=")[0]
    [a] = [one for one in step.accesses if one.name == "A"]
    [b] = [one for one in step.accesses if one.name == "B"]
    assert len({cell for cell, _ in of_warp(lecture, a)}) == 8, "a cell of each row of A"
    assert len({cell for cell, _ in of_warp(lecture, b)}) == 1
    assert arrows(lecture.panel(CrossingsPanel).shapes(step)[-2]) == 8 + 8


@pytest.mark.parametrize("kernel", ["tiled", "naive"])
def test_a_line_leads_from_a_cell_to_each_thread_that_reads_it_now(kernel: str) -> None:
    lecture = of_query(kernel=kernel, M=8, N=8, K=8)
    thread, panel = lecture.model.thread, lecture.panel(CrossingsPanel)
    for step in lecture.steps_of("acc +="):
        readers = 0
        for access in step.accesses:
            if access.kind is AccessKind.LOAD and access.space is not MemorySpace.LOCAL:
                cells, threads = access.touched_cells()
                [own] = set(cells[threads == thread].tolist())
                readers += np.unique(threads[cells == own]).size
        *_, far, near, loads, _ = panel.shapes(step)
        assert arrows(far if kernel == "naive" else near) == readers, step.number
        assert not arrows(near if kernel == "naive" else far)
        assert bool(arrows(loads)) == (kernel == "naive")
        assert far["line"]["width"] < loads["line"]["width"], "under the arrows of a load"


def test_factors_in_global_memory_stand_there_alone() -> None:
    lecture = of_query(kernel="naive", M=8, N=8, K=8)
    for step in lecture.steps_of("acc +="):
        left, top, sums = lecture.panel(ProductStage).windows(step)
        assert left[1] is None
        assert top[1] is None
        assert sums[1] is not None


def test_the_board_stays_on_the_chip_between_products() -> None:
    lecture = of_query(kernel="tiled", M=8, N=8, K=8, TILE=4)
    for step in lecture.steps:
        shown = [one for one in lecture.drawn(step, ProductStage)[1] if one["path"] != "M0,0Z"]
        assert shown, step.number


def test_nothing_crosses_where_a_stage_without_the_board_is_pinned() -> None:
    lecture = of_query(Look(stage=Stage.BANKS), kernel="tiled", M=8, N=8, K=8, TILE=4)
    panel = lecture.panel(CrossingsPanel)
    assert not any(arrows(shape) for step in lecture.steps for shape in panel.shapes(step))


def test_the_head_of_the_path_along_k_stands_at_the_end_of_the_current_tile() -> None:
    lecture = of_query(kernel="tiled", M=8, N=8, K=8, TILE=4)
    panel = lecture.panel(GlobalMemoryPanel)
    a = panel._maps["A"]
    for t, step in enumerate(lecture.steps_of("As[ty][tx] =")):
        path = panel._path_along_k(step)
        [end] = re.findall(r"^M[\d.]+,[\d.]+H([\d.]+)", path)
        assert float(end) == pytest.approx(a.left + (t + 1) * 4 * a.width, abs=0.1)


@pytest.mark.parametrize("look", [Look(width=390, height=844), Look(width=374, height=700)])
def test_on_a_phone_a_copy_goes_down_to_the_chip_and_a_sum_up_into_c(look: Look) -> None:
    lecture = of_query(look, kernel="tiled", M=8, N=8, K=8, TILE=4)
    panel, areas = lecture.panel(CrossingsPanel), lecture.sheet.areas
    assert areas.far is not None
    assert areas.chip is not None
    for step in lecture.steps:
        *_, fans, loads, stores = panel.shapes(step)
        line = lecture.line(step)
        assert arrows(loads) == (4 if line.startswith(("As[", "Bs[")) else 0)
        assert arrows(stores) == (4 if line.startswith("C[") else 0)
        assert bool(arrows(fans)) == line.startswith("acc +=")
        for path, first, last in ((loads, areas.far, areas.chip), (stores, areas.chip, areas.far)):
            for start, _, end in re.findall(r"M([\d.,]+)C(\S+?),([\d.]+,[\d.]+)M", path["path"]):
                assert first.contains(*map(float, start.split(",")))
                assert last.contains(*map(float, end.split(",")))


def test_what_is_loaded_into_registers_goes_to_the_lanes_of_the_warp() -> None:
    lecture = of_query(kernel="vectors", M=16, N=16, K=16)
    panel, gate = lecture.panel(CrossingsPanel), lecture.panel(WarpRows)
    step = next(
        step for step in lecture.steps
        if any(a.space is MemorySpace.GLOBAL and a.components == 4 for a in step.accesses)
    )  # fmt: skip
    [access] = [a for a in step.accesses if a.space is MemorySpace.GLOBAL]
    ends = {flight.cell for flight in panel.motions(step) if isinstance(flight, Flight)}
    threads = {thread for _, thread in of_warp(lecture, access)}
    assert ends == {gate.box(step, thread) for thread in threads}
    assert len(panel.motions(step)) == 4 * len(threads)


@pytest.mark.parametrize(
    ("kernel", "axes"), [("naive", "x → column, y ↓ row"), ("uncoalesced", "x ↓ row, y → column")]
)
def test_which_way_x_and_y_go_is_said_beside_c(kernel: str, axes: str) -> None:
    lecture = of_query(kernel=kernel, M=32, N=32, K=8)
    texts = [text for t in lecture.panel(GlobalMemoryPanel).static() for text in t["text"]]
    assert axes in texts
    cells, _ = sums_of_threads(lecture.model)
    row, column = cells[1] - cells[0]
    assert (row, column) == ((0, 1) if kernel == "naive" else (1, 0))


@pytest.mark.parametrize("kernel", ["padded", "transposed"])
def test_an_arrays_declaration_stays_in_view_with_its_banks(kernel: str) -> None:
    lecture = of_query(Look(stage=Stage.BANKS), kernel=kernel, M=32, N=32, K=32, TILE=32)
    declaration = "__shared__ float Bs[TILE]" + ("[TILE + 1];" if kernel == "padded" else "[TILE];")
    for step in spread(lecture.steps, 12):
        traces = lecture.panel(SourceWindow).changing(step)
        rows = zip(*(trace["text"] for trace in traces[:4]), strict=True)
        shown = [
            "".join(next((one for one in letters if one not in (" ", SPACE)), " ")
                    for letters in itertools.zip_longest(*map(html.unescape, row), fillvalue=" "))
            for row in rows
        ]  # fmt: skip
        assert any(declaration.replace(" ", "") in row.replace(" ", "") for row in shown)


@pytest.mark.parametrize("ty", [0, 4])
def test_a_warp_that_is_not_followed_is_seen_to_copy_too(ty: int) -> None:
    lecture = of_query(
        kernel="tiled", M=16, N=16, K=16, TILE=8, schedule="ascending", thread=8 * ty
    )
    copies = [step for step in lecture.steps_of("As[ty][tx] =") if step.active.any()]
    assert len(copies) == 4
    assert all(lecture.panel(CrossingsPanel).motions(step) for step in copies)


def test_what_a_thread_loads_at_once_has_one_frame_with_a_line_between_its_cells() -> None:
    lecture = of_query(kernel="vectors", M=16, N=16, K=16)
    panel = lecture.panel(GlobalMemoryPanel)
    step = next(
        step for step in lecture.steps
        if any(a.space is MemorySpace.GLOBAL and a.components == 4 for a in step.accesses)
    )  # fmt: skip
    [access] = [a for a in step.accesses if a.space is MemorySpace.GLOBAL]
    loaded = access.touched_cells()[0].reshape(-1, 4).tolist()
    cells = panel._maps[access.name]
    _, _, touched, _, splits = panel._accessed(step)
    for first, *_, last in loaded:
        assert last == first + 3
        assert cells.path(*divmod(first, cells.columns), 1, 4) in touched
    assert splits.count("M") == 3 * len(loaded)


def test_the_sums_of_one_thread_are_framed_and_its_factors_lead_to_the_sum_they_go_into() -> None:
    lecture = of_query(kernel="registers", M=16, N=16, K=16)
    thread, panel = lecture.model.thread, lecture.panel(CrossingsPanel)
    lane = lecture.panel(WarpRows)
    for step in spread(lecture.steps_of("acc[i][j] +="), 8):
        frame, _, fans, _, _ = panel.shapes(step)
        assert frame["line"]["color"] == LIGHT.focus
        around, tie = frame["path"].split("Z")
        [(left, top, right, bottom)] = seen({"path": f"{around}Z"})
        _, _, sums = lecture.panel(ProductStage).windows(step)
        for x, y in sums[0].cells.centres():
            assert left < x < right
            assert top < y < bottom
        x, y, _, end = map(float, re.findall(r"[\d.]+", tie))
        box = lane.box(step, thread)
        assert box[0] <= x <= box[2]
        assert (y, end) == pytest.approx((box[1], bottom), abs=0.1)
        assert arrows(fans) == 2
    tiled = of_query(kernel="tiled", M=8, N=8, K=8, TILE=4)
    assert all(
        tiled.panel(CrossingsPanel).shapes(step)[0]["path"] == "M0,0Z" for step in tiled.steps
    )


@pytest.mark.parametrize(("size", "tile", "thread"), [(8, 4, 0), (32, 8, 7), (4, 2, 1)])
def test_a_stored_value_is_read_in_c_whether_or_not_its_cells_have_room(
    size: int, tile: int, thread: int
) -> None:
    lecture = of_query(
        kernel="tiled", M=size, N=size, K=size, TILE=tile, bx=1, by=1, tx=thread, ty=thread
    )
    panel = lecture.panel(GlobalMemoryPanel)
    store = lecture.steps_of("C[row * N + col] =")[0]
    [access] = [one for one in store.accesses if one.kind is AccessKind.STORE]
    value = f"{access.values[lecture.model.thread]:g}"
    notes = [
        trace["text"] for step in (lecture.steps[store.number - 1], store)
        for trace in panel.changing(step) if trace.get("meta") == "stored"
    ]  # fmt: skip
    if size > 4:
        assert notes == [[SPACE], [value]]
    else:  # each cell has its number
        assert not notes
        cell = (tile + thread) * size + tile + thread
        numbers = [one["text"] for one in panel.changing(store) if one.get("meta") == "far numbers"]
        assert numbers[-1][cell] == value
    shares = [panel.changing(step)[-1]["text"] for step in (lecture.steps[store.number - 1], store)]
    assert shares == [["100%"], [SPACE]]  # of the tile's sums
