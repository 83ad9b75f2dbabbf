"""Kernels that are right at some sizes alone, and indices that are too large for their type."""

from __future__ import annotations

import pytest

from simulator import Kernel, compile_kernel
from simulator.language.tree import MemorySpace
from simulator.observers.hazards.findings import Example, Hazard
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.sentences import verdicts
from simulator.verdict.form import ArrayArgument, LaunchForm, NumberArgument
from simulator.verdict.limited import limit
from simulator.verdict.one_block import has_one_block, limit_of_one_block, sizes_of_one_block
from simulator.verdict.overflow import narrow_indices, overflow
from simulator.verdict.parameters import Argument
from simulator.verdict.verdict import CheckState, FoundHazard, SizeCheck, WrongCell

RIGHT, WRONG, STOPPED = CheckState.RIGHT, CheckState.WRONG, CheckState.STOPPED
SKIPPED = CheckState.SKIPPED
OUTSIDE, RACE = HazardKind.OUT_OF_BOUNDS, HazardKind.WRITE_AFTER_WRITE
CELL = WrongCell("y", (0,), 0.0, 1.0, 1, 8, "", "")
Checks = list[SizeCheck]
Found = list[FoundHazard]


def check(state: CheckState, *sizes: int, ragged: bool = False, drops: bool = False) -> SizeCheck:
    named = tuple(zip("nm", sizes, strict=False))
    wrong = CELL if state is WRONG and not drops else None
    return SizeCheck(named, named, state, ragged, 0.0, "", wrong)


def hazard(
    kind: HazardKind, *sizes: int, ragged: bool = True, lines: tuple[int, ...] = ()
) -> FoundHazard:
    named = tuple(zip("nm", sizes, strict=False))
    example = Example((0, 0, 0), (0, 0, 0), None, None, None, ())
    found = Hazard(kind, lines, "y", MemorySpace.GLOBAL, "", 1, example)
    return FoundHazard(found, named, named, 1, ragged)


def kernel_of(body: str, more: str = "") -> Kernel:
    return compile_kernel(
        f"__global__ void k(float* x, float* y, int n, int m{more})\n{{ {body} }}"
    )


def form_of(task: str = "copy", grid: str = "n", **numbers: str) -> LaunchForm:
    given = {"n": "8", "m": "8"} | numbers
    arrays: tuple[Argument, ...] = tuple(ArrayArgument(one, "1", "n") for one in "xy")
    arguments = (*arrays, *(NumberArgument(name, value) for name, value in given.items()))
    roles = (("x", "x"), ("y", "y"), ("n", "n"), ("m", "m"))
    return LaunchForm((grid, "1", "1"), ("32", "1", "1"), "0", arguments, task, roles)


UNGUARDED = "int i = blockIdx.x * 32 + threadIdx.x;\n y[i] = x[i] + n / m;"
GUARDED = "int i = blockIdx.x * 32 + threadIdx.x;\n if (i < n) y[i] = x[i];\n x[0] = 1;"
SHARED = "__shared__ float s[2]; s[0] = x[0]; y[n] = s[0];"
TILES = verdicts.whole_tiles({"n": 32}, [3], [(3, "n / m")])


@pytest.mark.parametrize(
    ("checks", "hazards", "is_limited"),
    [
        ([check(RIGHT, 32), check(WRONG, 33, ragged=True)], [], True),
        ([check(RIGHT, 32), check(STOPPED, 33, ragged=True)], [], True),
        ([check(RIGHT, 32), check(RIGHT, 33)], [hazard(OUTSIDE, 33)], True),
        ([check(RIGHT, 32), check(WRONG, 33, ragged=True), check(SKIPPED, 9)], [], True),
        ([check(RIGHT, 32), check(WRONG, 33)], [], False),
        ([check(RIGHT, 32), check(WRONG, 33, ragged=True), check(WRONG, 64)], [], False),
        ([check(RIGHT, 32), check(WRONG, 33, ragged=True)], [hazard(RACE, 64, ragged=False)],
         False),
        ([check(RIGHT, 31, ragged=True), check(WRONG, 33, ragged=True)], [], False),
        ([check(RIGHT, 32), check(SKIPPED, 33, ragged=True)], [], False),
        ([check(RIGHT, 32)], [hazard(OUTSIDE, 32)], False),
        ([check(WRONG, 33, ragged=True)], [], False),
    ],
)  # fmt: skip
def test_right_where_tiles_divide_the_sizes(
    checks: Checks, hazards: Found, is_limited: bool
) -> None:
    kernel, tiles = kernel_of(UNGUARDED), {"n": 32}
    assert limit(kernel, form_of(), tiles, checks, hazards) == (TILES if is_limited else "")
    assert not limit(kernel, form_of(""), tiles, checks, hazards)


