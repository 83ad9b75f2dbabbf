"""Which stage each step of a lecture is shown on, by the lines of the source."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.language.tree import Declare, Loop
from simulator.machine.observer import StepKind
from tests.ui.lecture.lectures import Lecture, of_code, of_query
from ui.drawing.look import Held, Level, Look, Stage
from ui.lecture.arrays import ArrayReader
from ui.lecture.board import Boards
from ui.lecture.stages import Stages

TILED = {"kernel": "tiled", "M": 8, "N": 8, "K": 8, "TILE": 4}
NAIVE = {"kernel": "naive", "M": 4, "N": 4, "K": 4}
TRANSPOSED = {"kernel": "transposed", "M": 32, "N": 32, "K": 32, "TILE": 32}
REGISTERS = {"kernel": "registers"}
PIPELINED = {"kernel": "pipelined"}
WARPTILES = {"kernel": "warptiles"}


def stages(lecture: Lecture, held: Held | None = None) -> Stages:
    return Stages(lecture.model, Boards(lecture.model, ArrayReader(lecture.model)), held)


# View, part of a line, and the stage of the steps that run it (the tests and advances of its loop
# are other tests').
@pytest.mark.parametrize(
    ("query", "line", "stage"),
    [
        (TILED, "int tx", Stage.REGISTERS),
        (TILED, "int row", Stage.REGISTERS),
        (TILED, "float acc", Stage.REGISTERS),
        (TILED, "for (int t", Stage.REGISTERS),
        (TILED, "int a_col", Stage.REGISTERS),
        (TILED, "As[ty][tx] =", Stage.COPY),
        (TILED, "Bs[ty][tx] =", Stage.COPY),
        (TILED, "__syncthreads", Stage.THREADS),
        (TILED, "acc +=", Stage.PRODUCT),
        (TILED, "C[row * N + col] =", Stage.STORE),
        (NAIVE, "int col", Stage.REGISTERS),
        (NAIVE, "float acc", Stage.REGISTERS),
        (NAIVE, "acc +=", Stage.PRODUCT),
        (NAIVE, "C[row * N + col] =", Stage.STORE),
        (TRANSPOSED, "As[ty][tx] =", Stage.COPY),
        (TRANSPOSED, "Bs[tx][ty] =", Stage.BANKS),
        (TRANSPOSED, "acc +=", Stage.BANKS),
        (TRANSPOSED, "__syncthreads", Stage.THREADS),
        (TRANSPOSED, "C[row * N + col] =", Stage.STORE),
        (REGISTERS, "float acc", Stage.REGISTERS),
        (REGISTERS, "As[i % DEPTH]", Stage.COPY),
        (REGISTERS, "Bs[i / TILE]", Stage.COPY),
        (REGISTERS, "a[i] = As", Stage.COPY),
        (REGISTERS, "b[i] = Bs", Stage.COPY),
        (REGISTERS, "float b[EACH]", Stage.REGISTERS),
        (REGISTERS, "acc[i][j] +=", Stage.PRODUCT),
        (REGISTERS, "C[row * N + col] =", Stage.STORE),
        (PIPELINED, "__pipeline_memcpy_async(to, row + first, 16)", Stage.COPY),
        (PIPELINED, "__pipeline_commit", Stage.REGISTERS),
        (PIPELINED, "*reinterpret_cast<float4*>(a[i]) =", Stage.COPY),
        (PIPELINED, "acc[i][j] +=", Stage.PRODUCT),
        (PIPELINED, "*reinterpret_cast<float4*>(row + first) = value", Stage.STORE),
        (WARPTILES, "__pipeline_memcpy_async(&As", Stage.COPY),
        (WARPTILES, "*reinterpret_cast<float4*>(a + i)", Stage.COPY),
        (WARPTILES, "acc[i][j] += a[i]", Stage.PRODUCT),
        (WARPTILES, "*reinterpret_cast<float4*>(C + c_row", Stage.STORE),
        (WARPTILES, "__syncthreads", Stage.THREADS),
    ],
)
@pytest.mark.sample(2)
def test_a_line_is_shown_on_the_stage_of_what_it_does(
    query: dict[str, Any], line: str, stage: Stage
) -> None:
    lecture = of_query(**query)
    found = stages(lecture)
    steps = [s for s in lecture.steps_of(line) if s.kind in (StepKind.RUN, StepKind.BARRIER)]
    assert steps
    assert {found.of(step) for step in steps} == {stage}
    assert all(found.subject(step) is step for step in steps)


def test_a_wait_is_a_copy_while_copies_are_on_their_way() -> None:
    lecture = of_query(**PIPELINED)
    found = stages(lecture)
    waits = lecture.steps_of("__pipeline_wait_prior")
    assert [found.of(step) for step in waits] == [Stage.COPY, Stage.COPY, Stage.REGISTERS]


# View, part of a loop's line, the stage while it counts, and the line whose step that shows.
@pytest.mark.parametrize(
    ("query", "loop", "stage", "body"),
    [
        (TILED, "for (int k", Stage.PRODUCT, "acc +="),
        (NAIVE, "for (int k", Stage.PRODUCT, "acc +="),
        (TRANSPOSED, "for (int k", Stage.BANKS, "acc +="),
        (REGISTERS, "for (int j = 0; j < EACH; ++j)", Stage.PRODUCT, "acc[i][j] +="),
        (REGISTERS, "for (int begin = 0; begin < TILE * DEPTH", Stage.COPY, "As[i % DEPTH]"),
        (PIPELINED, "for (int j = 0; j < EACH; ++j)", Stage.PRODUCT, "acc[i][j] +="),
        (WARPTILES, "for (int step", Stage.PRODUCT, "acc[i][j] += a[i]"),
    ],
)
def test_counting_a_loop_stays_on_the_stage_of_its_body(
    query: dict[str, Any], loop: str, stage: Stage, body: str
) -> None:
    lecture = of_query(**query)
    found, counted = stages(lecture), 0
    for step in lecture.steps_of(loop):
        if not isinstance(step.statement, Loop) or not goes_on(lecture, step.number):
            continue
        follows = next((s for s in lecture.steps[step.number :] if body in lecture.line(s)), None)
        if follows is None or any(loop in lecture.line(s) and s.kind is StepKind.TEST
               for s in lecture.steps[step.number + 2 : follows.number]):  # fmt: skip
            continue  # the body of another loop of the same line
        assert (found.of(step), found.subject(step)) == (stage, follows), step.number
        counted += 1
    assert counted >= 2


def goes_on(lecture: Lecture, number: int) -> bool:
    """Whether the loop that a step counts runs its body next, for the focused thread."""
    test = next(s for s in lecture.steps[number:] if s.kind is StepKind.TEST)
    loop = test.statement
    assert isinstance(loop, Loop)
    assert loop is lecture.steps[number].statement
    following = lecture.steps[test.number + 1]
    return any(position.loop is loop for position in following.loops)


@pytest.mark.parametrize(
    ("query", "stage"),
    [
        (TILED, Stage.PRODUCT),  # steps 12 and 34, between the barrier and the first product
        (NAIVE, Stage.PRODUCT),
        (TRANSPOSED, Stage.BANKS),
    ],
)
def test_a_loops_first_value_is_on_the_stage_of_its_body(
    query: dict[str, Any], stage: Stage
) -> None:
    lecture = of_query(**query)
    first = [s for s in lecture.steps_of("for (int k") if isinstance(s.statement, Declare)]
    assert first
    assert {stages(lecture).of(step) for step in first} == {stage}


def test_a_loops_end_before_a_barrier_stays_on_what_it_did() -> None:
    check_ends(of_query(**TILED))


def test_a_loops_end_stays_on_what_it_did_where_no_barrier_follows() -> None:
    check_ends(of_query(**TILED, edits="second-barrier"))


def check_ends(lecture: Lecture) -> None:
    """The last advance and test of each tile's inner loop show its last product."""
    found = stages(lecture)
    for product in lecture.steps_of("acc +=")[3::4]:  # the last of each tile
        advance, test = lecture.steps[product.number + 1 : product.number + 3]
        assert lecture.line(test).startswith("for (int k")
        assert [found.of(step) for step in (advance, test)] == [Stage.PRODUCT] * 2
        assert [found.subject(step) for step in (advance, test)] == [product] * 2


