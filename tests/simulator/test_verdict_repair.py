"""Changes that may mend a kernel: what each writes where, and which is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simulator import LaunchError, compile_kernel
from simulator.language.ctype import Pointer
from simulator.language.errors import Fix, SourceError, Span
from simulator.language.tree import MemorySpace
from simulator.observers.hazards.findings import Example, Hazard
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.verdict import repair
from simulator.verdict.form import ArrayArgument, LaunchForm, NumberArgument
from simulator.verdict.repair import Repair, apply, first_that_mends, repairs

RACE = HazardKind.READ_AFTER_WRITE
SHAPES = {"A": ("M", "N"), "B": ("N", "M"), "v": ("1", "M")}
Found = tuple[HazardKind, tuple[int, ...], str]


def hazard(
    found: Found,
    other: tuple[int, int, int] | None = (40, 0, 0),
    space: MemorySpace = MemorySpace.SHARED,
    message: str = "",
) -> Hazard:
    example = Example((0, 0, 0), (0, 0, 0), (0, 0, 0), other, (0,), ())
    return Hazard(*found, space, message, 1, example)


def changes(
    text: str,
    *hazards: Hazard,
    task: str = "",
    is_ragged: bool = False,
    block: tuple[str, str, str] = ("64", "1", "1"),
) -> list[str]:
    """The changes, each with its line, what is there, and what it becomes."""
    kernel, lines = compile_kernel(text), text.split("\n")
    arguments = tuple(
        ArrayArgument(one.name, *SHAPES.get(one.name, ("1", "M")))
        if isinstance(one.ctype, Pointer) else NumberArgument(one.name, "8")
        for one in kernel.parameters
    )  # fmt: skip
    form = LaunchForm(("1", "1", "1"), block, "0", arguments, task)

    def written(fix: Fix) -> str:
        span = fix.span
        was = lines[span.line - 1][span.column - 1 : span.end_column - 1]
        return f"{span.line}: {was} -> {fix.text.strip()}"

    found = repairs(kernel, form, hazards, is_ragged)
    return ["; ".join(map(written, one.fixes)) for one in found]


ADDITIONS = """__global__ void k(int* a, int* p, int M) {
    int v = 2, w = 3;
    a[0] += v * w;
    *p += v;
    a[0]++;
    --*p;
    a[0] = a[0] + v;
    *p = v + *p;
    a[0] = a[0] - v;
    a[0] = v + w;
    a[0] -= v;
    a[0] = v;
    a[0] += w;
    a[0] += (v +
        w);
    a[0
    ] += v;
    if (v > w) a[1] += v;
    a[0] -= a[0] + v;
    atomicExch(a, v);
}"""


def test_what_threads_add_to_one_cell_becomes_atomic() -> None:
    twice = HazardKind.WRITE_AFTER_WRITE
    found = [hazard((twice, (line,), "a"), space=MemorySpace.GLOBAL) for line in range(3, 21)]
    found[10] = hazard((twice, (13, 14), "a"), space=MemorySpace.GLOBAL)  # of two statements
    assert changes(ADDITIONS, *found) == [
        "3: a[0] += v * w -> atomicAdd(&a[0], v * w)",
        "4: *p += v -> atomicAdd(p, v)",
        "5: a[0]++ -> atomicAdd(&a[0], 1)",
        "6: --*p -> atomicAdd(p, -1)",
        "7: a[0] = a[0] + v -> atomicAdd(&a[0], v)",
        "8: *p = v + *p -> atomicAdd(p, v)",
        "18: a[1] += v -> atomicAdd(&a[1], v)",
    ]


SHARED = """__global__ void k(float* a, int M) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    if (t < M) {
        s[t] = 1;
        a[t] = s[63 - t];
    }
    for (int i = 0; i < M; ++i) {
        s[t] = i;
        a[t] += s[i];
    }
    a[t] = s[0];
}"""
WARP, ALL = "__syncwarp();", "__syncthreads();"


@pytest.mark.parametrize(
    ("lines", "other", "block", "barriers"),
    [
        ((4, 13), (40, 0, 0), ("64", "1", "1"), [(4, ALL)]),
        ((4, 7), (40, 0, 0), ("64", "1", "1"), [(4, ALL)]),
        ((6, 7), (40, 0, 0), ("64", "1", "1"), [(8, ALL)]),  # inside the branch it would diverge
        ((6, 7), (31, 0, 0), ("64", "1", "1"), [(6, WARP), (8, WARP), (8, ALL)]),
        ((6, 13), (31, 0, 0), ("64", "1", "1"), [(8, WARP), (8, ALL)]),
        ((10, 13), (40, 0, 0), ("64", "1", "1"), [(12, ALL)]),
        ((11, 10), (32, 0, 0), ("64", "1", "1"), [(11, ALL), (12, ALL)]),
        ((4, 13), (1, 0, 0), ("64", "1", "1"), [(4, WARP), (4, ALL)]),
        ((4, 13), (1, 0, 0), ("32", "1", "1"), [(4, ALL), (4, WARP)]),
        ((4, 13), (0, 1, 0), ("32", "2", "1"), [(4, ALL)]),
        ((4, 13), (0, 1, 0), ("16", "4", "1"), [(4, WARP), (4, ALL)]),
        ((4, 13), None, ("64", "1", "1"), []),
    ],
)
def test_barriers_stand_between_the_accesses_of_a_race(
    lines: tuple[int, int],
    other: tuple[int, int, int] | None,
    block: tuple[str, str, str],
    barriers: list[tuple[int, str]],
) -> None:
    found = changes(SHARED, hazard((RACE, lines, "s"), other), block=block)
    assert found == [f"{line}:  -> {call}" for line, call in barriers]
    in_global = hazard((RACE, lines, "a"), other, MemorySpace.GLOBAL)
    assert changes(SHARED, in_global, block=block) == []


def test_a_barrier_is_as_far_in_as_what_it_follows() -> None:
    kernel = compile_kernel(SHARED)
    form = LaunchForm(("1", "1", "1"), ("64", "1", "1"), "0", ())
    first, second = repairs(kernel, form, [hazard((RACE, (10, 11), "s"))], is_ragged=False)
    assert "= i;\n        __syncthreads();\n" in apply(SHARED, first.fixes)
    assert "}\n    __syncthreads();\n    a[t]" in apply(SHARED, second.fixes)
    assert first.sentence == "Add `__syncthreads();` after line 10."
    assert second.sentence == "Add `__syncthreads();` after the loop of line 9."
    assert second.why.startswith("Otherwise a thread may be at line 11 before another is done with")


def test_a_variable_without_a_value_starts_as_0() -> None:
    text = """__global__ void k(float* a, int M) {
    float sum;
    float part[4], x = 1, other;
    __shared__ int s;
    float é = 2, later;
    a[0] = sum + part[0] + x + other + é + later + s; }"""
    unset = HazardKind.UNINITIALIZED_READ
    names = ("sum", "part", "x", "later", "s")
    found = [hazard((unset, (6,), name)) for name in names]
    assert changes(text, *found, hazard((HazardKind.TRAP, (6,), "other"))) == [
        "2:  -> = 0", "5:  -> = 0",
    ]  # fmt: skip


EDGES = """__global__ void k(const float* A, float* B, float* v, int M, int N, bool f, float x) {
    int row = blockIdx.y, col = blockIdx.x;
    float sum = A[row * N + col] + A[col + N * row] + v[row];
    if (row < M && N > col) B[row * N + col] = sum;
    B[col * M + row] = v[col * 2] + A[row + col] + A[row * M + col] + A[col];
    *(B + row * N + col) = A[(row * N)
        + col];
    v[row + 1] = sum;
    if (x > 0) sum = 0;
}"""
SWAPPED = [
    "2: blockIdx.y -> blockIdx.x; 2: blockIdx.x -> blockIdx.y",
    "2: blockIdx.y -> blockIdx.x",
    "2: blockIdx.x -> blockIdx.y",
]
COMPARED = [
    "4: row < M -> row < N",
    "4: row < M -> row <= M",
    "4: N > col -> M > col",
    "4: N > col -> N >= col",
]
OTHER_SIZES = [
    "3: N -> M",
    "3: N -> M",
    "4: N -> M",
    "5: M -> N",
    "5: M -> N",
    "6: N -> M",
    "6: N -> M",
]
GUARDED = "; ".join(
    (
        "3: A[row * N + col] -> (row < M && col < N ? A[row * N + col] : 0)",
        "3: A[col + N * row] -> (row < M && col < N ? A[col + N * row] : 0)",
        "3: v[row] -> (row < M ? v[row] : 0)",
        "5:  -> if (col < N && row < M)",
        "5: v[col * 2] -> (col * 2 < M ? v[col * 2] : 0)",
        "8:  -> if (row + 1 < M)",
    )
)


@pytest.mark.parametrize(
    ("is_ragged", "expected"),
    [
        (False, [*SWAPPED, *COMPARED, *OTHER_SIZES, GUARDED]),
        (True, [*COMPARED, GUARDED, *SWAPPED, *OTHER_SIZES]),
    ],
)
def test_what_only_edges_show_is_first_mended_at_these(
    is_ragged: bool, expected: list[str]
) -> None:
    outside = [
        hazard((HazardKind.OUT_OF_BOUNDS, (line,), name), space=MemorySpace.GLOBAL)
        for line in (3, 5, 6, 8)
        for name in "ABv"
    ]
    found = changes(EDGES, *outside, task="product", is_ragged=is_ragged)
    assert found == expected
    assert changes(EDGES, *outside) == []  # no task tells whether it still computes what it should


def test_the_sentence_names_each_line_that_is_guarded() -> None:
    kernel = compile_kernel(EDGES)
    arguments = (ArrayArgument("v", "1", "M"), ArrayArgument("A", "M", "N"))
    form = LaunchForm(("1", "1", "1"), ("1", "1", "1"), "0", arguments, "product")
    outside = [hazard((HazardKind.OUT_OF_BOUNDS, (line,), "v")) for line in (3, 5, 8)]
    sentences = [one.sentence for one in repairs(kernel, form, outside, is_ragged=False)]
    assert "Guard lines 3, 5 and 8: `(row < M ? v[row] : 0)`." in sentences
    of_guard = [one for one in repairs(kernel, form, [], False) if one.is_of_guard]
    assert of_guard[1].sentence == "Write `row <= M` instead of `row < M` on line 4."
    assert [one.why for one in of_guard[:2]] == [
        "The present guard checks another edge.",
        "The present guard is off by one.",
    ]
    assert len(of_guard) == len(COMPARED)


WIDE = """__global__ void k(float* a, int M, size_t big) {
    int i = blockIdx.x * 4, j = i * M;
    a[M * j] = big * i + 2.0f * i;
    a[i *
        M] = 2;
}"""


@pytest.mark.parametrize("cell", ["element -3", "element 3"])
def test_an_index_below_0_may_be_a_product_that_is_too_large(cell: str) -> None:
    outside = hazard((HazardKind.OUT_OF_BOUNDS, (9,), "a"), message=f"reads {cell} of a")
    others = [
        "2: blockIdx.x -> blockIdx.y",
        "2: M -> big",
        "3: M -> big",
        "3: big -> M",
        "5: M -> big",
    ]
    wider = [
        "2: blockIdx.x * 4 -> (long long)blockIdx.x * 4",
        "2: i * M -> (long long)i * M",
        "3: M * j -> (long long)M * j",
    ]
    expected = [*wider, *others] if "-" in cell else others
    assert changes(WIDE, outside, task="product") == expected


def test_the_sentence_says_from_where_on_a_product_is_too_large() -> None:
    kernel = compile_kernel(WIDE)
    numbers = (NumberArgument("M", "8"), NumberArgument("big", "1"))
    form = LaunchForm(("1", "1", "1"), ("1", "1", "1"), "0", numbers, "product")
    outside = hazard((HazardKind.OUT_OF_BOUNDS, (9,), "a"), message="element -3")
    found = list(repairs(kernel, form, [outside], is_ragged=False))
    assert [one.why for one in found[:3]] == [
        "`blockIdx.x * 4` exceeds 2^31 - 1, the largest int.",
        "`i * M` exceeds 2^31 - 1, the largest int, at i = 268,435,456.",
        "`M * j` exceeds 2^31 - 1, the largest int, at j = 268,435,456.",
    ]
    assert found[-1].sentence == "Write big instead of M on line 5."


def test_numbers_of_warps_and_tiles_are_rounded_up() -> None:
    text = """__global__ void k(float* a, int M) {
    int w = blockDim.x / 32, v = blockDim.x >> 5, u = blockDim.x / 5, s = blockDim.x >> 32;
    int x = blockDim.
        x / 32;
    a[w + v + u + s + x] = M / 32;
}"""
    tiles = "5: M / 32 -> (M + 32 - 1) / 32"
    warps = [
        "2: blockDim.x / 32 -> ((blockDim.x + 31) / 32)",
        "2: blockDim.x >> 5 -> ((blockDim.x + 31) / 32)",
    ]
    assert changes(text, task="product") == [*warps, tiles]
    assert changes(text, task="product", is_ragged=True) == [tiles, *warps]


def test_axes_are_swapped_together_by_line_and_singly() -> None:
    text = """__global__ void k(float* a, int M) {
    int x = threadIdx.x + blockIdx.x, y = threadIdx.y, z = threadIdx.z;
    a[x] = y + z + blockDim.x;
    a[y] = threadIdx.x; }"""
    assert changes(text, task="product") == [
        "2: threadIdx.x -> threadIdx.y; 2: blockIdx.x -> blockIdx.y; 2: threadIdx.y -> "
        "threadIdx.x; 3: blockDim.x -> blockDim.y; 4: threadIdx.x -> threadIdx.y",
        "2: threadIdx.x -> threadIdx.y; 2: threadIdx.y -> threadIdx.x; 4: threadIdx.x -> "
        "threadIdx.y",
        "2: threadIdx.x -> threadIdx.y; 2: blockIdx.x -> blockIdx.y; 2: threadIdx.y -> "
        "threadIdx.x; 3: blockDim.x -> blockDim.y",
        "2: threadIdx.x -> threadIdx.y; 2: threadIdx.y -> threadIdx.x",
        "2: threadIdx.x -> threadIdx.y; 2: blockIdx.x -> blockIdx.y; 2: threadIdx.y -> threadIdx.x",
        "2: threadIdx.x -> threadIdx.y",
        "2: blockIdx.x -> blockIdx.y",
        "2: threadIdx.y -> threadIdx.x",
        "3: blockDim.x -> blockDim.y",
        "4: threadIdx.x -> threadIdx.y",
    ]
    along_x = "__global__ void k(float* a, int M) { a[threadIdx.x] = blockDim.x + blockDim.y; }"
    assert changes(along_x, task="product") == [
        "1: threadIdx.x -> threadIdx.y; 1: blockDim.x -> blockDim.y; 1: blockDim.y -> blockDim.x",
        "1: threadIdx.x -> threadIdx.y",
        "1: blockDim.y -> blockDim.x",  # no index goes along y
    ]


def test_changes_of_one_text_keep_its_other_letters() -> None:
    fixes = (
        Fix(Span(1, 1, 1, 1), "a"),
        Fix(Span(1, 3, 1, 4), "b"),  # é has two bytes
        Fix(Span(2, 2, 3, 2), "c\nd"),
    )
    assert apply("éxy\nmno\npqr\nst", fixes) == "aéby\nmc\ndqr\nst"


def test_the_first_change_that_mends_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def mends(change: Repair) -> bool:
        tried.append(change.sentence)
        if change.sentence == "refused":
            raise LaunchError("no launch")
        if change.sentence == "broken":
            raise SourceError("no kernel", Span(1, 1, 1, 1))
        return change.sentence == "right"

    def some() -> Iterator[Repair]:
        return (Repair(one, "", ()) for one in ("refused", "broken", "wrong", "right", "later"))

    found = first_that_mends(some(), mends)
    assert found is not None
    assert found.sentence == "right"
    assert tried == ["refused", "broken", "wrong", "right"]
    monkeypatch.setattr(repair, "MOST", 3)
    assert first_that_mends(some(), mends) is None
    monkeypatch.setattr(repair, "SECONDS", -1.0)
    tried.clear()
    assert first_that_mends(some(), mends) is None
    assert not tried
