"""The plan over several GPUs, counted cell by cell with masks over A, B and C."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpu.scale.plan import Piece, Plan, choose_grid, make_plan

UNIT = (128, 256)
SIZES = [(4096, 4096, 512), (1000, 2000, 96), (4095, 4097, 33), (130, 1, 7), (1, 1, 1)]
PLANS = [make_plan(size, gpus, UNIT) for size in SIZES for gpus in range(1, 9)]


def name(plan: Plan) -> str:
    return f"{plan.size[0]}x{plan.size[1]}x{plan.size[2]} over {plan.down}x{plan.across}"


def along(plan: Plan, piece: Piece) -> np.ndarray:
    """Which rows of A, or columns of B, the piece has."""
    mask = np.zeros(plan.size[0] if piece.matrix == "A" else plan.size[1], dtype=bool)
    mask[piece.band.begin : piece.band.end] = True
    return mask


@pytest.mark.parametrize("plan", PLANS, ids=name)
def test_every_element_of_c_is_computed_once(plan: Plan) -> None:
    computed = np.zeros(plan.size[:2], dtype=np.int8)
    for one in plan.products():
        a, b = one.a.band, one.b.band
        computed[a.begin : a.end, b.begin : b.end] += 1
    assert (computed == 1).all()


@pytest.mark.parametrize("plan", PLANS, ids=name)
def test_a_gpu_multiplies_what_it_has_or_got_in_an_earlier_step(plan: Plan) -> None:
    has = {(piece.owner, piece) for one in plan.products() for piece in (one.a, one.b)}
    for step in plan.steps:
        for one in step.products:
            assert {(one.gpu, one.a), (one.gpu, one.b)} <= has
        for move in step.moves:
            assert move.target != move.piece.owner
            assert (move.target, move.piece) not in has, "it came before"
            has.add((move.target, move.piece))


@pytest.mark.parametrize("plan", PLANS, ids=name)
def test_the_bytes_are_those_that_gpus_need_and_do_not_own(plan: Plan) -> None:
    """Counted from C's cells alone: who computes them, and who owns the rows and columns."""
    needs: dict[tuple[int, str], np.ndarray] = {}
    owns: dict[tuple[int, str], np.ndarray] = {}
    for one in plan.products():
        for piece in (one.a, one.b):
            for table, gpu in ((needs, one.gpu), (owns, piece.owner)):
                mask = table.setdefault((gpu, piece.matrix), np.zeros_like(along(plan, piece)))
                mask |= along(plan, piece)
    missing = sum(
        int((mask & ~owns.get(key, np.zeros_like(mask))).sum()) for key, mask in needs.items()
    )
    assert plan.bytes_moved == 4 * missing * plan.size[2]
    held = [
        4 * plan.size[2] * sum(int(mask.sum()) for (gpu, _), mask in needs.items() if gpu == one)
        for one in range(plan.gpus)
    ]
    tiles = [
        4 * sum(one.a.band.extent * one.b.band.extent for one in plan.products() if one.gpu == gpu)
        for gpu in range(plan.gpus)
    ]
    assert [plan.bytes_held(gpu) for gpu in range(plan.gpus)] == [
        panels + tile for panels, tile in zip(held, tiles, strict=True)
    ]


@pytest.mark.parametrize("gpus", range(1, 9))
def test_a_square_is_shared_evenly_and_no_gpu_is_asked_twice_at_once(gpus: int) -> None:
    N = 256 * 8 * 3 * 5 * 7  # whole blocks for every count of GPUs
    plan = make_plan((N, N, N), gpus, UNIT)
    assert plan.bytes_moved == 4 * N * N * (plan.across - 1 + plan.down - 1)
    work = [
        sum(one.a.band.extent * one.b.band.extent for one in plan.products() if one.gpu == gpu)
        for gpu in range(gpus)
    ]
    assert work == [N * N // gpus] * gpus
    for step in plan.steps:
        for matrix, end in itertools.product("AB", ("sends", "receives")):
            moves = [move for move in step.moves if move.piece.matrix == matrix]
            busy = [move.piece.owner if end == "sends" else move.target for move in moves]
            assert len(busy) == len(set(busy))


def test_cuts_lie_between_blocks() -> None:
    plan = make_plan((1000, 2000, 96), 6, UNIT)
    for one in plan.products():
        assert one.a.band.begin % 128 == 0
        assert one.b.band.begin % 256 == 0


@pytest.mark.parametrize(
    ("size", "gpus", "grid"),
    [
        ((64, 64, 64), 1, (1, 1)), ((64, 64, 64), 2, (1, 2)), ((64, 64, 64), 3, (1, 3)),
        ((64, 64, 64), 4, (2, 2)), ((64, 64, 64), 8, (2, 4)), ((640, 64, 64), 4, (4, 1)),
        ((64, 640, 64), 4, (1, 4)),
    ],
)  # fmt: skip
def test_the_grid_of_gpus_moves_the_fewest_bytes(
    size: tuple[int, int, int], gpus: int, grid: tuple[int, int]
) -> None:
    assert choose_grid(size, gpus) == grid
    moved = {
        down: size[0] * (gpus // down - 1) + size[1] * (down - 1)
        for down in range(1, gpus + 1)
        if gpus % down == 0
    }
    assert moved[grid[0]] == min(moved.values())
