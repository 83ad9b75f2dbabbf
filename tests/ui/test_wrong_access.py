"""What is wrong with each access of a faulty run: against NumPy, and against the text's indices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from simulator import Launch, Recording, Step, compile_kernel, narrate, record, simulate
from simulator.language.tree import Barrier
from simulator.machine.schedule import Schedule
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.recording.barriers import absent
from tests.ui.lecture.lectures import Lecture, record_view
from tests.ui.test_right_values import entries, lecture_of, view_of, wrong_accesses
from ui.analysis.right_values import Fate
from ui.analysis.scene_model import build_scene_model
from ui.analysis.wrong_access import Fault, WrongAccess, find_wrong_access
from ui.drawing.look import Look
from ui.lecture.copy_stage import CopyStage
from ui.lecture.sentences.sentence import SentencePanel
from ui.lecture.threads_stage import ThreadsStage
from ui.view.presets import launch, source
from ui.view.view_url import View

TILE = 8
SIZES = {"M": 13, "N": 9, "K": 18}  # no tile divides them
BLOCKS = [(0, 0), (1, 0), (0, 1), (1, 1)]
BARRIER = "__syncthreads();\n\n"  # the first one of the tiled kernel's text


def said(lecture: Lecture, number: int) -> str:
    return " ".join(lecture.panel(SentencePanel).changing(lecture.steps[number])[0]["text"])


def ragged(edits: str, block: tuple[int, int], **query: int) -> View:
    return view_of(edits, "lockstep", **SIZES, bx=block[0], by=block[1], **query)


def copies(view: View, name: str) -> Iterator[tuple[Step, int, int, int]]:
    """Of each load into a tile of A or B the step, the thread, and the row and column it is for."""
    recording = record_view(view)
    for step in recording.steps:
        if f"{name}s[ty][tx] =" in recording.kernel.text.split("\n")[step.line - 1]:
            t = step.loops[0].iteration
            for thread in range(TILE * TILE):
                x, y = thread % TILE, thread // TILE
                row = view.block[1] * TILE + y if name == "A" else t * TILE + y
                column = t * TILE + x if name == "A" else view.block[0] * TILE + x
                yield step, thread, row, column


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", ["A", "B"])
@pytest.mark.sample(3)
def test_without_a_bounds_check_each_load_beyond_an_edge_is_wrong(
    block: tuple[int, int], name: str
) -> None:
    view = ragged("bounds", block)
    matrix = np.asarray(record_view(view).arguments[name])
    rows, columns = matrix.shape
    found = {
        (number, thread): wrong for number, thread, wrong in wrong_accesses(view)
        if wrong.is_load and wrong.access.name == name
    }  # fmt: skip
    expected = set()
    for step, thread, row, column in copies(view, name):
        if row < rows and column < columns:
            continue
        expected.add((step.number, thread))
        wrong = found[step.number, thread]
        cell = row * columns + column
        inside = cell < matrix.size
        assert (wrong.cell, wrong.size) == (cell, matrix.size)
        assert wrong.fault is (Fault.STRAY if inside else Fault.OUTSIDE)
        assert wrong.value == (matrix.reshape(-1)[cell] if inside else 0)
        assert wrong.right == 0  # a tile is filled with zeros there
        assert wrong.target is not None
        assert wrong.target.name == f"{name}s"
        assert int(wrong.target.offsets[thread]) == 4 * thread
    assert set(found) == expected


@pytest.mark.parametrize("block", BLOCKS[1:])
def test_without_a_bounds_check_each_store_beyond_an_edge_is_wrong(block: tuple[int, int]) -> None:
    view = ragged("bounds", block)
    x, y = np.arange(TILE * TILE) % TILE + block[0] * TILE, np.arange(64) // TILE + block[1] * TILE
    beyond = np.flatnonzero((x >= view.N) | (y >= view.M))
    stores = {thread: w for _, thread, w in wrong_accesses(view) if not w.is_load}
    assert [t for t, w in stores.items() if w.fault is not Fault.VALUE] == beyond.tolist()
    cells = y * view.N + x
    for thread in beyond.tolist():
        wrong = stores[thread]
        assert wrong.fault is (Fault.STRAY if cells[thread] < view.M * view.N else Fault.OUTSIDE)
        assert wrong.cell == cells[thread]
    lecture = lecture_of(view, 0)
    last = lecture.steps[-1]
    A, B = (np.asarray(lecture.recording.arguments[name], np.float64) for name in "AB")
    product = A @ B
    own = np.zeros(product.shape, np.bool_)
    within = (x < view.N) & (y < view.M)
    own[y[within], x[within]] = True
    wrong_cells = last.stored["C"] & (~own | (last.outputs["C"] != product))
    sentences = entries(lecture, last.number)
    if wrong_cells.any():
        assert f"{wrong_cells.sum()} cells of C are wrong" in sentences
    else:
        assert "wrong" not in sentences


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", ["A", "B"])
def test_without_a_zero_fill_the_cells_beyond_an_edge_are_unset_in_the_first_tile(
    block: tuple[int, int], name: str
) -> None:
    view = ragged("zero-fill", block)
    rows, columns = record_view(view).arguments[name].shape
    beyond = {
        thread for step, thread, row, column in copies(ragged("", block), name)
        if step.loops[0].iteration == 0 and (row >= rows or column >= columns)
    }  # fmt: skip
    found = [w for _, _, w in wrong_accesses(view) if w.fault is Fault.UNSET]
    for wrong in found:
        if wrong.access.name == f"{name}s":
            assert wrong.cell in beyond  # a thread fills the cell with its own number
            assert (wrong.value, wrong.right) == (0, 0)
            assert wrong.is_harmless
            assert (wrong.writer, wrong.fate) == (wrong.cell, Fate.NEVER)
    cells = {w.cell for w in found if w.access.name == f"{name}s"}
    other = {w.cell for w in found if w.access.name != f"{name}s"}
    assert cells == beyond or other  # a read of two unset cells is reported by the first


def first(view: View, fault: Fault, **fields: object) -> tuple[int, int, WrongAccess]:
    """Step, thread and access of the first one with a fault."""
    return next(
        found for found in wrong_accesses(view)
        if found[2].fault is fault and all(getattr(found[2], k) == v for k, v in fields.items())
    )  # fmt: skip


def test_the_sentence_of_an_access_outside_says_which_element_of_how_many() -> None:
    view = ragged("bounds", (1, 1))
    number, thread, wrong = first(view, Fault.OUTSIDE, is_load=True)
    assert wrong.access.name == "A"
    lecture = lecture_of(view, thread)
    assert (
        "⚠ reads A[234], but A has 234 elements: here it is 0; on a GPU it may be anything; "
        "0 belongs in As[5][0]."
    ) in said(lecture, number)
    values = narrate.values(lecture.recording, lecture.steps[number], thread)
    assert values[0] == "As[5][0] = 0, since A[234] is out of bounds"
    texts = lecture.drawn(lecture.steps[number], CopyStage)[0]
    assert any("[234] is outside" in text for one in texts for text in one["text"])
    number, thread, _ = first(view, Fault.OUTSIDE, is_load=False)
    assert "⚠ writes C[117], but C has 117 elements" in said(lecture_of(view, thread), number)


def test_the_sentence_of_an_element_beyond_an_edge_says_whose_it_is() -> None:
    view = ragged("bounds", (1, 1))
    number, thread, wrong = first(view, Fault.STRAY, is_load=True)
    value = np.asarray(record_view(view).arguments["B"])[1, 0]
    assert wrong.access.name == "B"
    assert (
        f"⚠ reads B[9] = {value:g}, row 1 and column 0 of B, beyond the edge of what it copies; "
        "0 belongs in Bs[0][1]."
    ) in said(lecture_of(view, thread), number)
    number, thread, wrong = first(view, Fault.STRAY, is_load=False)
    assert (
        f"⚠ stores {wrong.value:g} in C[81], row 9 and column 0 of C, which is not its cell: it "
        "should store nothing."
    ) in said(lecture_of(view, thread), number)


def test_the_sentence_of_an_unset_cell_says_who_does_not_write_it() -> None:
    view = ragged("zero-fill", (1, 1))
    number, thread, _ = first(view, Fault.UNSET)
    sentences = said(lecture_of(view, thread), number)
    assert "reads Bs[0][1], which has no value yet" in sentences
    assert "0 belongs there, which thread (1, 0) does not write." in sentences


@pytest.mark.parametrize(
    ("body", "faulty"),
    [
        ("__shared__ float s[8]; float v;\nif (threadIdx.x > 2) v = 1;\n"
         "s[threadIdx.x] = v;\nx[threadIdx.x] = s[threadIdx.x];", (Fault.UNSET, 8, [0, 1, 2])),
        ("float a[4];\nfor (int i = 0; i < 4; ++i) a[i] = i;\nx[threadIdx.x] = a[threadIdx.x];",
         (Fault.OUTSIDE, 4, [4, 5, 6, 7])),
    ],
)  # fmt: skip
def test_a_copy_of_what_has_no_value_and_a_threads_own_array(
    body: str, faulty: tuple[Fault, int, list[int]]
) -> None:
    kernel = compile_kernel(f"__global__ void k(float* x) {{\n{body}\n}}")
    given = Launch((1, 1, 1), (8, 1, 1), {"x": np.zeros(8, np.float32)})
    recording = record(kernel, given)
    fault, size, threads = faulty
    found = [find_wrong_access(recording, None, recording.steps[-1], one) for one in range(8)]
    assert [number for number, wrong in enumerate(found) if wrong] == threads
    for number, wrong in enumerate(found):
        assert wrong is None or (wrong.fault, wrong.cell, wrong.size) == (fault, number, size)


def alone(recording: Recording, thread: int) -> Lecture:
    """A lecture without a run to compare with, as of a kernel that a visitor brings."""
    look = Look(width=1280, height=720, presenting=True)
    model = build_scene_model(recording, thread, (TILE, TILE, TILE))
    return Lecture(model, look)


def test_an_unset_cell_is_told_without_a_right_run_too() -> None:
    view = view_of("", "ascending")
    text = source(view).replace(BARRIER, "", 1)
    lecture = alone(record(compile_kernel(text, "tiled"), launch(view), (0, 0, 0),
                           Schedule.ASCENDING), 0)  # fmt: skip
    number = next(s.number for s in lecture.steps_of("acc +=") if s.loops[1].iteration == 4)
    sentences = said(lecture, number)
    assert (
        "⚠ reads Bs[4][0], which has no value yet: here it is 0; on a GPU it may be anything"
        in sentences
    )
    assert "thread (0, 4) writes it later." in sentences
    assert "belongs" not in sentences


def test_what_only_the_report_knows_is_told_where_it_happens() -> None:
    view = view_of("", "lockstep")
    kernel = compile_kernel(source(view).replace("float acc = 0.0f;", "float acc;"), "tiled")
    hazards = simulate(kernel, launch(view)).hazards
    assert [hazard.kind for hazard in hazards] == [HazardKind.UNINITIALIZED_READ]
    look = Look(width=1280, height=720, presenting=True)
    model = build_scene_model(record(kernel, launch(view)), 0, (TILE, TILE, TILE), hazards)
    lecture = Lecture(model, look)
    sentences = [step.number for step in lecture.steps if "⚠" in said(lecture, step.number)]
    assert sentences == [lecture.steps_of("acc +=")[0].number]
    assert said(lecture, sentences[0]).strip().endswith("; ⚠ reads acc, which has no value yet.")


def test_c_has_the_right_values_beside_its_wrong_ones() -> None:
    view = view_of("first-barrier", "ascending")
    lecture = lecture_of(view, 24)
    last = lecture.steps[-1]
    A, B = (np.asarray(lecture.recording.arguments[name], np.float64) for name in "AB")
    product = A @ B
    lower = lecture.panel(CopyStage)._contents(last)[1]
    assert lower is not None
    assert lower.is_right
    wrong = last.stored["C"] & (last.outputs["C"] != product)
    assert lower.texts == np.where(wrong, product.astype(int).astype(str), "").reshape(-1).tolist()
    assert any(text == "correct <b>C</b>"  # where "without the fault" has no room
               for one in lecture.drawn(last, CopyStage)[0] for text in one["text"])  # fmt: skip


# Of 64 threads, x from 0 to 7: those with x < 3 come to the barrier.
DIVERGENT = [
    ("if (tx < 3) __syncthreads();\n\n", "lockstep", 24, (3, 40, False), "go on at line 25"),
    ("if (tx < 3) __syncthreads();\n\n", "ascending", 24, (3, 40, False), "go on at line 25"),
    ("if (ty < 4) __syncthreads();\n\n", "ascending", 32, (32, 32, True), "wait at line 27"),
]


@pytest.mark.parametrize(("barrier", "order", "come", "others", "where"), DIVERGENT)
def test_a_divergent_barrier_says_who_waits_and_where_the_others_are(
    barrier: str, order: str, come: int, others: tuple[int, int, bool], where: str
) -> None:
    view = view_of("", order)
    text = source(view).replace(BARRIER, barrier, 1)
    recording = record(compile_kernel(text, "tiled"), launch(view), (0, 0, 0), view.schedule)
    first_absent, count, waits = others
    lecture = alone(recording, 0)
    step = next(one for one in lecture.steps if isinstance(one.statement, Barrier))
    (group,) = absent(recording, step)
    assert group.threads[0] == first_absent
    assert len(group.threads) == count
    assert group.waits is waits
    assert come + count == 64
    x, y = first_absent % TILE, first_absent // TILE
    name = f"thread ({x}, {y}) and {count - 1} others {where}"
    assert f"waits at a barrier that only {come} of the block's 64 threads reach: {name}." in said(
        lecture, step.number
    )
    texts = " ".join(lecture.panel(ThreadsStage).changing(step)[0]["text"])
    assert f"⚠ Only {come} of 64 threads reach this barrier. T{name[1:]}." in texts
    sentences = said(alone(recording, first_absent), step.number)
    assert "never reaches this barrier" in sentences
    assert where.replace("go ", "goes ").replace("wait ", "waits ") in sentences


@pytest.mark.parametrize("order", ["lockstep", "ascending"])
def test_at_a_right_kernels_barriers_nobody_is_absent(order: str) -> None:
    recording = record_view(view_of("", order, **SIZES))
    barriers = [step for step in recording.steps if isinstance(step.statement, Barrier)]
    assert barriers
    assert not any(absent(recording, step) for step in barriers)
