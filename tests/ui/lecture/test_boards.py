"""A product on the blackboard: the numbers in the focused cells are those of the recording."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from simulator import Launch, Step, compile_kernel, record
from simulator.language.tree import Declare, MemorySpace
from simulator.machine.observer import AccessKind
from simulator.number_format import MINUS
from tests.ui.lecture.lectures import Box, Lecture, centre, of_query, of_size, seen, spread, text_at
from tests.ui.scene_models import EACH, SIZES
from ui.analysis.scene_model import build_scene_model
from ui.drawing.canvas import number
from ui.drawing.look import Look, Stage
from ui.drawing.palette import PALETTES
from ui.lecture.arrays import ArrayName, ArrayReader, cells_of_thread
from ui.lecture.global_memory import GlobalMemoryPanel
from ui.lecture.product_stage import ProductStage

PALETTE = PALETTES["light"]
PRODUCT = re.compile(r"(\w+)(?:\[.*\])? \+= (\w+)(?:\[.*\])? \* (\w+)")
NOT_IN_LINE = {  # kernels whose left (0) or upper (1) factor is not in line with its sum
    "transposed": {1}, "padded": {1}, "swizzled": {1}, "warptiles": {0},
}  # fmt: skip
PINNED = Look(stage=Stage.PRODUCT)


def products(lecture: Lecture) -> list[Step]:
    """The steps at which the focused thread adds a product."""
    thread = lecture.model.thread
    found = [
        s for s in lecture.steps_of("+=") if PRODUCT.search(lecture.line(s)) and s.active[thread]
    ]
    assert len(found) > 1
    return found


def recorded_numbers(lecture: Lecture, step: Step) -> tuple[float, float, float, float]:
    """Both factors, the sum before and the sum after, from the accesses or the registers."""
    thread = lecture.model.thread
    found = PRODUCT.search(lecture.line(step))
    assert found
    total, *factors = found.groups()

    def loaded(name: str) -> float:
        for access in step.accesses:
            if access.name == name and access.kind is AccessKind.LOAD:
                return float(access.values[thread])
        return float(step.registers[name][thread])

    stores = [a for a in step.accesses if a.name == total and a.kind is AccessKind.STORE]
    if stores:
        before, after = loaded(total), float(stores[0].values[thread])
    else:
        before = float(lecture.steps[step.number - 1].registers[total][thread])
        after = float(step.registers[total][thread])
    left, upper = map(loaded, factors)
    return left, upper, before, after


FROM_GLOBAL = ("naive", "uncoalesced")  # they multiply what they read from global memory


def focus_boxes(lecture: Lecture, step: Step) -> list[Box]:
    """The focused cells of the figure: of the left factor, the upper one, and the sum."""
    return [
        box
        for shape in lecture.drawn(step, ProductStage)[1]
        if shape["fillcolor"] == PALETTE.focus_fill and shape["line"]["width"] == 4
        for box in seen(shape)
    ]


@pytest.mark.sample(20)
@EACH
@pytest.mark.parametrize("count", [8, pytest.param(10**6, marks=pytest.mark.deep)])
def test_the_focused_cells_hold_the_factors_and_their_sum(number: int, count: int) -> None:
    sums = set()
    threads = of_size(number).recording.launch.threads
    for thread, step_count in ((0, count // 2), (threads // 3, count)):
        lecture = of_size(number, PINNED, thread)
        sums |= {check_focus(lecture, step) for step in spread(products(lecture), step_count)}
    assert len(sums) > 1


def check_focus(lecture: Lecture, step: Step) -> float:
    """The figure's focused numbers are those of the recording; returns the sum."""
    boxes = focus_boxes(lecture, step)
    far = lecture.drawn(step, GlobalMemoryPanel)
    if lecture.model.recording.kernel.name in FROM_GLOBAL:  # its factors are there
        boxes = [
            box
            for shape in far[1]
            if (shape["line"]["color"], shape["line"]["width"]) == (PALETTE.focus, 3)
            for box in seen(shape)
        ][:2] + boxes
    assert len(boxes) == 3, step.number
    traces = [*lecture.drawn(step, ProductStage)[0], *far[0]]
    shown = [shown_number(lecture, step, traces, box) for box in boxes]
    left, upper, before, after = recorded_numbers(lecture, step)
    assert shown == [left, upper, after], step.number
    assert before + left * upper == after
    return after


def shown_number(lecture: Lecture, step: Step, traces: list[dict[str, Any]], box: Box) -> float:
    """The number in a cell, or that of the array's element where cells are too small for one."""
    hit = lecture.hit(step, *centre(box))
    if hit is not None and hit.name.startswith("global:"):
        array = lecture.recording.arguments[hit.name.removeprefix("global:")]
        return float(np.reshape(array, -1)[hit.index])
    return float(text_at(traces, *centre(box)).replace(MINUS, "-"))