def test_tiles_in_shared_memory_of_a_product_are_padded() -> None:
    checks = [check(RIGHT, 32), check(WRONG, 33, ragged=True)]
    for body, tiles, is_padded in (
        (SHARED, {"K": 4}, True), (SHARED, {"n": 4}, False), ("y[n] = x[0];", {"K": 4}, False)
    ):  # fmt: skip
        found = limit(kernel_of(body), form_of(), tiles, checks, [])
        assert found == verdicts.whole_tiles(tiles, [2], (), is_padded)


@pytest.mark.parametrize(
    ("checks", "hazards", "lines"),
    [
        ([check(WRONG, 33, ragged=True, drops=True)],
         [hazard(OUTSIDE, 33, lines=(7,)), hazard(OUTSIDE, 34, lines=(4, 7))], [4, 7]),
        ([check(WRONG, 33, ragged=True)], [hazard(OUTSIDE, 33, lines=(7,))], None),
        ([], [hazard(OUTSIDE, 33, lines=(7,)), hazard(RACE, 33, lines=(8,))], None),
    ],
)  # fmt: skip
def test_a_guard_that_misses_accesses_whose_results_are_right(
    checks: Checks, hazards: Found, lines: list[int] | None
) -> None:
    found = limit(kernel_of(GUARDED), form_of(), {"n": 32}, [check(RIGHT, 32), *checks], hazards)
    assert found == ("" if lines is None else verdicts.whole_tiles({"n": 32}, lines))


VECTORS = "((float4*)y)[0] = ((float4*)x)[0]; if (wide && n > 2) y[0] = 1; if (other) y[1] = 1;"


@pytest.mark.parametrize(
    ("right", "wrong", "is_limited"),
    [
        ([(8, 8)], [(7, 8)], True),
        ([(8, 8), (3, 3)], [(7, 8)], True),  # of fewer elements than it takes at a time
        ([(8, 8)], [(7, 8), (8, 4)], False),
        ([(8, 8), (8, 5)], [(7, 8)], False),
    ],
)
def test_right_where_a_vectors_length_divides_the_sizes(
    right: list[tuple[int, int]], wrong: list[tuple[int, int]], is_limited: bool
) -> None:
    checks = [*(check(RIGHT, *one) for one in right), *(check(WRONG, *one) for one in wrong)]
    kernel = kernel_of(VECTORS, ", int wide, int other")
    for wide, flags in (("1", ["wide"]), ("0", [])):
        found = limit(kernel, form_of(wide=wide, other="0"), {"n": 8, "m": 8}, checks, [])
        assert found == (verdicts.whole_vectors(4, flags) if is_limited else "")
    plain = kernel_of("if (n > threadIdx.x) y[0] = x[0];")
    assert not limit(plain, form_of(), {"n": 8}, checks, [])


@pytest.mark.parametrize(
    ("body", "wrong", "is_limited"),
    [
        ("if (threadIdx.x < n) y[blockIdx.y + gridDim.x] = 1;", (4, 8), True),
        ("if (threadIdx.x < n) y[blockIdx.y + gridDim.x] = 1;", (8, 8), False),
        ("if (threadIdx.x < n) y[blockIdx.x + gridDim.x] = 1;", (4, 8), False),
        ("if (threadIdx.x < n) y[blockIdx.y] = 1;", (4, 8), False),
    ],
)
def test_right_where_the_grid_is_square(
    body: str, wrong: tuple[int, int], is_limited: bool
) -> None:
    checks = [check(RIGHT, 8, 8), check(WRONG, *wrong)]
    found = limit(kernel_of(body), form_of(), {}, checks, [])
    assert found == (verdicts.SQUARE if is_limited else "")


LINE = "int i = threadIdx.x; if (i < n) y[i] = x[i];"
LARGER = [check(RIGHT, 32), check(WRONG, 33)]
MAIN = "}\nvoid run(float* x, float* y, int n, int m) { k<<<1, 32>>>(x, y, n, m); "


