"""The stage of the grid, against counts from the launch and the recorded GPU."""

from __future__ import annotations

from typing import Any

import pytest

from gpu.recorded import recordings
from simulator import Step
from tests.ui.lecture.lectures import Lecture, of_query, seen, spread
from ui.drawing.look import Look, Stage
from ui.lecture.grid_stage import WAVES, GridStage
from ui.lecture.places import PlacesPanel

GRID = Look(stage=Stage.GRID)
DEVICE = recordings().runs[0].device
COLOURS = 6  # of tiles

QUERIES = [
    {"kernel": "tiled", "M": 16, "N": 16, "K": 16, "TILE": 4, "bx": 2, "by": 1},
    {"kernel": "tiled", "M": 64, "N": 64, "K": 16, "TILE": 2, "bx": 9, "by": 30},
    {"kernel": "tiled", "M": 8, "N": 8, "K": 8, "TILE": 8},
    {"kernel": "naive", "M": 64, "N": 48, "K": 8},
]


def shapes(lecture: Lecture, step: Step) -> list[Any]:
    drawn = lecture.panel(GridStage).shapes(step)
    return [seen(shape) for shape in drawn if shape["path"].endswith("Z")]  # no arrows, no borders


@pytest.mark.parametrize("query", QUERIES)
def test_each_multiprocessor_of_a_wave_has_a_block(query: dict[str, Any]) -> None:
    lecture = of_query(GRID, **query)
    panel, launch = lecture.panel(GridStage), lecture.recording.launch
    threads = -(-launch.threads // 32) * 32
    shared = sum(array.nbytes for array in lecture.steps[0].shared.values()) + 1024
    held = min(
        DEVICE.threads_per_multiprocessor // threads, 32,
        (DEVICE.shared_bytes_per_block + 1024) // shared,
    )  # fmt: skip
    assert panel._held == held
    *_, every, busy, own = shapes(lecture, lecture.steps[0])
    area = panel._gpu
    assert area is not None
    cells = sum(round((right - left) / area.width) for left, _, right, _ in every)
    assert cells == DEVICE.multiprocessors
    size = held * DEVICE.multiprocessors
    x, y, _ = lecture.recording.block
    wave = (y * launch.grid[0] + x) // size
    blocks = min(size, launch.blocks - wave * size)
    cells = sum(round((right - left) / area.width) for left, _, right, _ in busy)
    assert cells == min(blocks, DEVICE.multiprocessors)
    assert len(own) == 1


@pytest.mark.parametrize("query", QUERIES)
def test_the_blocks_row_of_a_and_column_of_b_fill_tile_by_tile(query: dict[str, Any]) -> None:
    lecture = of_query(GRID, **query)
    panel = lecture.panel(GridStage)
    x, y, _ = lecture.recording.block
    tiles = lecture.model.tiles_of_k
    for step in spread(lecture.steps, 12):
        drawn = shapes(lecture, step)
        past = [box for boxes in drawn[1 : 1 + COLOURS] for box in boxes]
        now = [box for boxes in drawn[1 + COLOURS : 1 + 2 * COLOURS] for box in boxes]
        for left, top, right, bottom in past + now:
            at = (left + right) / 2, (top + bottom) / 2
            a, b = panel._a.at(*at), panel._b.at(*at)
            assert (a is not None and a[0] == y) or (b is not None and b[1] == x)
        if tiles is None or tiles.count == 1:
            assert (len(past), len(now)) == (2, 0)
        else:
            tile = tiles.multiplied[step.number]
            after = tiles.count if step.number >= tiles.first_product else 0
            assert len(past) == 2 * (after if tile is None else tile)
            assert len(now) == 2 * (tile is not None)
        lines = drawn[1 + 2 * COLOURS + 3]
        c = panel._c
        for first, end in ((0, 2), (1, 3)):  # upright ones, by x, and level ones, by y
            places = [box[first] for box in lines if box[first] == box[end]]
            start, each, count = (
                (c.left, c.width, c.columns) if first == 0 else (c.top, c.height, c.rows)
            )
            assert places[-count - 1 :] == pytest.approx(
                [start + i * each for i in range(count + 1)], abs=0.1
            ), "between all blocks, both ways"
        [outlined] = drawn[1 + 2 * COLOURS + 4]
        assert panel._c.at((outlined[0] + outlined[2]) / 2, (outlined[1] + outlined[3]) / 2) == (
            y, x
        )  # fmt: skip


def test_the_chips_place_is_named_for_the_grid() -> None:
    lecture = of_query(GRID, **QUERIES[0])
    names = [text for trace in lecture.panel(PlacesPanel).static() for text in trace["text"]]
    assert "<b>The grid and the GPU</b>" in names


def test_waves_are_counted() -> None:
    lecture = of_query(GRID, **QUERIES[1])
    texts = " ".join(lecture.panel(GridStage).changing(lecture.steps[0])[0]["text"])
    assert "1,024 blocks" in texts


@pytest.mark.parametrize("query", QUERIES)
def test_a_launch_of_some_waves_has_blocks_that_ran_that_run_and_that_wait(
    query: dict[str, Any],
) -> None:
    lecture = of_query(GRID, **query)
    panel = lecture.panel(GridStage)
    size = panel._held * DEVICE.multiprocessors
    waves = panel._large_waves()
    blocks = waves.size
    assert WAVES * size <= blocks < (WAVES + 1) * size
    ran, running, waiting, *_ = panel._large_shapes()
    cells, area = panel._blocks, panel._blocks.width * panel._blocks.height
    for shape, count in zip((ran, running, waiting), (size, size, blocks - 2 * size), strict=True):
        drawn = sum((right - left) * (low - top) for left, top, right, low in seen(shape))
        assert drawn / area == pytest.approx(count, rel=0.15), "rounded to a tenth of a pixel"
    assert panel._wave_numbers()[0] == ["1", "2", "3"]
    last = (blocks - 2 * size) / size
    assert f"the last {100 * last:.0f}% full" in panel._describe_large()
    assert cells.bottom <= lecture.sheet.areas.stage.bottom + 1


@pytest.mark.parametrize("piece", [0, 1])
@pytest.mark.sample(2)
def test_blocks_that_share_k_have_a_piece_each_and_add_into_one_tile(piece: int) -> None:
    lecture = of_query(GRID, kernel="anyshape", M=16, N=32, K=32, PIECES=2, bz=piece)
    panel, tiles = lecture.panel(GridStage), lecture.model.tiles_of_k
    assert tiles is not None
    loaded = {tile for tile in tiles.loaded if tile is not None}
    sums, arrows, others, own = panel._piece_shapes()
    assert len(seen(sums)) == 2
    assert arrows["path"].count("L") == 2 * 3, "an arrow with a head for each"
    (left, _, right, _), *_ = seen(own)
    first, count = (left - panel._a.left) / panel._a.width, (right - left) / panel._a.width
    assert {*range(round(first), round(first) + round(count))} == loaded
    assert seen(others)


def test_a_block_that_has_all_of_k_shares_it_with_none() -> None:
    lecture = of_query(GRID, **QUERIES[0])
    assert not any(seen(shape) for shape in lecture.panel(GridStage)._piece_shapes())