def test_between_two_products_the_cells_of_the_next_are_lit() -> None:
    lecture = of_query(M=8, N=8, K=8, TILE=4)
    loop = lecture.steps_of("for (int k")
    followed = 0
    for step in loop:
        after = lecture.steps[step.number + 1 : step.number + 3]
        product = next((s for s in after if PRODUCT.search(lecture.line(s))), None)
        if product is not None:
            assert focus_boxes(lecture, step) == focus_boxes(lecture, product), step.number
            followed += 1
    assert followed == 2 * 2 * 4  # to begin or count, and to compare, before each product


@EACH
@pytest.mark.sample(3)
def test_every_sum_that_is_shown_is_the_recorded_one(number: int) -> None:
    lecture = of_size(number, PINNED)
    board = lecture.panel(ProductStage)
    if board._board.sums.own:
        return
    for step in spread(products(lecture), 4):
        traces = lecture.drawn(step, ProductStage)[0]
        registers = step.registers["acc"]
        found = 0
        for x, y in board._sums.cells.centres():
            hit = lecture.hit(step, x, y)
            if hit is not None:
                assert hit.name == "thread"
                assert float(text_at(traces, x, y)) == registers[hit.index]
                found += 1
        assert found >= min(4, lecture.recording.launch.threads)


@EACH
@pytest.mark.sample(3)
def test_factors_stand_in_line_with_their_sum(number: int) -> None:
    if SIZES[number][0] in FROM_GLOBAL:
        return  # whose factors are not on the chip
    check_lines(of_size(number, PINNED), NOT_IN_LINE.get(SIZES[number][0], set()))


def check_lines(lecture: Lecture, not_in_line: set[int]) -> None:
    """Factors are in line with their sum; thin frames mark the sums that share one of them."""
    steps = products(lecture)
    places = [[centre(box) for box in focus_boxes(lecture, step)] for step in steps]
    assert all(len(three) == 3 for three in places)
    rows = [left[1] - total[1] for left, _, total in places]
    columns = [upper[0] - total[0] for _, upper, total in places]
    in_line = [all(abs(apart) < 0.5 for apart in axis) for axis in (rows, columns)]
    assert [axis not in not_in_line for axis in (0, 1)] == in_line
    marked = 0
    for step in steps:
        [board] = [panel for panel in lecture.panels(ProductStage) if panel.matches(step)]
        thin = board.shapes(step)[-1]
        assert thin["line"]["dash"] == "solid", "dots are a hazard's"
        drawn = [thread_of(board, step, centre(box)) for box in seen(thin)]
        shown = {
            thread_of(board, step, point) for point in board._sums.cells.centres()
        } if not board._board.sums.own else set()  # fmt: skip
        assert len(drawn) == len(set(drawn))
        assert set(drawn) == sharing_threads(lecture, step) & shown
        marked += len(drawn)
    assert bool(marked) == (lecture.recording.launch.threads > 1 and not board._board.sums.own)


def thread_of(board: ProductStage, step: Step, point: tuple[float, float]) -> int | None:
    """The thread whose sum is at a point; None where there is none."""
    hit = board.hit(step, *point)
    return hit.index if hit is not None and hit.name == "thread" else None


def sharing_threads(lecture: Lecture, step: Step) -> set[int]:
    """The other threads that read the same cell of a factor as the focused thread."""
    thread, found = lecture.model.thread, PRODUCT.search(lecture.line(step))
    assert found
    threads: set[int] = set()
    for access in step.accesses:
        if access.name in found.groups()[1:] and access.kind is AccessKind.LOAD:
            same = access.active & (access.offsets == access.offsets[thread])
            threads |= set(np.flatnonzero(same).tolist())
    return threads - {thread}


