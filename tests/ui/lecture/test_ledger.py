"""The ledger's counts, against accesses counted in the recording and NumPy's products of tiles."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from simulator import Step
from simulator.machine.observer import AccessKind
from simulator.recording.recording import StepAccess
from tests.ui.lecture.lectures import Lecture, of_code, of_query, of_size, spread
from tests.ui.scene_models import EACH, SIZES
from ui.analysis.loads import global_loads, naive_loads
from ui.drawing.canvas import SPACE
from ui.lecture.ledger import LedgerPanel


def ledger(lecture: Lecture, step: Step, panel: LedgerPanel | None = None) -> str:
    """The ledger's text at a step."""
    [trace] = (panel or lecture.panel(LedgerPanel)).changing(step)
    return " ".join(text for text in trace["text"] if text != SPACE)


def elements_loaded(lecture: Lecture, thread: int, until: Step) -> int:
    """The elements that a thread has loaded from A and B."""
    return sum(
        access.components
        for step in lecture.steps[: until.number + 1]
        for access in step.accesses
        if access.name in ("A", "B") and access.kind is AccessKind.LOAD
        and access.active[thread] and access.in_bounds[thread]
    )  # fmt: skip


def test_each_thread_of_four_has_loaded_4_values_where_naive_has_loaded_8() -> None:
    model = of_query(kernel="tiled", M=4, N=4, K=4, TILE=2).model
    for thread in range(4):
        naive = naive_loads(model, thread)
        assert naive is not None
        # A copy of A, one of B, two products: twice.
        assert list(dict.fromkeys(zip(naive, global_loads(model, thread), strict=True))) == [
            (0, 0), (0, 1), (0, 2), (2, 2), (4, 2), (4, 3), (4, 4), (6, 4), (8, 4),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "naive"),
    [
        ({"kernel": "tiled", "M": 8, "N": 8, "K": 8, "TILE": 4}, 2 * 16 * 8),
        ({"kernel": "tiled", "M": 5, "N": 7, "K": 3, "TILE": 4, "bx": 1, "by": 1}, 2 * 3 * 3),
        ({"kernel": "tiled_double", "M": 6, "N": 7, "K": 5, "TILE": 4, "bx": 1, "by": 1},
         2 * 2 * 3 * 5),
        ({"kernel": "transposed", "M": 9, "N": 5, "K": 6, "TILE": 4, "by": 2}, 2 * 4 * 6),
        ({"kernel": "rows", "M": 7, "N": 5, "K": 3}, 2 * 7 * 5 * 3),
        ({"kernel": "registers", "M": 7, "N": 6, "K": 5}, 2 * 7 * 6 * 5),
        ({"kernel": "vectors", "M": 8, "N": 8, "K": 4}, 2 * 8 * 8 * 4),
        ({"kernel": "pipelined", "M": 5, "N": 8, "K": 4}, 2 * 5 * 8 * 4),
    ],
)  # fmt: skip
def test_the_threads_loads_add_up_to_the_blocks(query: dict[str, Any], naive: int) -> None:
    lecture = of_query(**query)
    model, threads = lecture.model, range(lecture.recording.launch.threads)
    own = [global_loads(model, thread) for thread in threads]
    theirs = [naive_loads(model, thread) for thread in threads]
    for step in [*spread(lecture.steps, 5), lecture.steps[-1]]:
        loads = [counts[step.number] for counts in own]
        assert loads == [elements_loaded(lecture, thread, step) for thread in threads]
        assert sum(loads) == global_loads(model)[step.number]
        assert sum(counts[step.number] for counts in theirs) == naive_loads(model)[step.number]
    assert naive_loads(model)[-1] == naive


def terms(text: str) -> list[tuple[str, bool]]:
    """The terms of a sum in the ledger, and which are bold."""
    found, bold = [], False
    for token in re.findall(r"<b>|</b>|A\d[\d,]*·B\d[\d,]*", text):
        if token.startswith("<"):
            bold = token == "<b>"  # noqa: S105
        else:
            found.append((token, bold))
    return found