# Of the tiled kernel: steps 9 and 10 fill As and Bs, 11 is the barrier, 14 the first product, 52
# the store. The stage that is pinned, and for some steps the step whose accesses it shows.
@pytest.mark.parametrize(
    ("pinned", "subjects"),
    [
        (Stage.COPY, {0: 9, 8: 9, 9: 9, 10: 10, 11: 10, 13: 10, 14: 14, 15: 14, 51: 45, 52: 52}),
        (Stage.BANKS, {0: 9, 9: 9, 12: 10, 14: 14, 31: 31, 52: 45}),
        (Stage.STORE, {0: 52, 14: 52, 52: 52}),
        (Stage.PRODUCT, {0: 0, 14: 14, 52: 52}),
        (Stage.THREADS, {0: 0, 11: 11, 52: 52}),
        (Stage.REGISTERS, {0: 0, 14: 14, 52: 52}),
    ],
)
def test_a_pinned_stage_shows_the_nearest_step_that_has_something_for_it(
    pinned: Stage, subjects: dict[int, int]
) -> None:
    lecture = of_query(**TILED)
    found = stages(lecture, pinned)
    assert {found.of(step) for step in lecture.steps} == {pinned}
    assert {n: found.subject(lecture.steps[n]).number for n in subjects} == subjects