@pytest.mark.sample(20)
@pytest.mark.parametrize(
    ("query", "room"),
    [
        ({"kernel": "tiled", "M": 64, "N": 64, "K": 64, "TILE": 32}, (1280, 720)),
        ({"kernel": "tiled", "M": 64, "N": 64, "K": 64, "TILE": 32}, (390, 844)),
        ({"kernel": "tiled", "inputs": "counting", "M": 64, "N": 64, "K": 64, "TILE": 16,
          "bx": 3, "by": 3}, (1240, 560)),
        ({"kernel": "tiled_double", "inputs": "counting", "M": 33, "N": 35, "K": 37, "TILE": 8},
         (820, 600)),
        ({"kernel": "naive", "inputs": "counting", "M": 64, "N": 64, "K": 64}, (1280, 720)),
        ({"kernel": "transposed", "M": 32, "N": 32, "K": 32, "TILE": 32}, (1280, 720)),
        ({"kernel": "swizzled", "M": 32, "N": 32, "K": 32, "TILE": 32}, (1280, 720)),
        ({"kernel": "registers", "inputs": "counting", "M": 16, "N": 16, "K": 16}, (390, 844)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("presenting", [False, True])
def test_the_focused_thread_is_within_the_windows_in_any_room(
    query: dict[str, object], room: tuple[int, int], presenting: bool
) -> None:
    look = Look(stage=Stage.PRODUCT, width=room[0], height=room[1], presenting=presenting)
    threads = of_query(look, **query).recording.launch.threads
    for thread in (0, threads - 1):
        lecture = of_query(look, thread, **query)
        for step in spread(products(lecture), 5):
            boxes = focus_boxes(lecture, step)
            traces = lecture.drawn(step, ProductStage)[0]
            left, upper, _, after = recorded_numbers(lecture, step)
            shown = [text_at(traces, *centre(box)) for box in boxes]
            expected = [f"{left:g}", f"{upper:g}", f"{after:.0f}"]
            if query["kernel"] == "naive":  # its factors are in global memory's place
                expected = expected[2:]
            assert len(shown) == len(expected)
            assert shown == expected or after >= 1e6


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_lit_row_and_column_have_an_outline(theme: str) -> None:
    """Of the iteration's dark or bright colour: the fills alone are too much alike."""
    lecture = of_query(Look(theme=theme), kernel="tiled", M=8, N=8, K=8, TILE=4, ty=1, tx=2)
    panel, palette = lecture.panel(ProductStage), PALETTES[theme]
    for step in lecture.steps_of("acc +="):
        edge = palette.tile_edge(step.loops[0].value or 0)
        paths = [
            shape["path"] for shape in panel.shapes(step)
            if shape["line"]["color"] == edge and shape["path"] != "M0,0Z"
        ]  # fmt: skip
        expected = []
        for cells, row, column in ((panel._left.cells, 1, None), (panel._top.cells, None, 2)):
            left, right = cells.left, cells.right
            top, bottom = cells.top, cells.bottom
            if row is not None:
                top, bottom = top + row * cells.height, top + (row + 1) * cells.height
            if column is not None:
                left, right = left + column * cells.width, left + (column + 1) * cells.width
            expected.append((left, top, right, bottom))
        found = []
        for path in paths:
            xs = [float(x) for x in re.findall(r"M([\d.]+)|H([\d.]+)", path) for x in x if x]
            ys = [float(y) for y in re.findall(r",([\d.]+)|V([\d.]+)", path) for y in y if y]
            found.append((min(xs), min(ys), max(xs), max(ys)))
        assert np.allclose(found, expected, atol=0.2), step.number


@pytest.mark.sample(3)
@pytest.mark.parametrize("kernel", ["rows", "registers", "vectors", "pipelined", "warptiles"])
def test_an_array_in_registers_is_empty_until_it_is_stored_to(kernel: str) -> None:
    lecture = of_query(kernel=kernel, M=8, N=8, K=8)
    reader, thread = ArrayReader(lecture.model), lecture.model.thread
    stored: dict[str, dict[int, float]] = {}
    empty = 0
    for step in lecture.steps:
        statement = step.statement
        if isinstance(statement, Declare) and statement.variable.space is MemorySpace.LOCAL:
            if statement.cells is None:
                stored[statement.variable.name] = {}
            else:
                stored.pop(statement.variable.name, None)
        for access in step.accesses:
            if access.space is MemorySpace.LOCAL and access.name in stored:
                cells = cells_of_thread(access, thread)
                held = stored[access.name]
                if access.kind is AccessKind.LOAD:
                    assert set(cells) <= set(held), "the kernel reads what it has stored"
                else:
                    values = np.ravel(access.values[thread]).tolist()
                    held.update(zip(cells, values, strict=True))
        for name, held in stored.items():
            texts = reader.texts(step, ArrayName(name, MemorySpace.LOCAL))
            assert {i for i, text in enumerate(texts) if text} == set(held), (step.number, name)
            assert all(texts[cell] == number(value) for cell, value in held.items())
            empty += len(texts) - len(held)
    assert empty or kernel == "rows", "all its sums have a first value"


SPLIT = """
extern "C" __global__ void split(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float part[2][4][4];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    float acc = 0.0f;
    for (int k = z; k < K; k += 2)
        acc += A[y * K + k] * B[k * N + x];
    part[z][y][x] = acc;
    __syncthreads();
    if (z == 0)
        C[y * N + x] = part[0][y][x] + part[1][y][x];
}"""


@pytest.mark.parametrize("z", [0, 1])
def test_of_threads_that_share_a_cell_those_of_the_focused_ones_z_are_shown(z: int) -> None:
    A, B = np.arange(32.0).reshape(4, 8), np.arange(32.0)[::-1].reshape(8, 4)
    arrays = {name: array.astype(np.float32) for name, array in (("A", A), ("B", B))}
    arguments = {**arrays, "C": np.zeros((4, 4), np.float32), "M": 4, "N": 4, "K": 8}
    recording = record(compile_kernel(SPLIT, "split"), Launch((1, 1, 1), (4, 4, 2), arguments))
    model = build_scene_model(recording, 16 * z + 5)
    look = Look(width=1280, height=720, presenting=True)
    lecture = Lecture(model, look)
    last = lecture.steps_of("acc +=")[-1]
    window, content = lecture.panel(ProductStage).windows(last)[2]
    assert content is not None
    expected = A[:, z::2] @ B[z::2]
    assert content.texts == [f"{value:g}" for value in expected.reshape(-1)]
    names = [text for one in lecture.panel(ProductStage).changing(last) for text in one["text"]]
    assert any(f"one sum per thread, z = {z}" in name for name in names)
    (place,) = window.focused(content)
    assert place.text == f"{expected[1, 1]:g}"