def indices(name: str) -> tuple[int, int]:
    """The row and column in a tile's name: A12 or A1,12."""
    digits = name[1:].split(",") if "," in name else list(name[1:])
    row, column = map(int, digits)
    return row, column


@pytest.mark.parametrize(
    "query",
    [
        {"kernel": "tiled", "M": 8, "N": 8, "K": 8, "TILE": 4, "bx": 1},
        {"kernel": "tiled", "M": 6, "N": 4, "K": 6, "TILE": 2, "bx": 1, "by": 2},
        {"kernel": "tiled", "M": 5, "N": 7, "K": 9, "TILE": 4, "bx": 1, "by": 1},
        {"kernel": "swizzled", "M": 16, "N": 16, "K": 16, "TILE": 8, "by": 1},
        {"kernel": "registers", "M": 16, "N": 8, "K": 12, "by": 1},
    ],
)
def test_the_sum_of_products_of_tiles_is_the_blocks_tile_of_c(query: dict[str, Any]) -> None:
    lecture = of_query(**query)
    model = lecture.model
    assert model.tile is not None
    rows, columns, depth = model.tile
    x, y, _ = model.recording.block
    A, B = (np.asarray(model.recording.arguments[name]).astype(int) for name in "AB")
    counter = model.outer and next(p.variable for s in lecture.steps for p in s.loops
                                   if p.loop is model.outer)  # fmt: skip
    turns = set()
    for step in lecture.steps:
        text = ledger(lecture, step)
        found = terms(text)
        assert len(found) == -(-A.shape[1] // depth)
        total = 0
        for term, _ in found:
            (a_row, a_column), (b_row, b_column) = (indices(name) for name in term.split("·"))
            total = total + (
                A[a_row * rows : (a_row + 1) * rows, a_column * depth : (a_column + 1) * depth]
                @ B[b_row * depth : (b_row + 1) * depth, b_column * columns :][:, :columns]
            )
        row, column = indices(re.findall(r"C[\d,]+", text)[0])
        assert (row, column) == (y, x)
        product = A @ B
        tile = product[row * rows : (row + 1) * rows, column * columns : (column + 1) * columns]
        assert np.array_equal(total, tile)
        in_loop = [p for p in step.loops if p.loop is model.outer and p.value is not None]
        is_counting = step.statement is model.outer or not in_loop
        if not is_counting and "int t" not in lecture.line(step):
            turn = int(step.registers[counter or ""][model.thread])
            turn = turn // depth if counter == "start" else turn
            assert [bold for _, bold in found] == [t == turn for t in range(len(found))]
            turns.add(turn)
    assert turns == set(range(-(-A.shape[1] // depth)))


def test_a_sum_of_many_tiles_has_its_running_term_and_their_number() -> None:
    lecture = of_query(kernel="tiled", M=4, N=4, K=64, TILE=2, bx=1)
    for step in lecture.steps_of("acc +="):
        [(term, bold)] = terms(ledger(lecture, step))
        turn = int(step.registers["t"][0])
        assert (term, bold) == (f"A0,{turn}·B{turn},1", True)
        assert "(32 terms)" in ledger(lecture, step)
        assert ("… + " in ledger(lecture, step)) == (turn > 0)
        assert (" + …" in ledger(lecture, step)) == (turn < 31)


WILL_READ = re.compile(r"(\d+) threads will read")
READ_NOW = re.compile(r"(\d+) threads read this cell of (\w+) now(?:: ([()\d, ]+))?")


@EACH
@pytest.mark.parametrize("count", [12, pytest.param(10**6, marks=pytest.mark.deep)])
def test_the_readers_of_a_value_are_those_of_the_recording(number: int, count: int) -> None:
    lecture = of_size(number)
    thread, seen = lecture.model.thread, 0
    steps = [step for step in lecture.steps if step.accesses and step.active[thread]]
    for step in spread(steps, count):
        text = ledger(lecture, step)
        if match := WILL_READ.search(text):
            written = next(
                a for a in step.accesses if a.space == "shared" and a.kind is AccessKind.STORE
            )
            assert int(match[1]) == len(later_readers(lecture, step, written))
            seen += 1
        elif match := READ_NOW.search(text):
            access = next(a for a in step.accesses if a.name == match[2])
            same = [
                t for t in range(access.active.size)
                if access.active[t] and access.in_bounds[t]
                and access.offsets[t] == access.offsets[thread]
            ]  # fmt: skip
            assert thread in same
            assert int(match[1]) == len(same)
            if match[3]:
                width = lecture.recording.launch.block[0]
                assert match[3].strip() == ", ".join(f"({t % width}, {t // width})" for t in same)
            seen += 1
        elif match := re.search(r"No other thread reads this cell of (\w+) now", text):
            access = next(a for a in step.accesses if a.name == match[1])
            same_offset = access.active & (access.offsets == access.offsets[thread])
            assert same_offset.sum() == 1
            seen += 1
    assert seen, SIZES[number]


def later_readers(lecture: Lecture, step: Step, written: StepAccess) -> set[int]:
    """Who loads the first byte that the focused thread writes, until it is written again."""
    byte = int(written.offsets[lecture.model.thread])
    readers: set[int] = set()
    for later in lecture.steps[step.number + 1 :]:
        for access in later.accesses:
            if access.name != written.name or access.space != "shared":
                continue
            touching = {
                t for t in range(access.active.size)
                if access.active[t] and access.in_bounds[t]
                and 0 <= byte - int(access.offsets[t]) < access.width
            }  # fmt: skip
            if touching and access.kind is not AccessKind.LOAD:
                return readers
            readers |= touching
    return readers


@pytest.mark.parametrize("tile", [2, 4, 8])
def test_a_tile_of_n_rows_is_read_by_n_threads(tile: int) -> None:
    lecture = of_query(kernel="tiled", M=8, N=8, K=8, TILE=tile)
    copies = [*lecture.steps_of("As[ty][tx] ="), *lecture.steps_of("Bs[ty][tx] =")]
    assert len(copies) == 2 * 8 // tile
    for step in copies:
        assert f"{tile} threads will read" in ledger(lecture, step)
    for step in lecture.steps_of("acc +="):
        assert f"{tile} threads read this cell of As now" in ledger(lecture, step)


OVERWRITTEN = """__global__ void k(float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float s[4];
    int i = threadIdx.x;
    s[i] = A[i];
    __syncthreads();
    float sum = s[i / 2];
    __syncthreads();
    s[i] = B[i];
    __syncthreads();
    for (int j = 0; j < 4; ++j)
        sum += s[j];
    C[i] = sum;
}"""


def test_who_reads_a_value_after_it_is_overwritten_is_not_counted() -> None:
    for thread, readers in ((0, "2 threads"), (1, "2 threads"), (2, None), (3, None)):
        lecture = of_code(OVERWRITTEN, 4, thread)
        [first] = lecture.steps_of("s[i] = A[i]")
        [second] = lecture.steps_of("s[i] = B[i]")
        if readers is None:
            assert "will read" not in ledger(lecture, first)
        else:
            assert f"{readers} will read" in ledger(lecture, first)
        assert "4 threads will read" in ledger(lecture, second)


@pytest.mark.parametrize("declared", ["__shared__ float s[64];", "float* s = A;"])
def test_a_warning_counts_the_cells_that_no_barrier_orders(declared: str) -> None:
    code = f"""__global__ void k(float* A, const float* B, float* C, int M, int N, int K) {{
    {declared}
    int i = threadIdx.x;
    s[i] = i;
    if (i < 3) C[i] = s[63 - i];
}}"""
    lecture = of_code(code, 64, 0)
    read = lecture.steps_of("C[i] = s[63 - i]")[-1]
    assert "⚠ 3 cells shared with no barrier in between" in ledger(lecture, read)
