"""Runs of a kernel of which nothing is known yet: what it touches, and what a block stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator import LaunchError, compile_kernel
from simulator.language.errors import SourceError
from simulator.verdict import experiment
from simulator.verdict.experiment import Experiment, MayNeverEndError, small_value
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, Sizes3
from simulator.verdict.probe import BlockTile, Probe

WARP = ("32", "1", "1")


def experiment_of(text: str, **given: Any) -> Experiment:
    return Experiment(compile_kernel(f"__global__ void k({text}"), WARP, "0", **given)


NUMBERS = """float* x, const float4* v, float alpha, double beta, float gamma, float delta, char c,
    bool b, int n, unsigned short s, int ld, int transposed, size_t pitch, unsigned* counts) {
    int i = threadIdx.x, j = blockIdx.y;
    float* row = (float*)((char*)x + j * pitch);
    if (transposed) atomicAdd(counts, 1u);
    if (i < n) row[i] = v[j * ld + i].x * alpha * beta * gamma * delta + c + b + s;
}"""


def test_numbers_that_are_no_sizes_have_values_that_tell_them_apart() -> None:
    found = experiment_of(NUMBERS)
    assert found.sizes == ["n", "s"]
    assert found.strides == {"ld": 1536}
    form = found.form({"n": 3, "s": 5, "ld": 7}, (4, 5, 6))
    assert form.grid == ("4", "5", "6")
    assert {one.name: one.value for one in form.numbers} == {
        "alpha": "2", "beta": "3", "gamma": "1", "delta": "1", "c": "1", "b": "1", "n": "3",
        "s": "5", "ld": "7", "transposed": "1", "pitch": "6144",
    }  # fmt: skip
    assert [(one.name, one.columns, one.contents) for one in form.arrays] == [
        ("x", "2097152", Contents.FRACTIONS),
        ("v", "524288", Contents.FRACTIONS),  # as many bytes for all
        ("counts", "2097152", Contents.ZEROS),
    ]
    given = experiment_of(NUMBERS, given={"n": np.int64(9), "alpha": 0.5, "x": np.ones(2)})
    known = {one.name: one.value for one in given.form({"s": 1}, (1, 1, 1)).numbers}
    assert (given.sizes, known["n"], known["alpha"], known["beta"]) == (["s"], "9", "0.5", "2")
    with pytest.raises(LaunchError, match="p is not an array of numbers"):
        experiment_of("float** p) { p[0][0] = 1; }")


TOUCHING = """float* x, int* counts, float* y, int n) {
    __shared__ float s[32];
    int i = blockIdx.x * n + threadIdx.x;
    s[threadIdx.x] = 1;
    if (threadIdx.x < n && i > 2) { y[i + 3] = x[2 * i]; atomicAdd(&counts[i], 1); }
    if (i == 4) y[2] = s[0];
}"""


def test_what_is_touched() -> None:
    found = experiment_of(TOUCHING).run({"n": 8}, (2, 1, 1), has_marks=True)
    touches = found.touches
    assert touches.first == {"x": 6, "y": 2, "counts": 3}
    assert touches.first_stored == {"y": 2, "counts": 3}
    assert touches.cells == {"x": 31, "y": 19, "counts": 16}
    assert (touches.stored, touches.loaded) == ({"y", "counts"}, {"x", "counts"})
    assert {name: int(cells.sum()) for name, cells in touches.marks.items()} == {
        "x": 13, "y": 14, "counts": 13,
    }  # fmt: skip
    assert not touches.has_faults
    assert found.results["counts"][:17].tolist() == [0, 0, 0, *[1] * 13, 0]


def test_single_blocks_leave_the_arrays_as_they_are() -> None:
    one = experiment_of(TOUCHING, given={"x": np.arange(3)})
    found = one.run({"n": 8}, (2, 1, 1), [1])
    assert found.touches.cells == {"x": 31, "y": 19, "counts": 16}
    assert not found.results["counts"].any()
    assert found.results["x"][:3].tolist() == [0, 1, 2]
    assert one.run({"n": 8}, (2, 1, 1)).results["counts"][3] == 1
    assert one.run({"n": 8}, (2, 1, 1)).results["counts"][3] == 1  # it began anew


@pytest.mark.parametrize(
    ("place", "has_faults"), [("i", False), ("i - 1", True), ("i - 99", True), ("i + n", True)]
)
def test_an_access_without_room_is_a_fault(place: str, has_faults: bool) -> None:
    one = experiment_of(f"float* x, float* y, int n) {{ int i = threadIdx.x; y[{place}] = x[i]; }}")
    found = one.run({"n": experiment.ROOM - 31}, (1, 1, 1))
    assert found.touches.has_faults is one.has_faults is has_faults
    one.run({"n": 0}, (1, 1, 1))
    assert one.has_faults is has_faults


ENDLESS = "float* x, int n) { int i = 1; while (i) i = i * 3 | n; x[0] = i; }"


def test_a_loop_that_no_counter_ends_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "SECONDS", 0.02)
    monkeypatch.setattr(experiment, "BLOCK_SECONDS", 0.02)
    one = experiment_of(ENDLESS)
    for blocks in (None, [0]):
        with pytest.raises(MayNeverEndError):
            one.run({"n": 1}, (1, 1, 1), blocks)
    counted = experiment_of("float* x, int n) { for (int i = 0; i < n; ++i) x[i % 9] = i; }")
    with pytest.raises(SourceError):
        counted.run({"n": 10**6}, (1, 1, 1))
    assert counted.try_run({"n": 10**6}, (1, 1, 1)) is None
    assert counted.try_run({"n": 1}, (2**30, 1, 1)) is None
    assert counted.try_run({"n": 1}, (1, 1, 1)) is not None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("radius", (2, 3)), ("haloWidth", (2, 3)), ("mask_size", (3, 5)), ("kernelWidth", (3, 5)),
        ("k_h", (3, 5)), ("window", (3, 5)), ("windows", (None, None)), ("num_bins", (10, 16)),
        ("padding", (2, 3)), ("pool_size", (2, 3)), ("batch_size", (2, 3)), ("n", (None, None)),
        ("width", (None, None)),
    ],
)  # fmt: skip
def test_some_names_are_of_small_sizes(name: str, values: tuple[int | None, int | None]) -> None:
    assert (small_value(name), small_value(name, 1)) == values


# What a block stores ------------------------------------------------------------------------------

XY = "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;"
SUM = (
    "{ float s = 0; for (int k = 0; k < K; ++k) s += A[y * K + k] * B[k * N + x];"
    " C[y * N + x] = s; }"
)
INSIDE = "if (x < N && y < M)"
BLOCK, ROW = ("8", "4", "1"), ("8", "1", "1")


def product(body: str, block: Sizes3, sizes: str = "int M, int N, int K", head: str = "") -> Probe:
    text = (
        f"{head}\n__global__ void k(const float* A, const float* B, float* C, {sizes}) {{ {body} }}"
    )
    kernel = compile_kernel(text.replace(", )", ")"))
    shapes = {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")}
    arguments = tuple(
        ArrayArgument(one.name, *shapes[one.name]) if one.name in shapes
        else NumberArgument(one.name, "8")
        for one in kernel.parameters
    )  # fmt: skip
    roles = tuple((role, role) for role in "ABCMNK")
    return Probe(kernel, LaunchForm(("1", "1", "1"), block, "0", arguments, "product", roles))


@pytest.mark.parametrize(
    ("body", "block", "is_right", "tile"),
    [
        (f"{XY} {INSIDE} {SUM}", BLOCK, True, BlockTile(4, 8, "columns", "rows", False, False)),
        (f"{XY} {SUM}", BLOCK, True, BlockTile(4, 8, "columns", "rows", False, False)),
        (f"{XY} {INSIDE} {SUM} if (x + y == 0) C[0] = 1;", BLOCK, False,
         BlockTile(4, 8, "columns", "rows", False, False)),
        # Every second column: right, but with holes.
        (f"{XY} x *= 2; {INSIDE} {SUM}", BLOCK, False,
         BlockTile(4, 16, "columns", "rows", False, True)),
        (f"{XY} y = y / 4 * 8 + y % 4; {INSIDE} {SUM}", BLOCK, True,
         BlockTile(8, 8, "columns", "rows", False, True)),
        (f"int x = blockIdx.y * 8 + threadIdx.x, y = blockIdx.x * 4 + threadIdx.y; {INSIDE} {SUM}",
         BLOCK, True, BlockTile(4, 8, "rows", "columns", False, False)),
        (f"int y = blockIdx.x; for (int x = threadIdx.x; x < N; x += 8) if (y < M) {SUM}", ROW,
         True, BlockTile(1, 529, "rows", "", False, False)),
        (f"int i = blockIdx.x * 8 + threadIdx.x, y = i / N, x = i % N; if (i < M * N) {SUM}", ROW,
         True, BlockTile(1, 8, "columns", "", True, False)),
        (f"int i = blockIdx.x * 16 + threadIdx.x, y = i / N, x = i % N; if (i < M * N) {SUM}", ROW,
         True, BlockTile(1, 16, "columns", "", True, True)),
        (f"int x = threadIdx.x, y = threadIdx.y; {INSIDE} {SUM}", BLOCK, True, None),
        (f"{XY} x += 9; {INSIDE} {SUM}", BLOCK, True,
         BlockTile(4, 8, "columns", "rows", False, False)),
        (f"{XY} if (x < 0) {SUM}", BLOCK, False, None),
    ],
)  # fmt: skip
def test_what_a_block_stores(
    body: str, block: Sizes3, is_right: bool, tile: BlockTile | None
) -> None:
    probe = product(body, block)
    assert probe.block_is_right() is is_right
    assert probe.tile() == tile


def test_a_tile_that_nothing_guards_is_tried_with_a_larger_result() -> None:
    tiles = f"{XY} y *= 16; for (int i = 0; i < 16; ++i, ++y) {SUM}"  # 64 of 37 rows
    assert product(tiles, BLOCK).block_is_right()
    assert not product(tiles, BLOCK).block_is_right(is_patient=False)
    assert product(tiles, BLOCK).tile() == BlockTile(64, 8, "columns", "rows", False, False)
    defined = product(f"{XY} {INSIDE} {SUM}", BLOCK, "", "#define M 8\n#define N 16\n#define K 4")
    assert defined.block_is_right()
    assert defined.tile() == BlockTile(4, 8, "columns", "rows", False, False)
    one = product(f"{XY} {INSIDE} {SUM}", BLOCK, "", "#define M 4\n#define N 16\n#define K 4")
    assert one.tile() == BlockTile(4, 8, "columns", "", False, False)


def test_a_block_that_takes_too_long_is_not_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.verdict.probe.ALL_SECONDS", -1.0)
    probe = product(f"{XY} {INSIDE} {SUM}", BLOCK)
    assert not probe.block_is_right()
    assert probe.tile() is None
