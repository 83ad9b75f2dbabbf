"""A step for a class: its line's numbers and its spoken sentence, against NumPy's numbers."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

from simulator import Launch, Recording, Step, catalogue, compile_kernel, narrate, record
from simulator.language.ctype import Array
from simulator.language.tree import Barrier
from simulator.machine.observer import StepKind
from simulator.machine.schedule import Schedule

Dim3 = tuple[int, int, int]


@functools.cache
def recorded(
    name: str,
    M: int,
    N: int,
    K: int,
    block: Dim3 = (0, 0, 0),
    schedule: Schedule = Schedule.LOCKSTEP,
    **defines: int,
) -> Recording:
    """A kernel on A that counts up from 1 and B that counts down to 1."""
    entry = catalogue()[name]
    arguments: dict[str, Any] = {
        "A": np.arange(1, M * K + 1).reshape(M, K),
        "B": np.arange(K * N, 0, -1).reshape(K, N),
        "C": np.zeros((M, N)), "M": M, "N": N, "K": K,
    }  # fmt: skip
    kernel = compile_kernel(entry.source(**defines), entry.kernel)
    return record(kernel, entry.launch(arguments, **defines), block, schedule)


def steps_of(recording: Recording, fragment: str) -> list[Step]:
    lines = recording.kernel.text.split("\n")
    return [step for step in recording.steps if fragment in lines[step.line - 1]]


def values(recording: Recording, step: Step, thread: int) -> tuple[str, ...]:
    return narrate.values(recording, step, thread)


def spoken(recording: Recording, step: Step, thread: int) -> tuple[str, ...]:
    return narrate.spoken(recording, step, thread)


# A thread's steps, by hand: A is 1 2 3 4 / 5 6 7 8 / ..., B is 16 15 14 13 / 12 11 10 9 / ...
STORY = [
    ("int tx", 0, "tx = 1", "sets tx = 1."),
    ("int row", 0, "row = 0 × 2 + 1 = 1", "sets row = 0 × 2 + 1 = 1."),
    ("int col", 0, "col = 1 × 2 + 1 = 3", "sets col = 1 × 2 + 1 = 3."),
    ("float acc", 0, "acc = 0", "sets acc = 0."),
    ("for (int t", 0, "t = 0", "sets t = 0."),
    ("for (int t", 1, "0 < (4 + 2 − 1) / 2 = 2 is true",
     "tests 0 < (4 + 2 − 1) / 2 = 2: true, so the loop goes on."),
    ("int a_col", 1, "a_col = 1 × 2 + 1 = 3", "sets a_col = 1 × 2 + 1 = 3."),
    ("As[ty][tx] =", 0, "As[1][1] = A[5] = 6",
     "copies A[5] = 6, row 1 and column 1 of A, from global memory to As[1][1]."),
    ("As[ty][tx] =", 1, "As[1][1] = A[7] = 8",
     "copies A[7] = 8, row 1 and column 3 of A, from global memory to As[1][1]."),
    ("Bs[ty][tx] =", 1, "Bs[1][1] = B[15] = 1",
     "copies B[15] = 1, row 3 and column 3 of B, from global memory to Bs[1][1]."),
    ("__syncthreads", 0, None,
     "reaches the barrier: all 4 threads of the block are there and go on."),
    ("acc +=", 0, "65 = 0 + 5 × 13",
     "adds As[1][0] × Bs[0][1] = 5 × 13 to its sum acc, now 65."),
    ("acc +=", 1, "119 = 65 + 6 × 9", "adds As[1][1] × Bs[1][1] = 6 × 9 to its sum acc, now 119."),
    ("acc +=", 3, "162 = 154 + 8 × 1",
     "adds As[1][1] × Bs[1][1] = 8 × 1 to its sum acc, now 162."),
    ("for (int k", 2, "k = 1", "adds 1 to k, now 1."),
    ("for (int k", 5, "2 < 2 is false", "tests 2 < 2: false, so the loop ends."),
    ("if (row", 0, "1 < 4 && 3 < 4 is true", "tests 1 < 4 && 3 < 4: true."),
    ("C[row * N", 0, "C[7] = 162",
     "stores acc = 162 in C[7], row 1 and column 3 of C, in global memory."),
]  # fmt: skip


@pytest.mark.parametrize(("line", "which", "numbers", "sentence"), STORY)
def test_a_threads_story(line: str, which: int, numbers: str | None, sentence: str) -> None:
    recording = recorded("tiled", 4, 4, 4, (1, 0, 0), TILE=2)
    step, thread = steps_of(recording, line)[which], 3
    assert values(recording, step, thread)[:1] == (() if numbers is None else (numbers,))
    assert spoken(recording, step, thread)[0] == sentence


TILED = [
    ("tiled", 8, 8, 8, (1, 0, 0), 4),
    ("tiled", 5, 7, 3, (1, 1, 0), 4),
    ("tiled", 4, 4, 4, (0, 1, 0), 2),
    ("tiled_double", 6, 7, 5, (1, 1, 0), 4),
    pytest.param("tiled", 16, 16, 16, (0, 1, 0), 8, marks=pytest.mark.deep),
]
EACH_TILED = pytest.mark.parametrize(("name", "M", "N", "K", "block", "tile"), TILED)


@EACH_TILED
def test_products_of_tiles_are_numpys(
    name: str, M: int, N: int, K: int, block: Dim3, tile: int
) -> None:
    recording = recorded(name, M, N, K, block, TILE=tile)
    tiles = -(-K // tile)
    A, B = (np.pad(recording.arguments[n], 2 * tile).astype(int) for n in "AB")
    A, B = A[2 * tile :, 2 * tile :], B[2 * tile :, 2 * tile :]  # zeros past the edges
    steps = steps_of(recording, "acc +=")
    assert len(steps) == tiles * tile
    for number, step in enumerate(steps):
        k = number % tile
        for thread in range(0, tile * tile, 1 if tile < 8 else 37):
            ty, tx = divmod(thread, tile)
            row, col = block[1] * tile + ty, block[0] * tile + tx
            a, b = A[row, number], B[number, col]
            old = int(A[row, :number] @ B[:number, col])
            new = old + a * b
            assert values(recording, step, thread) == (f"{new} = {old} + {a} × {b}", f"acc = {new}")
            assert spoken(recording, step, thread) == (
                f"adds As[{ty}][{k}] × Bs[{k}][{tx}] = {a} × {b} to its sum acc, now {new}.",
                f"adds {a} × {b} to its sum acc, now {new}.",
                f"adds {a} × {b}: acc = {new}.",
            )


@EACH_TILED
def test_copies_and_zeros_past_the_edges_are_numpys(
    name: str, M: int, N: int, K: int, block: Dim3, tile: int
) -> None:
    recording = recorded(name, M, N, K, block, TILE=tile)
    zeros = 0
    for target, matrix in (("As", "A"), ("Bs", "B")):
        held = recording.arguments[matrix]
        for t, step in enumerate(steps_of(recording, f"{target}[ty][tx] =")):
            for thread in range(0, tile * tile, 1 if tile < 8 else 37):
                ty, tx = divmod(thread, tile)
                if matrix == "A":
                    row, column = block[1] * tile + ty, t * tile + tx
                else:
                    row, column = t * tile + ty, block[0] * tile + tx
                cell = f"{target}[{ty}][{tx}]"
                if row < held.shape[0] and column < held.shape[1]:
                    source = f"{matrix}[{row * held.shape[1] + column}]"
                    number = int(held[row, column])
                    assert values(recording, step, thread)[0] == f"{cell} = {source} = {number}"
                    assert spoken(recording, step, thread) == (
                        f"copies {source} = {number}, row {row} and column {column} of {matrix}, "
                        f"from global memory to {cell}.",
                        f"copies {source} = {number} from global memory to {cell}.",
                        f"copies {source} = {number} to {cell}.",
                        f"copies {source} to {cell}.",
                    )
                else:
                    zeros += 1
                    assert values(recording, step, thread)[0] == f"{cell} = 0"
                    assert spoken(recording, step, thread) == (
                        f"writes 0 to {cell}: here the tile reaches past the edge of {matrix}.",
                        f"writes 0 to {cell}: past the edge of {matrix}.",
                        f"writes 0 to {cell}.",
                    )
    is_ragged = any(size % tile for size in (M, N, K))
    assert (zeros > 0) == is_ragged


@EACH_TILED
def test_stores_are_numpys_and_threads_past_the_edge_have_finished(
    name: str, M: int, N: int, K: int, block: Dim3, tile: int
) -> None:
    recording = recorded(name, M, N, K, block, TILE=tile)
    [step] = steps_of(recording, "C[row * N + col] =")
    product = recording.arguments["A"].astype(int) @ recording.arguments["B"].astype(int)
    for thread in range(tile * tile):
        row, column = block[1] * tile + thread // tile, block[0] * tile + thread % tile
        if row < M and column < N:
            number, cell = product[row, column], f"C[{row * N + column}]"
            assert values(recording, step, thread) == (f"{cell} = {number}",)
            assert spoken(recording, step, thread) == (
                f"stores acc = {number} in {cell}, row {row} and column {column} of C, in global "
                "memory.",
                f"stores acc = {number} in {cell}, in global memory.",
                f"stores {number} in {cell}.",
            )
        else:
            assert values(recording, step, thread) == ()
            assert spoken(recording, step, thread) == (
                "has finished; others run this line.",
                "has finished.",
            )


IDLE = {
    "barrier": ("waits at the barrier while others run this line.", "waits at the barrier."),
    "open": (
        "has waited at the barrier: the last of the block's 64 threads has arrived, and all go on.",
        "has waited at the barrier: all go on.",
    ),
    "finished": ("has finished; others run this line.", "has finished."),
    "not this line": ("does not take part in this line, while other threads of its warp do.",
                      "does not take part in this line."),
    "another warp": ("waits for its turn: another warp runs this line.", "waits for its turn."),
}  # fmt: skip


@pytest.mark.parametrize("schedule", [Schedule.ASCENDING, Schedule.DESCENDING])
def test_an_idle_thread_says_why(schedule: Schedule) -> None:
    recording = recorded("tiled", 11, 13, 9, (1, 1, 0), schedule, TILE=8)
    threads = recording.launch.threads
    last = {t: max(s.number for s in recording.steps if s.active[t]) for t in range(threads)}
    at_barrier: set[int] = set()
    interval, found = 0, set()
    for step in recording.steps:
        if step.interval != interval:
            at_barrier, interval = set(), step.interval
        running = set(np.flatnonzero(step.active).tolist())
        for thread in set(range(threads)) - running:
            if thread in at_barrier:
                is_open = isinstance(step.statement, Barrier) and (
                    len(at_barrier | running) == threads
                )
                why = "open" if is_open else "barrier"
            elif last[thread] < step.number:
                why = "finished"
            elif any(other // 32 == thread // 32 for other in running):
                why = "not this line"
            else:
                why = "another warp"
            assert spoken(recording, step, thread) == IDLE[why], (step.number, thread)
            found.add(why)
        if isinstance(step.statement, Barrier):
            at_barrier |= running
    assert found >= {"barrier", "open", "finished", "another warp"}


def test_the_dearest_request_of_a_warp_is_named_first() -> None:
    recording = recorded("transposed", 32, 32, 32, TILE=32)
    step = steps_of(recording, "acc +=")[0]
    assert narrate.warp(recording, step, 0) == (
        "Warp 0, all 32 lanes: reads Bs: 32-way bank conflict, 32 wavefronts; "
        "reads As: one word for all (broadcast), 1 wavefront.",
        "Warp 0, all 32 lanes: reads Bs: 32-way bank conflict, 32 wavefronts.",
    )


def test_a_thread_of_the_naive_kernel_reads_both_factors_from_global_memory() -> None:
    recording = recorded("naive", 8, 32, 3)
    A, B = (recording.arguments[name].astype(int) for name in "AB")
    thread, row, column = 2 * 32 + 5, 2, 5
    for k, step in enumerate(steps_of(recording, "acc +=")):
        old = int(A[row, :k] @ B[:k, column])
        new = old + A[row, k] * B[k, column]
        assert values(recording, step, thread)[0] == f"{new} = {old} + {A[row, k]} × {B[k, column]}"
        assert spoken(recording, step, thread)[0] == (
            f"adds A[{row * 3 + k}] × B[{k * 32 + column}] = {A[row, k]} × {B[k, column]} "
            f"to its sum acc, now {new}."
        )


@pytest.mark.parametrize(
    ("called", "own"),
    [("sum", "its sum"), ("sums", "its sums"), ("summed", "its sum summed"), ("s", "its sum s")],
)
def test_a_sum_that_is_called_sum_is_named_once(called: str, own: str) -> None:
    entry = catalogue()["naive"]
    text = re.sub(r"\bacc\b", called, entry.source())
    arguments = {"A": np.ones((2, 2)), "B": np.ones((2, 2)), "C": np.zeros((2, 2)),
                 "M": 2, "N": 2, "K": 2}  # fmt: skip
    recording = record(compile_kernel(text, entry.kernel), entry.launch(arguments), (0, 0, 0))
    long, middle, short = spoken(recording, steps_of(recording, f"{called} +=")[0], 0)
    assert long == f"adds A[0] × B[0] = 1 × 1 to {own}, now 1."
    assert middle == f"adds 1 × 1 to {own}, now 1."
    assert short == f"adds 1 × 1: {called} = 1."


def four(numbers: Array) -> str:
    return f"({', '.join(str(int(number)) for number in numbers)})"


def test_asynchronous_copies_begin_and_arrive() -> None:
    recording = recorded("pipelined", 8, 8, 8, TILE=8, DEPTH=4, EACH=4)
    A, B = (recording.arguments[name].astype(int) for name in "AB")
    begun = steps_of(recording, "__pipeline_memcpy_async(to, row + first, 16)")
    assert len(begun) == 2 * (2 + 2)
    for thread in range(4):
        # Each of four threads copies two rows of four of each tile: A's rows, then B's.
        cells = [
            *(("A", thread + 4 * i, 0, A) for i in range(2)),
            *(("B", (thread + 4 * i) // 2, (thread + 4 * i) % 2 * 4, B) for i in range(2)),
        ]
        for step, (name, row, first, matrix) in zip(begun, cells, strict=False):
            moved = f"{name}[{row * 8 + first}] = {four(matrix[row, first : first + 4])}"
            assert values(recording, step, thread) == (moved,)
            assert spoken(recording, step, thread) == (
                f"starts to copy {moved} to shared memory and does not wait for it.",
                f"starts to copy {name}[{row * 8 + first}] and does not wait for it.",
            )
        wait = steps_of(recording, "__pipeline_wait_prior")[0]
        arrived = f"As[0][{thread}][0] = {four(A[thread, :4])}"
        assert values(recording, wait, thread) == (arrived,)
        assert spoken(recording, wait, thread) == (
            f"waits until its copy has arrived: {arrived}.",
            "waits until its copy has arrived.",
        )
    [*_, last] = steps_of(recording, "__pipeline_wait_prior")
    assert not last.accesses
    assert spoken(recording, last, 0) == ("waits until its copies have arrived.",)
    commit = steps_of(recording, "__pipeline_commit")[0]
    assert spoken(recording, commit, 0) == ("closes a group of copies, which it can wait for.",)
    assert values(recording, commit, 0) == ()


def test_a_copy_that_reads_nothing_fills_a_tile_with_zeros() -> None:
    """Beyond K the last rung still copies, with all bytes of each copy as zeros."""
    recording = recorded("anyshape", 16, 32, 8)
    copies = steps_of(recording, "__pipeline_memcpy_async")
    said = {spoken(recording, step, 0) for step in copies if step.active[0]}
    assert ("starts to fill a part of the tile with zeros and does not wait for it.",) in said
    assert not any("a_from" in sentence for sentences in said for sentence in sentences)


def test_copies_of_rows_that_four_do_not_divide_are_of_one_value_each() -> None:
    recording = recorded("pipelined", 8, 6, 5, TILE=8, DEPTH=4, EACH=4)
    A = recording.arguments["A"].astype(int)
    begun = steps_of(recording, "__pipeline_memcpy_async(to + i, row + first + i, 4)")
    for i, step in enumerate(begun[:4]):
        assert values(recording, step, 2) == (f"A[{2 * 5 + i}] = {A[2, i]}",)
        assert spoken(recording, step, 2)[1] == (
            f"starts to copy A[{2 * 5 + i}] and does not wait for it."
        )
    filled = [step for step in steps_of(recording, "to[i] = 0.0f") if step.active[2]]
    assert filled
    assert values(recording, filled[0], 2)[-1].endswith("= 0")
    assert spoken(recording, filled[0], 2)[-1].startswith("stores 0 in As[")


def test_a_function_returns_its_value() -> None:
    recording = recorded("vectors", 8, 8, 8)
    [step, *_] = steps_of(recording, "return first < count")
    A = recording.arguments["A"].astype(int)
    assert spoken(recording, step, 0) == (
        f"returns {four(A[0, :4])} from load_four.", f"returns {four(A[0, :4])}.",
    )  # fmt: skip


def test_a_vector_is_stored_and_read_as_four_numbers() -> None:
    recording = recorded("pipelined", 8, 8, 8, TILE=8, DEPTH=4, EACH=4)
    A, B = (recording.arguments[name].astype(int) for name in "AB")
    product = A @ B
    stores = steps_of(recording, "*reinterpret_cast<float4*>(row + first) = value")
    assert len(stores) == 4
    for thread in range(4):
        ty, tx = divmod(thread, 2)
        for i, step in enumerate(stores):
            row, first = i * 2 + ty, tx * 4
            numbers = four(product[row, first : first + 4])
            cell = f"C[{row * 8 + first}]"
            assert values(recording, step, thread)[0].startswith(f"{cell} = ")
            assert values(recording, step, thread)[0].endswith(numbers)
            assert spoken(recording, step, thread)[0] == (
                f"stores value = {numbers} in {cell}, row {row} and column {first} of C, "
                "in global memory."
            )
        read = steps_of(recording, "*reinterpret_cast<float4*>(&b[j]) =")[0]
        assert spoken(recording, read, thread)[-2] == (
            f"copies Bs[0][0][{tx * 4}] = {four(B[0, tx * 4 : tx * 4 + 4])} to b[0]."
        )


TEXT = """__global__ void k(float* A, const float* B, float* C, int M, int N, int K) {
    int i = threadIdx.x;
    C[60 * i] = 7;
    float v = B[90 * i];
    if (i < 2)
        C[i] = v;
    else
        C[i] = 4;
    for (int j = 0; j < 9; ++j) {
        if (j == i)
            continue;
        if (j > 2)
            break;
        A[i] += j;
    }
    float u;
    float2 p = make_float2(v, 2);
    u = p.y;
    if (i > 0)
        return;
    __syncthreads();
}"""


@functools.cache
def odd() -> Recording:
    arguments = {
        "A": np.ones((6, 10), np.float32), "B": np.full((10, 8), 3, np.float32),
        "C": np.zeros((6, 8), np.float32), "M": 6, "N": 8, "K": 10,
    }  # fmt: skip
    return record(compile_kernel(TEXT, "k"), Launch((1, 1, 1), (4, 1, 1), arguments), (0, 0, 0))


@pytest.mark.parametrize(
    ("line", "which", "thread", "sentences"),
    [
        ("C[60 * i]", 0, 0, ("stores 7 in C[0], row 0 and column 0 of C, in global memory.",
                             "stores 7 in C[0], in global memory.", "stores 7 in C[0].")),
        ("C[60 * i]", 0, 1, ("writes outside C; the access is dropped.",)),
        ("B[90 * i]", 0, 0, ("reads B[0] = 3 from global memory into v.", "reads B[0] into v.")),
        ("B[90 * i]", 0, 2, ("reads outside B; the access is dropped.",)),
        ("if (i < 2)", 0, 1, ("tests 1 < 2: true.", "true.")),
        ("if (i < 2)", 0, 3, ("tests 3 < 2: false, so it takes the else branch.",
                              "false, so it takes the else branch.")),
        ("C[i] = v", 0, 3, ("does not take part in this line, while other threads of its warp do.",
                            "does not take part in this line.")),
        ("C[i] = 4", 0, 3, ("stores 4 in C[3], row 0 and column 3 of C, in global memory.",
                            "stores 4 in C[3], in global memory.", "stores 4 in C[3].")),
        ("continue", 0, 0, ("goes on with the loop's next iteration.",)),
        ("break", 0, 3, ("leaves the loop.",)),
        ("float u;", 0, 0, ("gets a register for u, which has no value yet.",)),
        ("return", 0, 2, ("has finished.",)),
        ("__syncthreads", 0, 0, ("waits at the barrier: 1 of the block's 4 threads have arrived.",
                                 "waits at the barrier.")),
    ],
)  # fmt: skip
def test_the_words_of_each_kind_of_statement(
    line: str, which: int, thread: int, sentences: tuple[str, ...]
) -> None:
    recording = odd()
    steps = [s for s in steps_of(recording, line) if s.active[thread]] or steps_of(recording, line)
    assert spoken(recording, steps[which], thread) == sentences


@pytest.mark.parametrize(
    "name", ["naive", "tiled", "transposed", "rows", "registers", "vectors", "pipelined"]
)
def test_wordings_are_sentences_the_longest_first(name: str) -> None:
    entry = catalogue()[name]
    recording = recorded(name, 8, 8, 4, **entry.teaching[0])
    for step in recording.steps:
        for thread in (0, recording.launch.threads - 1):
            sentences, texts = (f(recording, step, thread) for f in (spoken, values))
            assert sentences
            assert all(text[0].islower() and text.endswith(".") for text in sentences)
            assert not any("..." in text or "  " in text or "None" in text for text in sentences)
            lengths = [len(text) for text in sentences]
            assert lengths == sorted(lengths, reverse=True)
            assert [len(text) for text in texts] == sorted(map(len, texts), reverse=True)
            assert len({*sentences}) == len(sentences)
            if not step.active[thread] or isinstance(step.statement, Barrier):
                assert texts == ()
            if step.kind is StepKind.TEST and step.active[thread]:
                assert texts[0].endswith((" is true", " is false"))


@pytest.mark.parametrize(
    ("name", "line", "arrays"),
    [
        ("pipelined", "*reinterpret_cast<float4*>(a[i]) =",
         ["a[0][0]", "a[1][0]", "a[2][0]", "a[3][0]"]),
        ("warptiles", "rows[lane / 8 * pitch", ["acc[0][0]", "acc[0][1]", "acc[0][2]"]),
    ],
)  # fmt: skip
def test_a_cell_of_a_threads_array_has_as_many_indices_as_the_source(
    name: str, line: str, arrays: list[str]
) -> None:
    recording = recorded(name, 16, 32, 8, **catalogue()[name].teaching[0])
    steps = steps_of(recording, line)
    texts = [values(recording, step, 0)[0] for step in steps[: len(arrays)]]
    assert [array in text.split(" = ") for array, text in zip(arrays, texts, strict=True)] == [
        True for _ in arrays
    ], texts
    rows = [text for step in steps for text in values(recording, step, 0)]
    assert not [text for text in rows if re.search(r"\b(?:acc|a)\[\d+\](?!\[)", text)]


def test_the_numbers_of_a_dropped_access_are_not_those_of_one_that_was_made() -> None:
    recording = odd()
    [store] = steps_of(recording, "C[60 * i]")
    assert values(recording, store, 0) == ("C[0] = 7",)
    for thread in (1, 2, 3):  # outside C: nothing is stored there, and 0 was not the value
        assert not [text for text in values(recording, store, thread) if "= 0" in text]


@pytest.mark.parametrize(
    ("name", "line", "wrong"),
    [
        ("registers", "float a[EACH]", "a register for a"),  # it is an array of them
        ("warptiles", "coming += DEPTH", "its sum coming"),  # a whole number that counts
    ],
)
def test_words_fit_arrays_of_registers_and_counters(name: str, line: str, wrong: str) -> None:
    recording = recorded(name, 16, 32, 8, **catalogue()[name].teaching[0])
    step = steps_of(recording, line)[0]
    assert not [text for text in spoken(recording, step, 0) if wrong in text]


SIGNS = {
    "×": "*", "−": "-", "≠": "!=", "≥": ">=", "≤": "<=", "&&": " and ", "||": " or ", "/": "//",
    "true": "True", "false": "False",
}  # fmt: skip


def evaluate(text: str) -> float | None:
    """The value of an expression of whole numbers; None if it has names, or vectors."""
    for sign, python in SIGNS.items():
        text = text.replace(sign, python)
    words = set(re.findall(r"[A-Za-z_&]\w*", text)) - {"and", "or", "min", "True", "False"}
    if words or not re.fullmatch(r"[\w\s+*/%<>=!(),-]+", text):
        return None
    value = eval(text, {"min": min, "__builtins__": {}})  # noqa: S307  # of numbers alone
    return None if isinstance(value, tuple) else float(value)


@pytest.mark.parametrize(
    ("name", "sizes", "block"),
    [
        ("naive", (8, 32, 3), (0, 0, 0)),
        ("tiled", (5, 7, 3), (1, 1, 0)),
        ("tiled_double", (6, 7, 5), (0, 0, 0)),
        ("transposed", (8, 8, 8), (0, 0, 0)),
        ("swizzled", (9, 8, 10), (0, 1, 0)),
        ("rows", (7, 9, 6), (0, 0, 0)),
        ("registers", (9, 10, 5), (0, 1, 0)),
        ("vectors", (8, 8, 4), (0, 0, 0)),
        ("pipelined", (8, 6, 5), (0, 0, 0)),
        ("warptiles", (16, 32, 8), (0, 0, 0)),
    ],
)
def test_every_equation_of_whole_numbers_is_true(
    name: str, sizes: tuple[int, int, int], block: Dim3
) -> None:
    recording = recorded(name, *sizes, block, **catalogue()[name].teaching[0])
    equations = 0
    for thread in (0, recording.launch.threads - 1):
        for step in recording.steps:
            for text in values(recording, step, thread):
                if match := re.fullmatch("(.*) is (true|false)", text):
                    holds = evaluate(match[1].replace(" = ", " == "))
                    assert holds is None or bool(holds) == (match[2] == "true"), text
                    equations += holds is not None
                else:
                    found = [evaluate(side) for side in text.split(" = ")]
                    numbers = {number for number in found if number is not None}
                    assert len(numbers) <= 1, (step.number, text)
                    equations += len([number for number in found if number is not None]) > 1
    assert equations >= 20


SWITCH = """__global__ void k(const int* in, int* out) {
    int v = 0;
    for (int i = 0; i < 1; ++i) {
        switch (in[threadIdx.x]) {
        case 0: v = 1;
            break;
        case 5: v = 2;
        }
        if (v == 2) break;
    }
    out[threadIdx.x] = __ballot_sync(0xf, v == 1);
}"""


@pytest.mark.parametrize(
    ("line", "thread", "sentence"),
    [
        ("switch", 0, "finds 0 and goes to case 0."),
        ("switch", 1, "finds 5 and goes to case 5."),
        ("switch", 2, "finds 7 and skips the switch."),
        ("            break", 0, "leaves the switch."),
        ("if (v", 0, "tests 1 == 2: false, so it skips the body of the if."),
        (") break", 1, "leaves the loop."),
        ("__ballot", 0, "stores 1 in out[0], in global memory."),
    ],
)
def test_a_switch_and_the_two_kinds_of_break(line: str, thread: int, sentence: str) -> None:
    arrays = {"in": np.array([0, 5, 7, 7], np.int32), "out": np.zeros(4, np.int32)}
    launch = Launch((1, 1, 1), (4, 1, 1), arrays)
    recording = record(compile_kernel(SWITCH, "k"), launch, (0, 0, 0))
    step = [step for step in steps_of(recording, line) if step.active[thread]][-1]
    assert spoken(recording, step, thread)[0] == sentence
