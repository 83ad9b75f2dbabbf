"""Shapes: which ones are drawn, what is chosen for them, and that it is right where it is run."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from gpu.shapes import job
from gpu.shapes.plan import Plan, choose, plans
from gpu.shapes.shape import geometric_mean, shapes_from
from gpu.shapes.sizes import COUNT, LONGEST, SHORTEST, random_sizes
from gpu.tables import shapes_table
from simulator import Launch, catalogue, compile_kernel, simulate
from tests.gpu.fake_shapes import TABLE, shapes_of


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
    assert "do not begin on 16 bytes" in plan.reason
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


def test_every_kernel_of_a_table_is_one_of_the_catalogue() -> None:
    for name in job.names():
        plan = Plan(name, 1, False, 0, 1, 1, 0.0, "")
        assert job.planned(plan, (4096, 4096, 4096)).name == name
    assert len(set(job.names())) == len(job.names())


def test_a_run_is_what_json_makes_of_it() -> None:
    run = shapes_of(0.5, 2.0)
    assert shapes_from(json.loads(json.dumps(run.to_json()))) == run
    assert geometric_mean(run.shapes) == pytest.approx(1.0)
    assert "2 shapes drawn at random on" in shapes_table(run)
    assert shapes_table(run).endswith("geometric mean 1.000 of cuBLAS, worst 0.500")