@pytest.mark.parametrize(
    ("body", "checks", "hazards", "axes"),
    [
        (LINE, LARGER, [], ["x"]),
        (LINE, [check(RIGHT, 32)], [hazard(RACE, 33)], ["x"]),
        ("int i = threadIdx.x + threadIdx.y; y[i] = 1;", LARGER, [], ["x", "y"]),
        (LINE + "__syncthreads();", LARGER, [], []),
        ("for (int i = 0; i < n; ++i) y[i] = threadIdx.x;", LARGER, [], ["x"]),
        ("int i = threadIdx.x; for (int j = i; j < m; ++j) y[j] = n;", LARGER, [], ["x"]),
        ("int i = threadIdx.x; for (int j = i; ; ++j) if (j > n) break;", LARGER, [], ["x"]),
        ("int i = threadIdx.x; for (; i < n; ++i) y[i] = 0;", LARGER, [], ["x"]),
        (LINE, [check(RIGHT, 32), check(WRONG, 32)], [], None),
        (LINE, LARGER, [hazard(RACE, 31)], None),
        (LINE + MAIN, LARGER, [], None),
        (LINE + "y[0] = blockIdx.x;", LARGER, [], None),
        ("int i = threadIdx.x; for (int j = i; j < n; ++j) y[j] = 1;", LARGER, [], None),
        ("for (int j = threadIdx.x; j < n; ++j) y[j] = 1;", LARGER, [], None),
    ],
)  # fmt: skip
def test_right_as_far_as_one_block_goes(
    body: str, checks: Checks, hazards: Found, axes: list[str] | None
) -> None:
    found = limit_of_one_block(kernel_of(body), form_of(grid="1"), checks, hazards)
    expected = "" if axes is None else verdicts.one_block(("32", "1", "1"), {"n": 33}, axes)
    assert found == expected


@pytest.mark.parametrize(
    ("body", "block", "free", "sizes"),
    [
        (LINE, "32 1 1", "n", [{"n": 32}, {"n": 72}]),
        (LINE, "32 1 1", "", []),
        (LINE, "8 4 1", "nm",
         [{"n": 8, "m": 8}, {"n": 24, "m": 8}, {"n": 8, "m": 8}, {"n": 8, "m": 24}]),
        (LINE, "4 16 1", "n", [{"n": 16}, {"n": 40}]),
        (LINE, "4 1 2", "n", [{"n": 4}, {"n": 16}]),
        ("((float4*)y)[0] = ((float4*)x)[0];", "32 1 1", "nm",
         [{"n": 128, "m": 32}, {"n": 288, "m": 32}, {"n": 32, "m": 128}, {"n": 32, "m": 288}]),
        (LINE + "y[0] = blockIdx.x;", "32 1 1", "n", []),
    ],
)  # fmt: skip
def test_sizes_of_one_block(body: str, block: str, free: str, sizes: list[dict[str, int]]) -> None:
    x, y, z = block.split()
    form = form_of(grid="1")
    form = LaunchForm(form.grid, (x, y, z), "0", form.arguments, form.task, form.roles)
    assert sizes_of_one_block(kernel_of(body), form, free) == sizes
    assert not has_one_block(kernel_of(LINE), form_of(grid="n"))


HOST = (
    "\nint main() {{ long N = {0}; float* a; cudaMalloc(&a, {1} * 4); k<<<N, 1>>>(a, a, N, 4); }}"
)


@pytest.mark.parametrize(
    ("index", "size", "elements", "found"),
    [
        ("i * n", 65536, "N * N", ("i", "n", 65536, 3, 32768)),
        ("n * i", 65536, "N * N", ("i", "n", 65536, 3, 32768)),
        ("i * n", 60000, "N * N", ("i", "n", 60000, 3, 35792)),
        ("i * 8", 65536, "N * N", ("i", "8", 8, 3, 268435456)),
        ("i * 2", 65536, "N * N", ("i", "2", 2, 3, 2**30)),
        ("i * 1", 65536, "N * N", None),
        ("i * i", 65536, "N * N", None),
        ("i + n", 65536, "N * N", None),
        ("(long long)i * n", 65536, "N * N", None),
        ("i * n", 65536, "N", None),
        ("i * n", 65536, "N * 32768", None),  # whose last index is the largest int
        ("i * n", 2**31, "1l", None),
    ],
)
def test_a_product_that_is_too_large_for_an_int(
    index: str, size: int, elements: str, found: tuple[str, str, int, int, int] | None
) -> None:
    text = kernel_of(f"int i = blockIdx.x;\n y[{index}] = 1;").text + HOST.format(size, elements)
    assert overflow(compile_kernel(text, "k")) == (verdicts.too_large(*found) if found else "")


@pytest.mark.parametrize(
    ("declared", "most"),
    [
        ("short i = blockIdx.x * 32 + threadIdx.x;", 32767),
        ("unsigned char i = blockIdx.x;", 255),
        ("short i = (int)blockIdx.x + 4;", 32767),
        ("int i = blockIdx.x;", None),
        ("short i = threadIdx.x;", None),
        ("short i = blockIdx.x / 32;", None),
        ("short i = blockIdx.x * n;", None),
        ("short i; i = blockIdx.x;", None),
        ("__half i = blockIdx.x;", None),
        ("float* to = y + blockIdx.x;", None),
    ],
)
def test_an_index_of_a_short_type(declared: str, most: int | None) -> None:
    kernel = compile_kernel("#include <cuda_fp16.h>\n" + kernel_of(declared).text)
    ctype = declared.rpartition(" i =")[0]
    expected = [] if most is None else [verdicts.narrow("i", ctype, 3, most)]
    assert list(narrow_indices(kernel)) == expected
