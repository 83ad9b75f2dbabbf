"""What the scene says of warps and threads: requests, sums, loads, words."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
import pytest

from simulator import record
from simulator.language.tree import Barrier
from simulator.recording.barriers import waiting_threads
from simulator.recording.requests import requests
from simulator.sentences.parts import parts
from tests.simulator.launches import matmul
from tests.ui.scene_models import EACH, SIZES, boxes, run, scene_model
from ui.analysis.loads import global_loads, naive_loads
from ui.analysis.products import accumulator
from ui.analysis.scene_model import build_scene_model
from ui.analysis.variable_values import values_by_step
from ui.drawing.canvas import SPACE, Grid
from ui.drawing.palette import PALETTES
from ui.drawing.paths import SMALLEST_FOOT, foot_bars, hatch
from ui.lecture.part_words import PART_WIDTH, describe_part, shorten_part
from ui.panels.requests import RequestsPanel, headline, tallies
from ui.panels.sentence import (
    LIST_LINES,
    WordsPanel,
    select_parts,
)
from ui.panels.threads import ThreadsPanel

# Requests -----------------------------------------------------------------------------------


def degree(addresses: list[int]) -> int:
    """The most words of one bank, of 4-byte accesses."""
    banks = defaultdict(set)
    for address in addresses:
        banks[address // 4 % 32].add(address // 4)
    return max(len(words) for words in banks.values())


@pytest.mark.parametrize(
    ("name", "tile", "index"),
    [
        ("tiled", 8, lambda tx, ty, k: k * 8 + tx),
        ("tiled", 16, lambda tx, ty, k: k * 16 + tx),
        ("transposed", 8, lambda tx, ty, k: tx * 8 + k),
        ("transposed", 16, lambda tx, ty, k: tx * 16 + k),
        ("transposed", 32, lambda tx, ty, k: tx * 32 + k),
        ("padded", 16, lambda tx, ty, k: tx * 17 + k),
        ("padded", 32, lambda tx, ty, k: tx * 33 + k),
        ("swizzled", 16, lambda tx, ty, k: tx * 16 + (k ^ tx)),
    ],
)
def test_the_headline_tells_the_conflict(name, tile, index):
    recording = run(name, tile, tile, tile, defines={"TILE": tile})
    step = next(s for s in recording.steps if {a.name for a in s.accesses} == {"As", "Bs"})
    request = next(r for r in requests(recording, step, 0) if r.access.name == "Bs")
    ways = degree([4 * index(lane % tile, lane // tile, 0) for lane in range(32)])
    first, second, _ = headline(request)
    assert first == f"<b>load Bs</b>: {f'{ways}-way' if ways > 1 else 'no'} conflict"
    assert second == f"{ways} wavefront{'s' if ways > 1 else ''} for 1 request"


@pytest.mark.parametrize(
    "number",
    # The others' steps ask shared memory for two arrays at once.
    [n for n, (name, *_) in enumerate(SIZES)
     if name in ("rows", "registers", "vectors", "pipelined", "warptiles")],
)  # fmt: skip
def test_a_card_has_a_mark_for_each_word_of_each_lane(number):
    model = scene_model(number)
    panel = RequestsPanel(model, PALETTES["light"])
    cards = [
        (step, asked[0])
        for step in model.recording.steps
        for asked in [requests(model.recording, step, panel.warp)]
        if len(asked) == 1 and asked[0].access.space == "shared"
    ]
    assert cards
    for step, request in cards[:: max(1, len(cards) // 20)]:
        marks = [box for shape in panel.shapes(step)[3:8] for box in boxes(seen(shape))]
        bank = (1580 - 1152 - 22) / 32
        on_card = [box for box in marks if box[1] < 484]
        under = [box for box in marks if box[1] >= 484]
        width = sum(right - left for left, _, right, _ in on_card)
        assert width == pytest.approx(bank * (request.words >= 0).sum(), rel=0.01)
        served = {
            (turn, word)
            for turn, words in zip(
                request.wavefront_numbers.tolist(), request.words.tolist(), strict=True
            )
            for word in words
            if word >= 0
        }
        width = sum(right - left for left, _, right, _ in under)
        assert width == pytest.approx(bank * len(served), rel=0.01)
        assert len({round(top) for _, top, _, _ in under}) == request.wavefront_count


def seen(shape) -> str:
    return "" if shape["path"] == "M0,0Z" else shape["path"]


@EACH
def test_sectors_are_drawn_once_and_useful_bytes_are_filled(number):
    model = scene_model(number)
    panel = RequestsPanel(model, PALETTES["light"])
    step, request = next(
        (step, asked[0])
        for step in model.recording.steps
        for asked in [requests(model.recording, step, panel.warp)]
        if len(asked) == 1 and asked[0].access.space == "global"
    )
    shapes = panel.shapes(step)
    assert len(boxes(seen(shapes[2]))) == len(request.sectors)
    assert len(boxes(seen(shapes[0]))) == len(request.lines)
    wide = sum(b[2] - b[0] for shape in shapes[3:8] for b in boxes(seen(shape)))
    assert wide / (1580 - 1152) * 128 == pytest.approx(request.useful_bytes, rel=0.01)
    said = " ".join(panel.changing(step)[3]["text"])
    assert f"{request.useful_bytes} of {request.fetched_bytes} bytes useful" in said


def test_the_tally_of_a_warp_adds_up():
    recording = run("transposed", 16, 16, 32, defines={"TILE": 16})
    said = tallies([requests(recording, step, 0) for step in recording.steps])
    assert said[0] == ["Nothing asked of memory yet"]
    assert said[-1][1:] == [
        "load A: 2 requests, 8 sectors",
        "store As: 2 requests, 2 wavefronts",
        "load B: 2 requests, 8 sectors",
        "store Bs: 2 requests, 16 wavefronts",
        "load As: 32 requests, 32 wavefronts",
        "load Bs: 32 requests, 256 wavefronts",
    ]


# Threads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "M", "N", "K", "block", "defines", "mine", "naive"),
    [
        ("tiled", 8, 8, 8, (1, 1, 0), {"TILE": 4}, 2 * 4 * 8, 2 * 16 * 8),
        ("tiled", 64, 64, 64, (0, 0, 0), {"TILE": 16}, 2 * 16 * 64, 2 * 256 * 64),
        ("tiled", 5, 7, 3, (1, 1, 0), {"TILE": 4}, (1 + 3) * 3, 2 * 3 * 3),
        ("tiled_double", 8, 8, 8, (0, 0, 0), {"TILE": 4}, 2 * 4 * 8, 2 * 16 * 8),
        ("naive", 8, 32, 5, (0, 0, 0), {}, 2 * 256 * 5, 2 * 256 * 5),
        ("registers", 8, 8, 8, (0, 0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 2}, 128, 2 * 64 * 8),
        ("vectors", 8, 8, 8, (0, 0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}, 128, 2 * 64 * 8),
        ("pipelined", 8, 8, 8, (0, 0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}, 128, 2 * 64 * 8),
    ],
)
def test_loads_are_those_of_the_closed_form(name, M, N, K, block, defines, mine, naive):
    model = build_scene_model(run(name, M, N, K, block, defines), 0)
    ours, theirs = global_loads(model), naive_loads(model)
    assert (ours[-1], theirs[-1]) == (mine, naive)
    assert ours == sorted(ours)
    assert theirs == sorted(theirs)
    texts = ThreadsPanel(model, PALETTES["light"]).changing(model.recording.steps[-1])
    said = " ".join(text for trace in texts for text in trace["text"])
    assert f"<b>{mine:,}</b>" in said
    assert f"naive <b>{naive:,}</b>" in said


def test_naive_loads_grow_with_each_product():
    model = build_scene_model(run("tiled", 8, 8, 8, defines={"TILE": 4}), 0)
    products = 0
    for step, loads in zip(model.recording.steps, naive_loads(model), strict=True):
        products += 16 * (sum(a.space == "shared" and a.kind == "load" for a in step.accesses) == 2)
        assert loads == 2 * products
    assert products == 16 * 8


@EACH
def test_the_sums_end_as_the_blocks_part_of_the_product(number):
    model = scene_model(number)
    variable = accumulator(model.recording)
    assert variable is not None
    sums = values_by_step(model.recording, variable.name)[-1]
    last = model.recording.steps[-1]
    arguments = model.recording.arguments
    product = arguments["A"].astype(np.int64) @ arguments["B"].astype(np.int64)
    stored = np.asarray(last.stored["C"]).reshape(product.shape)
    ours = np.sort(np.asarray(sums, np.int64).reshape(-1))
    inside = np.sort(product[stored])
    assert inside.size
    assert inside.all()
    assert ours[ours != 0].tolist() == inside[inside != 0].tolist()


def test_who_waits_at_a_barrier_is_marked_and_counted():
    model = build_scene_model(run("tiled", 8, 8, 8, defines={"TILE": 4}), 5)
    panel = ThreadsPanel(model, PALETTES["light"])
    barriers = 0
    for step in model.recording.steps:
        barrier = isinstance(step.statement, Barrier)
        barriers += barrier
        everyone = foot_bars(panel.grid, np.ones(16, np.bool_))
        assert (panel.shapes(step)[5]["path"] == everyone) == barrier
        said = [text for trace in panel.changing(step) for text in trace["text"]]
        assert ("16 of 16 have come to the barrier" in said) == barrier
    assert barriers == 2 * 2


@pytest.mark.parametrize("size", [10, 20])
def test_a_foot_is_in_each_cell_that_has_one_and_in_no_other(size):
    grid = Grid(0, 0, size, 3, 4)
    chosen = np.array([1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0], np.bool_)
    bars = re.findall(r"M([\d.]+),([\d.]+)H([\d.]+)", foot_bars(grid, chosen))
    found = [(float(left) / size, float(y) / size, float(right) / size) for left, y, right in bars]
    if size < SMALLEST_FOOT:
        expected = [(0.2, 0.86, 1.8), (3.2, 0.86, 3.8), (1.2, 2.86, 2.8)]
    else:
        cells = np.argwhere(chosen.reshape(3, 4)).tolist()
        expected = [(column + 0.2, row + 0.86, column + 0.8) for row, column in cells]
    assert np.allclose(sorted(found), sorted(expected))
    assert not foot_bars(grid, chosen & ~chosen)


def test_a_warp_waits_while_the_other_runs():
    recording = run("tiled", 8, 8, 8, defines={"TILE": 8}, schedule="ascending")
    waits = [int(threads.sum()) for threads in waiting_threads(recording)]
    barriers = [step.number for step in recording.steps if isinstance(step.statement, Barrier)]
    assert len(barriers) == 4
    for first, second in (barriers[:2], barriers[2:]):
        assert waits[first - 1] == 0
        assert set(waits[first:second]) == {32}
        assert waits[second : second + 2] == [64, 0]
    panel = ThreadsPanel(build_scene_model(recording, 0), PALETTES["light"])
    said = [t for trace in panel.changing(recording.steps[barriers[0] + 1]) for t in trace["text"]]
    assert "32 of 64 active, 32 wait at the barrier" in said


def test_idle_threads_are_hatched():
    model = build_scene_model(run("tiled", 5, 7, 3, (1, 1, 0), {"TILE": 4}), 0)
    panel = ThreadsPanel(model, PALETTES["light"])
    step = model.recording.steps[-1]
    assert hatch(panel.grid, np.arange(16) >= 3) in [s["path"] for s in panel.shapes(step)]
    assert "3 of 16 active" in panel.changing(step)[1]["text"]


# Words --------------------------------------------------------------------------------------


@EACH
def test_a_statement_opens_into_its_parts(number):
    model = scene_model(number)
    panel = WordsPanel(model, PALETTES["light"])
    steps = model.recording.steps
    shared = [step for step in steps if any(a.space == "shared" for a in step.accesses)]
    banks = 0
    for step in [*steps[:: max(1, len(steps) // 20)], *shared[:4]]:
        pieces = parts(model.recording, step, model.thread)
        for piece in pieces:
            if piece.cell is not None and piece.cell.bank is not None:
                assert f"bank {piece.cell.bank}" in describe_part(piece)
                banks += 1
        selected = select_parts(pieces)
        accesses = [p for p in pieces if p.kind in ("load", "store", "atomic")]
        assert {id(piece) for piece in accesses} <= {id(piece) for piece in selected}
        shown = [text for text in panel.changing(step)[3]["text"] if text != SPACE]
        assert len(shown) == min(len(selected), LIST_LINES)
    assert (banks > 0) == (len(shared) > 0)


def test_the_thread_says_what_it_did_with_its_numbers():
    recording = run("tiled", 4, 4, 4, defines={"TILE": 2})
    model = build_scene_model(recording, 1)
    step = next(s for s in recording.steps if {a.name for a in s.accesses} == {"As", "Bs"})
    a, b = int(recording.arguments["A"][0, 0]), int(recording.arguments["B"][0, 1])
    sentence = WordsPanel(model, PALETTES["light"]).changing(step)[0]["text"][0]
    assert sentence == f"acc = 0 + As[0][0] × Bs[0][1] = 0 + {a} × {b} = {a * b}."
    lines = [describe_part(piece) for piece in parts(recording, step, 1)]
    assert f"As[ty][k]: As[0][0] holds {a} (byte 0, bank 0)" in lines
    assert f"Bs[k][tx]: Bs[0][1] holds {b} (byte 4, bank 5)" in lines


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("k = 0 + 1 = 1", "k = 0 + 1 = 1"),
        ("t < (K + TILE - 1) / TILE = 1 < (16 + 2 − 1) / 2 = true",
         "t < (K + TILE - 1) / TILE = true"),
        (f"{'x + ' * 20}x = 84", f"{'x + ' * 11}x … = 84"),
        (f"{'word ' * 12}end", f"{'word ' * 10}…"),
    ],
)  # fmt: skip
def test_a_part_too_long_for_its_line_keeps_its_result(line, shown):
    assert shorten_part(line) == shown
    assert len(shorten_part(line)) <= PART_WIDTH


def test_nobody_waits_any_more_when_the_next_barrier_follows_at_once():
    twice = "__syncthreads_or(__syncthreads_and(t < K));"
    kernel, launch = matmul("tiled", 8, 8, 8, (("__syncthreads();", twice),), TILE=8)
    recording = record(kernel, launch, schedule="ascending")
    waits = [int(threads.sum()) for threads in waiting_threads(recording)]
    barriers = [step.number for step in recording.steps if isinstance(step.statement, Barrier)]
    assert [waits[number] for number in barriers] == [32, 64] * 4
    assert barriers[1] - barriers[0] > 1
    assert barriers[1:4] == list(range(barriers[1], barriers[1] + 3))
