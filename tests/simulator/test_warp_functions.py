"""Warp functions: their values for every mask and type, what they order, and what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import narrate, record, simulate
from tests.simulator.launches import launch_text, run_text

LANE = np.arange(32)
TEXT = "__global__ void k({type}* x) {{ int i = threadIdx.x; {type} v = x[i]; {body} }}"
INTEGERS = {
    "int": np.int32,
    "unsigned int": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
}
TYPES = {**INTEGERS, "float": np.float32, "double": np.float64}


def run(body: str, values: Any, ctype: str = "int", threads: int = 32, blocks: int = 1) -> Any:
    x = np.asarray(values, TYPES[ctype])
    report = run_text(TEXT.format(type=ctype, body=body), grid=blocks, block=threads, x=x)
    return report.arrays["x"], report.hazards


@pytest.mark.parametrize("ctype", TYPES)
def test_a_shuffle_moves_every_bit_of_every_type(ctype: str) -> None:
    values = np.random.default_rng(1).integers(0, 256, 32 * 8, np.uint8).view(TYPES[ctype])[:32]
    found, hazards = run("x[i] = __shfl_sync(0xffffffff, v, 31 - i);", values, ctype)
    assert not hazards
    assert found.tobytes() == values[::-1].tobytes()


# What PTX's shfl makes of offsets: only their low five bits count.
@pytest.mark.parametrize(
    ("call", "source"),
    [
        ("__shfl_down_sync(0xffffffff, v, 33)", np.minimum(LANE + 1, 31)),
        ("__shfl_down_sync(0xffffffff, v, 32)", LANE),
        ("__shfl_up_sync(0xffffffff, v, 34)", np.where(LANE < 2, LANE, LANE - 2)),
        ("__shfl_xor_sync(0xffffffff, v, 16 + 32)", LANE ^ 16),
        ("__shfl_xor_sync(0xffffffff, v, 9, 8)", np.where(LANE ^ 9 > (LANE | 7), LANE, LANE ^ 9)),
        ("__shfl_sync(0xffffffff, v, -1)", np.full(32, 31)),
        ("__shfl_sync(0xffffffff, v, 9, 8)", LANE // 8 * 8 + 1),
        ("__shfl_down_sync(0xffffffff, v, 3, 4)", np.where(LANE % 4 == 0, LANE + 3, LANE)),
    ],
)
def test_a_shuffle_reads_the_lane_that_ptx_says(call: str, source: Any) -> None:
    found, hazards = run(f"x[i] = {call};", LANE * 3)
    assert not hazards
    assert found.tolist() == (source * 3).tolist()


def test_blocks_of_a_part_of_a_warp_do_not_read_each_other() -> None:
    found, _ = run(
        "x[blockIdx.x * 8 + i] = __shfl_down_sync(0xff, i + 10 * (int)blockIdx.x, 1, 8);",
        np.zeros(32),
        threads=8,
        blocks=4,
    )
    assert found.tolist() == [10 * b + min(i + 1, 7) for b in range(4) for i in range(8)]


def test_a_half_warp_shuffles_and_votes_for_itself() -> None:
    found, hazards = run(
        "if (i < 16) { v = __shfl_xor_sync(0xffff, v, 1); "
        " v += __any_sync(0xffff, i > 15) ? 100 : 0;"
        " v += __popc(__ballot_sync(0xffff, i & 1)); }"
        " else { v = __shfl_sync(0xffff0000, v, 16); v += __all_sync(0xffff0000, i > 15) * 1000; }"
        " x[i] = v;",
        LANE,
    )
    assert not hazards
    assert found.tolist() == np.where(LANE < 16, (LANE ^ 1) + 8, 16 + 1000).tolist()


def test_each_lane_names_its_own_part() -> None:
    found, hazards = run(
        "unsigned m = 0xffu << (i / 8 * 8); x[i] ="
        " (int)(__ballot_sync(m, i % 3 == 0) >> (i / 8 * 8))"
        " + 1000 * __any_sync(m, i == 9);",
        LANE,
    )
    bits = [sum(1 << j for j in range(8) if (part * 8 + j) % 3 == 0) for part in range(4)]
    assert not hazards
    assert found.tolist() == [bits[i // 8] + 1000 * (i // 8 == 1) for i in range(32)]


def test_votes_and_matches_beside_lanes_that_have_ended() -> None:
    body = (
        "if (i >= 20) return; unsigned m = __activemask(); "
        " int all = __all_sync(0xffffffff, i < 20);"
        " x[i] = (int)(m == 0xfffff) + 2 * all + 4 * (__ballot_sync(0xffffffff, 1) == 0xfffff)"
        " + 8 * (__match_any_sync(0xffffffff, i / 2) == 3u << (i / 2 * 2));"
    )
    found, hazards = run(body, LANE)
    assert not hazards
    assert found.tolist() == [15] * 20 + list(range(20, 32))


@pytest.mark.parametrize("ctype", TYPES)
def test_match_compares_bits(ctype: str) -> None:
    values = (LANE % 5).astype(TYPES[ctype])
    found, _ = run("x[i] = __popc(__match_any_sync(0xffffffff, v));", values, ctype)
    assert found.tolist() == [int((v == LANE % 5).sum()) for v in LANE % 5]


def test_a_zero_matches_no_zero_of_the_other_sign() -> None:
    values = np.where(LANE % 2, 0.0, -0.0)
    found, _ = run("x[i] = __match_any_sync(0xffffffff, v) == 0x55555555;", values, "float")
    assert found.tolist() == (1 - LANE % 2).tolist()


def test_match_all_gives_the_mask_and_sets_the_flag() -> None:
    body = (
        "int same, mixed; unsigned a = __match_all_sync(0xffffffff, v / 64, &same);"
        " unsigned b = __match_all_sync(0xffffffff, v, &mixed);"
        " x[i] = (a == 0xffffffff) + 2 * same + 4 * (b == 0) + 8 * (mixed == 0);"
    )
    found, hazards = run(body, LANE)
    assert not hazards
    assert found.tolist() == [15] * 32


REDUCTIONS = {
    "add": lambda values: values.sum(dtype=values.dtype),
    "min": np.min,
    "max": np.max,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


@pytest.mark.parametrize("ctype", ["int", "unsigned int"])
@pytest.mark.parametrize("operation", REDUCTIONS)
def test_a_reduction_joins_the_lanes_of_its_mask(operation: str, ctype: str) -> None:
    values = np.random.default_rng(2).integers(0, 2**32, 32, np.uint64).astype(np.uint32)
    values = values.view(TYPES[ctype])
    body = f"if (i % 3) x[i] = __reduce_{operation}_sync(__activemask(), v);"
    found, hazards = run(body, values, ctype)
    chosen = LANE % 3 != 0
    expected = values.copy()
    with np.errstate(over="ignore"):
        expected[chosen] = REDUCTIONS[operation](values[chosen])  # type: ignore[operator]
    assert not hazards
    assert found.tolist() == expected.tolist()


# The body, and each hazard: kind, lane of the example, a part of the message.
WRONG: dict[str, tuple[str, list[tuple[str, int, str]]]] = {
    "a mask without the caller": (
        "if (i < 4) x[i] = __ballot_sync(0x7, 1);",
        [("wrong-mask", 3, "does not name it, lane 3")],
    ),
    "a branch with a full mask": (
        "if (i < 16) v = __any_sync(0xffffffff, v);",
        [("wrong-mask", 0, "waits in __any_sync for lane 16")],
    ),
    "two arms, with other masks": (
        "if (i < 16) __syncwarp(); else { v++; __syncwarp(0xffff0000); }",
        [("wrong-mask", 0, "lane 16")],
    ),
    "two arms, one twice": (
        "if (i < 16) __syncwarp(); else { __syncwarp(); v++; __syncwarp(); }",
        [("wrong-mask", 16, "lane 0")],
    ),
    "two arms, some lanes in neither": (
        "if (i < 24) { if (i < 16) __syncwarp(); else { v++; __syncwarp(); } }",
        [("wrong-mask", 0, "lane 24"), ("wrong-mask", 16, "lane 24")],
    ),
    "two arms, with other functions": (
        "if (i < 16) v = __shfl_down_sync(~0u, v, 16); else { v = __shfl_up_sync(~0u, v, 16); }",
        [
            ("wrong-mask", 0, "does not call __shfl_down_sync with the same mask"),
            ("wrong-mask", 16, "lane 0"),
        ],
    ),
    "two arms, any and all": (
        "if (i < 16) v = __any_sync(~0u, v); else v = __all_sync(~0u, v);",
        [("wrong-mask", 0, "lane 16"), ("wrong-mask", 16, "lane 0")],
    ),
    "two arms, from a lane that is in neither": (
        "if (i >= 30) return; if (i % 2) v = __shfl_sync(~0u, v, 31); else v = 2 * "
        "__shfl_sync(~0u, v, 0);",
        [("absent-lane", 1, "the value of lane 31 with __shfl_sync")],
    ),
    "masks that differ": (
        "x[i] = __ballot_sync(i < 16 ? 0xffffffff : 0xffff0000, 1);",
        [("wrong-mask", 0, "lane 16")],
    ),
    "a lane that has ended": (
        "if (i >= 30) return; v += __shfl_down_sync(0xffffffff, v, 1); x[i] = v;",
        [("absent-lane", 29, "the value of lane 30 with __shfl_down_sync")],
    ),
    "a lane outside the mask": (
        "if (i < 8) x[i] = __shfl_sync(0xff, v, 8);",
        [("absent-lane", 0, "lane 8")],
    ),
    "in the mask, but not here": (
        "if (i < 8) x[i] = __shfl_sync(0x1ff, v, 1);",
        [("wrong-mask", 0, "lane 8")],
    ),
    "a loop that lanes leave": (
        "for (int j = 0; j < i; j++) v += __shfl_sync(0xffffffff, v, 31);",
        [("wrong-mask", 1, "lane 0")],
    ),
}


# Both branches of an if, lanes of one warp in each, and what x then holds: v is x[i], w another
# lane's, that the other branch has written.
MEETINGS: dict[str, str] = {
    "once": "if (i % 2) { s[i] = v; __syncwarp(); w = s[i - 1]; }"
            " else { s[i] = v; __syncwarp(); w = s[i + 1]; }",
    "in a mask of half the warp": (
        "unsigned half = i % 32 < 16 ? 0xffff : 0xffff0000;"
        " if (i % 2) { s[i] = v; __syncwarp(half); w = s[i - 1]; }"
        " else { s[i] = v; __syncwarp(half); w = s[i + 1]; }"),
    "three times": (
        "if (i % 2) { for (int k = 0; k < 3; k++) { s[i] = k + v; __syncwarp(); w = s[i - 1] - k;"
        " __syncwarp(); } }"
        " else { for (int k = 0; k < 3; ++k) { s[i] = v + k; __syncwarp(); w = s[i + 1] - k;"
        " __syncwarp(); } }"),
    "in functions": "if (i % 2) { left(s, i, v, w); } else { right(s, i, v, w); }",
    "in branches within a branch": (
        "if (i % 2) { if (i % 4 == 1) { s[i] = v; __syncwarp(); w = s[i - 1]; }"
        " else { s[i] = v; v += 0; __syncwarp(); w = s[i - 1]; } }"
        " else { s[i] = v; __syncwarp(); w = s[i + 1]; }"),
    "after lanes that have ended": (
        "if (i >= 30) return; if (i % 2) { s[i] = v; __syncwarp(); w = s[i - 1]; }"
        " else { s[i] = v; __syncwarp(); w = s[i + 1]; }"),
    "with a continue": (
        "for (int k = 0; k < 2; ++k) { if (i % 2) { s[i] = v; __syncwarp(); w = s[i - 1];"
        " __syncwarp(); continue; } else { s[i] = v; __syncwarp(); w = s[i + 1]; __syncwarp(); } }"
    ),
    "beside warps in one branch alone": (
        "if (i < 32 && i % 2) { s[i] = v; __syncwarp(); w = s[i - 1]; }"
        " else { s[i] = v; __syncwarp(); w = s[i ^ 1]; }"),
}  # fmt: skip
HERE = Path(__file__).parent
MEASURED = json.loads((HERE / "h100_branches.json").read_text())


@pytest.mark.parametrize("schedule", ["ascending", "descending", "lockstep"])
@pytest.mark.parametrize("case", [name for name in MEASURED if name != "gpu"])
@pytest.mark.sample(4)
def test_the_branches_of_an_if_call_a_warp_function_together(case: str, schedule: Any) -> None:
    text = (HERE / "h100_branches.cu").read_text()
    kernel, launch = launch_text(text, case, x=np.zeros(32, np.int32))
    report = simulate(kernel, launch, schedule)
    assert report.arrays["x"].tolist() == MEASURED[case]
    assert not report.hazards


def test_a_syncwarp_in_a_function_in_an_expression_meets_the_other_branch() -> None:
    text = (
        "__device__ int next(int* s, int i, int v) { s[i] = v; __syncwarp(); return s[i ^ 1]; }\n"
        "__global__ void k(int* x) {\n__shared__ int s[32]; int i = threadIdx.x;\n"
        "if (i % 2) x[i] = 1 + next(s, i, i); else x[i] = 2 * next(s, i, 10 * i);\n}"
    )
    kernel, launch = launch_text(text, x=np.zeros(32, np.int32))
    report = simulate(kernel, launch)
    assert report.arrays["x"].tolist() == [1 + 10 * (i - 1) if i % 2 else 2 * (i + 1) for i in LANE]
    assert not report.hazards


SKIPPED = {
    "&&": ("if (i < 16) x[i] = v && __any_sync(~0u, 0); else x[i] = __any_sync(~0u, i == 20);",
           np.ones(32)),
    "||": ("if (i < 16) x[i] = !v || __all_sync(~0u, 1); else x[i] = __all_sync(~0u, i != 20);",
           np.zeros(32)),
    "?:": ("if (i < 16) x[i] = v ? __shfl_xor_sync(~0u, i, 16) : -1; else"
           " x[i] = 100 + __shfl_xor_sync(~0u, i, 16);", (LANE ^ 16) + 100 * (LANE > 15)),
    "both sides of ?:": ("x[i] = i < 16 ? __shfl_sync(~0u, i, 31) : 1 + __shfl_sync(~0u, i, 2);",
                         np.where(LANE < 16, 31, 3)),
    "in a loop's test": ("int n = 0; if (i < 16) { while (n < 3 && __any_sync(~0u, n < 2)) n++; }"
                         " else { for (; v && __any_sync(~0u, n < 1); n++); } x[i] = n;",
                         np.full(32, 2)),
}  # fmt: skip


@pytest.mark.parametrize("schedule", ["ascending", "descending", "lockstep"])
@pytest.mark.parametrize("case", SKIPPED)
def test_what_an_operator_may_skip_meets_the_other_branch(case: str, schedule: Any) -> None:
    body, expected = SKIPPED[case]
    kernel, launch = launch_text(TEXT.format(type="int", body=body), x=np.ones(32, np.int32))
    report = simulate(kernel, launch, schedule)
    assert report.arrays["x"].tolist() == expected.tolist()
    assert not report.hazards


FUNCTIONS = """
__device__ void left(int* s, int i, int v, int& w) { s[i] = v; __syncwarp(); w = s[i - 1]; }
__device__ void right(int* s, int i, int v, int& w) { s[i] = v; __syncwarp(); w = s[i + 1]; }
"""


@pytest.mark.parametrize("schedule", ["ascending", "descending", "lockstep"])
@pytest.mark.parametrize("case", MEETINGS)
@pytest.mark.sample(4)
def test_the_branches_of_an_if_meet_at_syncwarp(case: str, schedule: Any) -> None:
    body = f"__shared__ int s[64]; int w = -1; {MEETINGS[case]} x[i] = w;"
    text = FUNCTIONS + TEXT.format(type="int", body=body)
    kernel, launch = launch_text(text, block=64, x=np.arange(64, dtype=np.int32) * 5)
    report = simulate(kernel, launch, schedule)
    expected = (np.arange(64) ^ 1) * 5
    if "ended" in case:
        expected[30:] = np.arange(30, 64) * 5
    assert report.arrays["x"].tolist() == expected.tolist()
    assert not report.hazards


def test_without_syncwarp_the_branches_race() -> None:
    body = "__shared__ int s[64]; int w = -1; " + MEETINGS["once"].replace("__syncwarp();", "", 1)
    kernel, launch = launch_text(
        TEXT.format(type="int", body=body + " x[i] = w;"), x=np.arange(32, dtype=np.int32)
    )
    found = {str(hazard.kind) for hazard in simulate(kernel, launch).hazards}
    assert "read-after-write" in found or "write-after-read" in found


@pytest.mark.parametrize("schedule", ["ascending", "lockstep"])
@pytest.mark.parametrize("case", WRONG)
@pytest.mark.sample(3)
def test_a_wrong_mask_is_a_hazard_with_its_thread(case: str, schedule: Any) -> None:
    body, expected = WRONG[case]
    text = TEXT.format(type="int", body="\n" + body.replace("else", "\nelse"))
    kernel, launch = launch_text(text, x=np.zeros(32, np.int32))
    hazards = simulate(kernel, launch, schedule).hazards
    assert [(str(h.kind), h.example.thread[0]) for h in hazards] == [
        (kind, lane) for kind, lane, _ in expected
    ]
    for hazard, (_, _, words) in zip(hazards, expected, strict=True):
        assert words in hazard.message
        assert hazard.message.startswith(f"line {hazard.lines[0]}: thread (")


def test_a_block_of_half_a_warp_takes_a_full_mask() -> None:
    body = "for (int o = 8; o; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o); x[i] = v;"
    found, hazards = run(body, np.arange(16), threads=16)
    assert not hazards
    assert found.tolist() == [120] * 16
    _, hazards = run("x[i] = __shfl_down_sync(0xffffffff, v, 8);", np.arange(16), threads=16)
    assert [str(h.kind) for h in hazards] == ["absent-lane"]


# A store, what is between, a load of another lane's cell; and whether that is a race.
ORDERED = {
    "nothing": ("", "s[i ^ 1]", True),
    "all lanes": ("__syncwarp();", "s[31 - i]", False),
    "the half that both are in": ("__syncwarp(i < 16 ? 0xffff : 0xffff0000);", "s[i ^ 15]", False),
    "halves, across": ("__syncwarp(i < 16 ? 0xffff : 0xffff0000);", "s[i ^ 16]", True),
    "lanes that did not call": ("if (i < 16) __syncwarp(0xffff);", "s[i ^ 15]", True),
    "two halves, in two branches": (
        "if (i < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);", "s[i ^ 15]", False),
    "a part and then all": ("if (i < 4) __syncwarp(0xf); __syncwarp();", "s[31 - i]", False),
    "all and then a part": ("__syncwarp(); if (i < 4) __syncwarp(0xf);", "s[31 - i]", False),
    "eight and four": ("__syncwarp(0xffu << (i & 24)); __syncwarp(0xfu << (i & 28));", "s[i ^ 7]",
                       False),
    "four and eight, too far": (
        "__syncwarp(0xffu << (i & 24)); __syncwarp(0xfu << (i & 28));", "s[i ^ 8]", True),
    "a shuffle orders no memory": ("v = __shfl_sync(0xffffffff, v, 0);", "s[i ^ 1]", True),
}  # fmt: skip


@pytest.mark.parametrize("case", ORDERED)
@pytest.mark.parametrize("reads_first", [False, True])
@pytest.mark.parametrize("schedule", ["ascending", "lockstep"])
@pytest.mark.sample(3)
def test_syncwarp_orders_the_lanes_of_its_mask(case: str, reads_first: bool, schedule: Any) -> None:
    between, cell, is_race = ORDERED[case]
    first, second = "s[i] = v;", f"v += {cell};"
    if reads_first:
        first, second = second, first
    text = TEXT.format(
        type="int",
        body="__shared__ int s[32]; s[i] = 0; __syncthreads();\n"
        f"{first}\n{between}\n{second}\n__syncthreads(); x[i] = v + s[i];",
    )
    kernel, launch = launch_text(text, x=np.arange(32, dtype=np.int32))
    kinds = {str(h.kind) for h in simulate(kernel, launch, schedule).hazards}
    race = "write-after-read" if reads_first else "read-after-write"
    assert kinds == ({race} if is_race else set())


def test_a_step_tells_what_a_lane_got() -> None:
    kernel, launch = launch_text(
        TEXT.format(type="int", body="int w = __shfl_down_sync(0xffffffff, v, 2); x[i] = w;"),
        x=np.arange(32, dtype=np.int32) * 5,
    )
    recording = record(kernel, launch)
    step = next(s for s in recording.steps if "w" in s.registers)
    assert step.registers["w"].tolist() == [*range(10, 160, 5), 150, 155]
    assert narrate.values(recording, step, 1)[0] == "w = __shfl_down_sync(0xffffffff, 5, 2) = 15"


def test_only_lanes_that_are_read_from_need_a_value() -> None:
    body = "int n; if (i == 4) n = 9; x[i] = __shfl_sync(0xffffffff, n, {});"
    found, hazards = run(body.format(4), LANE)
    assert found.tolist() == [9] * 32
    assert not hazards
    _, hazards = run(body.format(5), LANE)
    assert [str(hazard.kind) for hazard in hazards] == ["uninitialized-read"]


def test_a_step_in_a_branch_shows_what_its_lanes_got() -> None:
    text = (HERE / "h100_branches.cu").read_text()
    kernel, launch = launch_text(text, "shuffle", x=np.zeros(32, np.int32))
    recording = record(kernel, launch)
    stores = [step for step in recording.steps if any(a.kind == "store" for a in step.accesses)]
    assert [step.statement.span.line for step in stores] == [12, 13]
