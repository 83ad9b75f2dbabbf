"""Shapes: which ones are drawn, what is chosen for them, and that it is right where it is run."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

from gpu.shapes import job
from gpu.shapes.job import request
from gpu.shapes.plan import Plan, choose, plans
from gpu.shapes.shape import geometric_mean, shapes_from, with_few
from gpu.shapes.sizes import COUNT, FEW_COUNT, LONGEST, SHORTEST, few_sizes, random_sizes
from gpu.tables import shapes_table
from simulator import Launch, catalogue, compile_kernel, simulate
from simulator.catalogue import FEW
from tests.gpu.fake_shapes import SMALL, TABLE, shapes_of


def test_the_shapes_are_of_three_kinds_and_the_same_each_time() -> None:
    sizes = random_sizes()
    assert len(sizes) == COUNT
    assert sizes == random_sizes()
    for first, of in ((0, lambda side: side % 128 == 0), (1, lambda side: side % 4 == 0),
                      (2, lambda side: side % 2 == 1)):  # fmt: skip
        assert all(of(side) for size in sizes[first::3] for side in size)
    sides = [side for size in sizes for side in size]
    assert min(sides) >= SHORTEST
    assert max(sides) <= LONGEST
    middle = math.sqrt(SHORTEST * LONGEST)  # as many below it as above it, about
    assert 60 < sum(side < middle for side in sides) < 120


def test_a_long_k_is_split_until_the_multiprocessors_have_work() -> None:
    plan = choose(TABLE, (256, 256, 16384))
    assert plan.pieces > 1
    assert plan.blocks > 100
    assert f"K in {plan.pieces} pieces makes {plan.blocks:,} blocks" in plan.reason
    assert plan.reason.startswith("132 multiprocessors, ")


def test_a_large_square_takes_the_kernel_that_is_made_for_it() -> None:
    plan = choose(TABLE, (4096, 4096, 4096))
    assert (plan.kernel, plan.pieces, plan.blocks, plan.waves) == ("whole", 1, 512, 4)
    assert plan.reason == (
        "132 multiprocessors, 512 tiles of 128 x 256: a block for each, 4 waves of 1 on each "
        "multiprocessor."
    )


def test_ragged_rows_are_padded_where_that_is_soon_paid_back() -> None:
    plan = choose(TABLE, (4096, 4097, 4096))
    assert plan.is_padded
    assert "do not begin at multiples of 16 bytes" in plan.reason
    assert not choose(TABLE, (65, 67, 69)).is_padded
    assert all(plan.kernel != "whole" for plan in plans(TABLE, (4096, 4097, 4096)))
    assert all(plan.kernel != "whole" for plan in plans(TABLE, (4096, 4096, 4095)))


def test_a_last_wave_takes_as_long_as_a_full_one() -> None:
    def of_large(rows: int) -> Plan:
        found = plans(TABLE, (rows * 128, 12 * 128, 1024))
        return next(plan for plan in found if plan.kernel == "large" and plan.pieces == 1)

    one, two = of_large(11), of_large(12)
    assert (one.waves, two.waves) == (1, 2)
    assert two.predicted_ms - 0.003 == pytest.approx(2 * (one.predicted_ms - 0.003))


@pytest.mark.sample(4)
@pytest.mark.parametrize(("pieces", "is_padded"), [(1, False), (3, False), (1, True), (2, True)])
@pytest.mark.parametrize("size", [(33, 35, 50), (16, 31, 7)])
def test_a_planned_kernel_is_right(
    pieces: int, is_padded: bool, size: tuple[int, int, int]
) -> None:
    """As `Runner.launch` does it, in the simulator: rows padded, C filled with zeros, added to."""
    M, N, K = size
    name = "anyshape:WARPS_DOWN=1:WARPS_ACROSS=1:ROWS=4:COLUMNS=4:DEPTH=4"
    candidate = job.planned(Plan(name, pieces, is_padded, 0, 1, 1, 0.0, ""), size)
    assert candidate.grid[2] == pieces
    assert candidate.name == name + (f":PIECES={pieces}" if pieces > 1 else "") + (
        ":PADDED=1" if is_padded else ""
    )
    random = np.random.default_rng(size)
    A, B = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    right = B
    if is_padded:
        padded = np.full((K, math.ceil(N / 4) * 4), np.nan, np.float32)
        copy = compile_kernel(catalogue()["anyshape"].source(), "pad_rows")
        arguments = {"B": B, "padded": padded, "K": K, "N": N}
        report = simulate(copy, Launch((1, 3, 1), (64, 1, 1), arguments))
        assert report.hazards == ()
        right = report.arrays["padded"]
    kernel = compile_kernel(candidate.text, candidate.kernel)
    C = np.zeros((M, N), np.float32)
    arguments = {"A": A, "B": right, "C": C, "M": M, "N": N, "K": K}
    report = simulate(kernel, Launch(candidate.grid, candidate.block, arguments))
    assert np.array_equal(report.arrays["C"], A @ B)
    assert report.hazards == ()


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("few_rows:ROWS=2:WARPS=2", (2, 36, 300)), ("few_rows:WARPS=1:AHEAD=1", (3, 33, 70)),
        ("few_columns:ROWS=2:WARPS_DEEP=2", (19, 4, 301)),
        ("few_columns:COLUMNS=2:WARPS_DOWN=1:AHEAD=1", (9, 2, 131)),
        ("few_columns:ROWS=4:COLUMNS=8:WARPS_DOWN=1", (5, 7, 70)),
    ],
)  # fmt: skip
@pytest.mark.sample(3)
def test_a_planned_kernel_for_few_rows_or_columns_is_right(
    name: str, size: tuple[int, int, int], pieces: int
) -> None:
    """As `Runner.launch` does it: pieces store their sums, and add_pieces adds them in order."""
    M, N, K = size
    candidate = job.planned(Plan(name, pieces, False, 0, 1, 1, 0.0, ""), size)
    random = np.random.default_rng(size)
    A, B = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    parts = np.full((pieces, M, N), np.nan, np.float32)
    arguments = {"A": A, "B": B, "C": parts, "M": M, "N": N, "K": K}
    kernel = compile_kernel(candidate.text, candidate.kernel)
    report = simulate(kernel, Launch(candidate.grid, candidate.block, arguments))
    assert report.hazards == ()
    parts = report.arrays["C"]
    C = np.full((M, N), np.nan, np.float32)
    arguments = {"parts": parts, "C": C, "cells": M * N, "pieces": pieces}
    add = compile_kernel(catalogue()["few_rows"].source(), "add_pieces")
    report = simulate(add, Launch((math.ceil(M * N / 64), 1, 1), (64, 1, 1), arguments))
    assert report.hazards == ()
    assert np.array_equal(report.arrays["C"], A @ B)


def test_where_c_has_few_rows_or_columns_kernels_for_them_are_taken() -> None:
    few_rows = dataclasses.replace(SMALL, name="few rows", rows=4, few="rows")
    few_columns = dataclasses.replace(SMALL, name="few columns", columns=8, few="columns")
    table = dataclasses.replace(TABLE, kernels=(*TABLE.kernels, few_rows, few_columns))
    for size, taken in (((4, 999, 999), {"few rows"}), ((999, 8, 999), {"few columns"}),
                        ((8, 999, 999), {"few rows"}), ((999, 16, 999), {"few columns"}),
                        ((3, 3, 999), {"few rows", "few columns"})):  # fmt: skip
        assert {plan.kernel for plan in plans(table, size)} == taken
    assert not any(plan.is_padded for plan in plans(table, (4, 999, 999)))
    assert any(plan.is_padded for plan in plans(table, (999, 7, 999)))
    for size in ((9, 1000, 1000), (1000, 17, 1000)):
        names = {plan.kernel for plan in plans(table, size)}
        assert names == {plan.kernel for plan in plans(TABLE, size)}


def test_shapes_with_few_rows_or_columns_are_drawn_too() -> None:
    sizes = few_sizes()
    assert len(sizes) == FEW_COUNT
    assert all(M <= FEW < N for M, N, _ in sizes[::2])
    assert all(N <= FEW < M for M, N, _ in sizes[1::2])
    assert len({min(size[:2]) for size in sizes}) > FEW_COUNT // 3
    assert request(few_alone=True)["drawn"] == FEW_COUNT
    assert request()["drawn"] == FEW_COUNT + COUNT


def test_a_run_over_few_rows_and_columns_takes_the_place_of_an_earlier_one() -> None:
    earlier, later = shapes_of(1.0, 1.1), shapes_of(2.0)
    few = [dataclasses.replace(earlier.shapes[1], size=(4, 64, 64), cublas_ratio=ratio)
           for ratio in (1.2, 1.3)]  # fmt: skip
    tuned = [dataclasses.replace(SMALL, name=name, few="rows") for name in ("old", "new")]
    earlier = dataclasses.replace(
        earlier, shapes=(*earlier.shapes, few[0]),
        table=dataclasses.replace(TABLE, kernels=(*TABLE.kernels, tuned[0])),
    )  # fmt: skip
    later = dataclasses.replace(
        later, shapes=(few[1],), table=dataclasses.replace(TABLE, launch_ms=1, kernels=(tuned[1],))
    )
    both = with_few(earlier, later)
    assert [shape.cublas_ratio for shape in both.shapes] == [1.0, 1.1, 1.3]
    assert both.table == dataclasses.replace(TABLE, kernels=(*TABLE.kernels, tuned[1]))
    table = shapes_table(both)
    assert "2 shapes drawn at random on" in table
    assert "1 shapes with at most 32 rows or columns drawn at random on" in table


def test_every_kernel_of_a_table_is_one_of_the_catalogue() -> None:
    for name, few in job.names():
        plan = Plan(name, 1, False, 0, 1, 1, 0.0, "")
        assert job.planned(plan, (4096, 4096, 4096)).name == name
        assert catalogue()[name.split(":")[0]].few in ("", few)
    assert len(set(job.names())) == len(job.names())


def test_a_run_is_what_json_makes_of_it() -> None:
    run = shapes_of(0.5, 2.0)
    assert shapes_from(json.loads(json.dumps(run.to_json()))) == run
    assert geometric_mean(run.shapes) == pytest.approx(1.0)
    assert "2 shapes drawn at random on" in shapes_table(run)
    assert shapes_table(run).endswith("geometric mean 1.000 of cuBLAS, worst 0.500")
