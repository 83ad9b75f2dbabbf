"""Recordings: every step of a block, and how everything stood after it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from simulator import Kernel, Launch, Recording, SourceError, narrate, record, simulate
from simulator.language.tree import Barrier
from tests.simulator.launches import launch_text, matmul

GOLDEN = Path(__file__).parent / "golden"


def numeric_example() -> tuple[Kernel, Launch]:
    """A 4x4 product with 2x2 tiles, A and B counted 1 to 16 up and down."""
    kernel, launch = matmul("tiled", 4, 4, 4, TILE=2)
    numbers = np.arange(1, 17, dtype=np.float32)
    arguments = dict(launch.arguments)
    arguments["A"], arguments["B"] = numbers.reshape(4, 4), numbers[::-1].reshape(4, 4).copy()
    return kernel, Launch(launch.grid, launch.block, arguments)


def text_of(recording: Recording, thread: int) -> str:
    lines = []
    for step in recording.steps:
        where = " ".join(f"{p.variable}={p.value}" for p in step.loops)
        said = narrate.spoken(recording, step, thread)[0]
        lines.append(f"{step.number:>3} {step.kind:<7} line {step.line:<2} {where:<8} {said}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", ["tiled", "naive"])
def test_narration_is_golden(name: str) -> None:
    """TILEWISE_RENEW=1 writes the golden text anew; read the difference before keeping it."""
    kernel, launch = numeric_example() if name == "tiled" else matmul("naive", 3, 3, 3)
    found = text_of(record(kernel, launch), thread=1)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("TILEWISE_RENEW"):
        path.write_text(found, encoding="utf-8", newline="\n")
    assert found == path.read_text(encoding="utf-8")


def test_block_ends_as_the_launch_does() -> None:
    kernel, launch = matmul("tiled", 10, 9, 7, TILE=4)
    whole = simulate(kernel, launch).arrays["C"]
    recording = record(kernel, launch, (1, 2, 0))
    last = recording.steps[-1]
    assert np.array_equal(last.outputs["C"][8:10, 4:8], whole[8:10, 4:8])
    assert np.argwhere(last.stored["C"]).tolist() == [[r, c] for r in (8, 9) for c in range(4, 8)]
    assert np.isnan(last.outputs["C"]).sum() == 90 - 8
    assert list(last.registers) == ["M", "N", "K", "tx", "ty", "row", "col", "acc"]


def test_steps_do_not_change_afterwards() -> None:
    recording = record(*numeric_example())
    first_loads = next(s for s in recording.steps if s.written["Bs"].all())
    assert first_loads.shared["As"].tolist() == [[1, 2], [5, 6]]
    assert first_loads.shared["Bs"].tolist() == [[16, 15], [12, 11]]
    accumulators = [s.registers["acc"][0] for s in recording.steps if "acc" in s.registers]
    assert 40 in accumulators, "1*16 + 2*12, the first cell after the first tile"
    assert recording.steps[-1].shared["As"].tolist() == [[3, 4], [7, 8]]
    barriers = [s for s in recording.steps if isinstance(s.statement, Barrier)]
    assert [s.interval for s in barriers] == [0, 1, 2, 3]


def test_accesses_and_parts_of_a_statement() -> None:
    recording = record(*numeric_example())
    step = next(s for s in recording.steps if s.line == 26)
    assert [(a.kind, a.name) for a in step.accesses] == [("load", "As"), ("load", "Bs")]
    assert step.accesses[0].offsets.tolist() == [0, 0, 8, 8]
    assert step.accesses[1].values.tolist() == [16, 15, 16, 15]
    assert step.accesses[1].active.all()
    assert [part.values[1] for part in step.evaluations] == [0, 0, 1, 0, 1, 15, 15], (
        "ty, k and As[ty][k]; k, tx and Bs[k][tx]; then acc"
    )


def test_ragged_edge_shows_who_is_inactive() -> None:
    recording = record(*matmul("tiled", 3, 3, 3, TILE=4))
    load = next(s for s in recording.steps if s.line == 21)
    loaded = next(a for a in load.accesses if a.name == "A")
    assert loaded.active.reshape(4, 4).sum() == 9
    store = recording.steps[-1]
    assert store.active.sum() == 9
    assert narrate.spoken(recording, store, 3)[0] == "has finished; others run this line."


def test_warp_by_warp_shows_the_stale_value() -> None:
    kernel, launch = matmul("tiled", 16, 16, 32, (("__syncthreads();", ";"),))
    lockstep = record(kernel, launch).steps[-1].outputs["C"]
    by_warp = record(kernel, launch, schedule="ascending").steps[-1].outputs["C"]
    exact = launch.arguments["A"].astype(float) @ launch.arguments["B"]
    assert np.abs(lockstep - exact).max() < 1e-4, "lockstep hides the missing barrier"
    assert np.abs(by_warp - exact).max() > 1


def test_an_endless_loop_is_named() -> None:
    text = "__global__ void k(int n) {\nfor (int i = 0; i < n; --i)\nn += 0;\n}"
    kernel, launch = launch_text(text, n=1)
    with pytest.raises(SourceError, match=r"20,000 steps.* The loop of line 2 has run 6,"):
        record(kernel, launch)


@pytest.mark.deep
def test_a_loop_of_few_rounds_is_no_suspect() -> None:
    kernel, launch = matmul("warptiles", 64, 64, 64, ROWS=16)
    with pytest.raises(SourceError) as said:
        record(kernel, launch)
    assert str(said.value).endswith("20,000 steps; choose smaller sizes.")


def body(text: str, threads: int) -> Recording:
    """What a kernel of this body does, which writes to `out`."""
    source = f'extern "C" __global__ void k(float *out) {{\n{text}\n}}'
    return record(*launch_text(source, block=threads, out=np.zeros(threads, np.float32)))


def test_a_position_holds_whole_numbers_only() -> None:
    recording = body(
        "for (float x = 1e30f; x < INFINITY; x *= 1e30f) out[0] = x;\n"
        "for (int i = threadIdx.x; i < 16; i += 8) out[1] = i;\n"
        "for (int i = 6; i < 7; i++) out[2] = i;",
        threads=8,
    )
    found: dict[int, set[int | None]] = {}
    for step in recording.steps:
        for position in step.loops:
            found.setdefault(position.loop.span.line, set()).add(position.value)
    assert found == {2: {None}, 3: {None}, 4: {6, 7}}


def test_a_thread_s_own_array_is_kept_as_each_step_left_it() -> None:
    recording = body(
        "float own[2] = {1, 2};\nown[threadIdx.x % 2] += 5;\nfloat x = own[0];\nown[1] = x;\n"
        "out[threadIdx.x] = own[1];",
        threads=2,
    )
    kept = [step.registers["own"] for step in recording.steps]
    assert [array.tolist() for array in kept] == [
        [[1, 2], [1, 2]],
        [[6, 2], [1, 7]],
        [[6, 2], [1, 7]],
        [[6, 6], [1, 1]],
        [[6, 6], [1, 1]],
    ]
    assert kept[1] is kept[2], "steps share what did not change"