# Of the tiled kernel as above, of the others by part of a line.
@pytest.mark.parametrize(
    ("query", "level", "line", "stage", "subject"),
    [
        (TILED, Level.BLOCK, "float acc", Stage.PRODUCT, "float acc"),  # on the board that follows
        (TILED, Level.BLOCK, "As[ty][tx] =", Stage.COPY, "As[ty][tx] ="),
        (TILED, Level.BLOCK, "__syncthreads", Stage.THREADS, "__syncthreads"),
        (TILED, Level.BLOCK, "acc +=", Stage.PRODUCT, "acc +="),
        (TILED, Level.BLOCK, "C[row * N + col] =", Stage.STORE, "C[row * N + col] ="),
        (TRANSPOSED, Level.BLOCK, "acc +=", Stage.PRODUCT, "acc +="),
        (TRANSPOSED, Level.BLOCK, "Bs[tx][ty] =", Stage.COPY, "Bs[tx][ty] ="),
        (TILED, Level.WARP, "float acc", Stage.COPY, "As[ty][tx] ="),  # the first that has lanes
        (TILED, Level.WARP, "As[ty][tx] =", Stage.COPY, "As[ty][tx] ="),
        (TILED, Level.WARP, "__syncthreads", Stage.THREADS, "__syncthreads"),
        (TILED, Level.WARP, "acc +=", Stage.BANKS, "acc +="),
        (NAIVE, Level.WARP, "acc +=", Stage.COPY, "acc +="),
        (TRANSPOSED, Level.WARP, "Bs[tx][ty] =", Stage.BANKS, "Bs[tx][ty] ="),
    ],
)
def test_a_level_that_is_held_shows_of_each_step_what_is_on_it(
    query: dict[str, Any], level: Level, line: str, stage: Stage, subject: str
) -> None:
    lecture = of_query(**query)
    found = stages(lecture, level)
    steps = [s for s in lecture.steps_of(line) if s.kind in (StepKind.RUN, StepKind.BARRIER)]
    assert steps
    assert {found.of(step) for step in steps} == {stage}
    assert all(subject in lecture.line(found.subject(step)) for step in steps)


def test_a_step_is_seen_at_its_level() -> None:
    held: Held | None
    for query, held, line, level in (
        (TILED, None, "float acc", Level.BLOCK),  # the board stays while a register is set
        (TILED, None, "__syncthreads", Level.BLOCK),  # it stays above the gate, too
        (TILED, Stage.REGISTERS, "acc +=", Stage.REGISTERS),
        (TILED, Stage.GRID, "acc +=", Stage.GRID),
        (TILED, Stage.COSTS, "acc +=", Stage.GRID),
        (TILED, Stage.THREADS, "acc +=", Level.WARP),
        (TRANSPOSED, None, "acc +=", Level.WARP),
        (TRANSPOSED, Level.BLOCK, "acc +=", Level.BLOCK),
    ):
        lecture = of_query(Look(stage=held), **query)
        step = lecture.steps_of(line)[0]
        assert lecture.sheet.level_of(step) == level, (held, line)
        is_said = "zoom:" in lecture.sheet.title(step)
        assert is_said == (held is not None)


def test_each_stage_is_seen_somewhere() -> None:
    shown = {
        stages(lecture).of(step)
        for lecture in (of_query(**TILED), of_query(**TRANSPOSED))
        for step in lecture.steps
    }
    # Clock, costs and the grid are only held; these kernels do not use the tensor core.
    assert shown == set(Stage) - {Stage.CLOCK, Stage.COSTS, Stage.GRID, Stage.TENSOR}


def test_each_part_of_a_loops_first_clause_is_shown_on_the_stage_of_the_loop() -> None:
    code = """__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
    for (int i = 0, j = 8; i < 2; ++i)
        C[8 * i + threadIdx.x] = A[j];
}"""
    lecture = of_code(code, 8, 0)
    first, second, *_ = lecture.steps_of("for (int i")
    assert isinstance(first.statement, Declare)
    assert isinstance(second.statement, Declare)
    of = stages(lecture).of
    assert of(first) is of(second) is Stage.STORE


def test_a_loop_that_sets_sums_to_zero_is_on_no_stage_of_what_follows_the_tiles() -> None:
    code = """__global__ void k(const float* A, const float* B, float* C, int M, int N, int K) {
    float sums[2];
    for (int i = 0; i < 2; ++i)
        sums[i] = 0;
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < 2; ++i)
            sums[i] += A[K * threadIdx.x + k] * B[N * k + i];
    C[threadIdx.x] = sums[0] + sums[1];
}"""
    lecture = of_code(code, 8, 0)
    of, (first, *_) = stages(lecture).of, lecture.steps_of("for (int k")
    assert {of(step) for step in lecture.steps[: first.number]} == {Stage.REGISTERS}
    assert of(lecture.steps[-1]) is Stage.STORE
