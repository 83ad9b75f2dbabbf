"""The scene's panels: what each says and draws, against numbers reckoned another way."""

from __future__ import annotations

import functools
import html
import json
import re
from collections import defaultdict

import numpy as np
import pytest

from simulator import Recording, catalogue, compile_kernel, record, simulate
from simulator.parts import parts
from simulator.requests import requests
from simulator.tree import Barrier
from ui.intervals import unordered
from ui.palette import PALETTES
from ui.panels.canvas import SPACE, Grid
from ui.panels.paths import fill, hatch
from ui.panels.requests import RequestsPanel, headline, tallies
from ui.panels.sentence import LIST_LINES, PART_WIDTH, WordsPanel, _shortened, chosen, opened
from ui.panels.shared import SharedPanel
from ui.panels.source import SourcePanel, _layers, runs
from ui.panels.threads import (
    ThreadsPanel,
    accumulator,
    across_of,
    global_loads,
    held,
    naive_loads,
    waiting,
)
from ui.panels.timeline import TimelinePanel, troubled
from ui.story import Story, tell

PANELS = (SourcePanel, SharedPanel, RequestsPanel, ThreadsPanel, WordsPanel, TimelinePanel)
WARP_TILE = {"WARPS_DOWN": 1, "WARPS_ACROSS": 1, "ROWS": 4, "COLUMNS": 4, "DEPTH": 4}
SIZES = [  # kernel, M, N, K, block x and y, macros
    ("naive", 8, 32, 4, (0, 0), {}),
    ("uncoalesced", 32, 8, 3, (0, 0), {}),
    ("tiled", 4, 4, 4, (1, 1), {"TILE": 2}),
    ("tiled", 8, 8, 8, (1, 0), {"TILE": 4}),
    ("tiled", 5, 7, 3, (1, 1), {"TILE": 4}),
    ("tiled", 64, 64, 64, (1, 2), {"TILE": 16}),
    ("tiled_double", 10, 9, 7, (1, 1), {"TILE": 4}),
    ("transposed", 32, 32, 16, (0, 1), {"TILE": 16}),
    ("padded", 16, 16, 16, (1, 0), {"TILE": 8}),
    ("swizzled", 8, 8, 8, (0, 0), {"TILE": 8}),
    ("rows", 8, 8, 8, (0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}),
    ("registers", 8, 8, 4, (0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 2}),
    ("vectors", 8, 8, 4, (0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}),
    ("pipelined", 8, 8, 8, (0, 0), {"TILE": 8, "DEPTH": 4, "EACH": 4}),
    ("warptiles", 16, 32, 8, (0, 0), WARP_TILE),
    ("warptiles", 32, 32, 8, (0, 0), WARP_TILE | {"WARPS_DOWN": 2}),
]


@functools.cache
def recorded(number: int) -> Recording:
    name, M, N, K, (x, y), defines = SIZES[number]
    return run(name, M, N, K, (x, y, 0), defines)


def run(name, M, N, K, block=(0, 0, 0), defines=None, text=None, schedule="lockstep") -> Recording:
    kernel, launch = launched(name, M, N, K, defines, text)
    return record(kernel, launch, block, schedule)


def launched(name, M, N, K, defines=None, text=None):
    entry, random = catalogue()[name], np.random.default_rng((M, N, K))
    arguments = {
        "A": random.integers(1, 10, (M, K)), "B": random.integers(1, 10, (K, N)),
        "C": np.zeros((M, N)), "M": M, "N": N, "K": K,
    }  # fmt: skip
    text = text or entry.source(**(defines or {}))
    return compile_kernel(text, entry.kernel), entry.launch(arguments, **(defines or {}))


def story(number: int) -> Story:
    recording = recorded(number)
    return tell(recording, recording.launch.threads // 3)


EACH = pytest.mark.parametrize("number", range(len(SIZES)), ids=lambda i: f"{SIZES[i][0]}-{i}")


# The protocol -------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("panel", PANELS)
def test_only_texts_and_paths_change_from_step_to_step(number, panel, theme):
    told = story(number)
    one, steps = panel(told, PALETTES[theme]), told.recording.steps
    chosen_steps = {0, len(steps) // 3, len(steps) // 2, len(steps) - 1}
    looks = set()
    for at in sorted(chosen_steps):
        traces, shapes = one.changing(steps[at]), one.shapes(steps[at])
        assert all(text for trace in traces for text in trace["text"])
        assert all(shape["path"].startswith("M") for shape in shapes)
        fixed = [{**trace, "text": len(trace["text"])} for trace in traces]
        looks.add(json.dumps([fixed, [(shape["type"], shape["layer"]) for shape in shapes]]))
    assert len(looks) == 1
    assert all(np.isfinite(trace[axis]).all() for trace in traces for axis in "xy")


@EACH
def test_texts_stay_on_the_sheet_and_hold_no_markup_but_bold(number):
    told = story(number)
    for panel in PANELS:
        one = panel(told, PALETTES["light"])
        for trace in [*one.static(), *one.changing(told.recording.steps[-1])]:
            if trace["type"] == "scatter":
                assert all(0 <= x <= 1600 for x in trace["x"] if x is not None)
                assert all(0 <= y <= 900 for y in trace["y"] if y is not None)
        for step in told.recording.steps[:: max(1, len(told.recording.steps) // 9)]:
            for trace in one.changing(step):
                plain = [re.sub(r"</?b>|&(amp|lt|gt);", "", text) for text in trace["text"]]
                assert not re.search(r"[<>&]", "".join(plain))


@EACH
def test_every_title_says_what_it_shows_and_what_it_simplifies(number):
    told = story(number)
    said = [
        text
        for panel in PANELS
        for trace in panel(told, PALETTES["dark"]).static()
        for text in trace.get("hovertext", [])
    ]
    assert len(said) >= len(PANELS) - (not told.recording.shared)
    assert all(len(line) <= 60 for text in said for line in text.split("<br>"))
    assert any("Simplified" in text for text in said)


@EACH
def test_a_click_finds_every_thread_and_every_shared_cell(number):
    told = story(number)
    first = told.recording.steps[0]
    found = {
        trace["name"]: np.asarray(trace["z"]).shape
        for panel in PANELS
        for trace in panel(told, PALETTES["light"]).static()
        if trace["type"] == "heatmap" and trace.get("hoverinfo") == "none"
    }
    rows, columns = found.pop("threads")
    x, y, z = told.recording.launch.block
    assert rows * columns == x * y * z
    assert columns == across_of((x, y, z))
    if y * z > 1:
        assert (rows, columns) == (y * z, x)
    assert found.pop("timeline") == (1, len(told.recording.steps))
    assert found == {
        f"shared:{name}": (values.size // values.shape[-1], values.shape[-1])
        for name, values in first.shared.items()
    }


# Paths --------------------------------------------------------------------------------------


def boxes(path: str) -> list[tuple[float, ...]]:
    numbers = r"M([\d.]+),([\d.]+)H([\d.]+)V([\d.]+)H\1Z"
    assert re.fullmatch(
        f"(?:{numbers.replace('(', '(?:').replace(chr(92) + '1', '[0-9.]+')})*", path
    )
    return [tuple(map(float, found)) for found in re.findall(numbers, path)]


@pytest.mark.parametrize("seed", range(6))
def test_a_fill_covers_the_chosen_cells_once_and_no_other(seed):
    random = np.random.default_rng(seed)
    grid = Grid(10, 20, 4, int(random.integers(1, 9)), int(random.integers(1, 9)))
    mask = random.random(grid.rows * grid.columns) < (0.3, 0.7, 1.1)[seed % 3]
    covered = np.zeros((grid.rows, grid.columns), int)
    for left, top, right, bottom in boxes(fill(grid, mask)):
        rows = slice(round((top - 20) / 4), round((bottom - 20) / 4))
        covered[rows, round((left - 10) / 4) : round((right - 10) / 4)] += 1
    assert covered.tolist() == mask.reshape(covered.shape).astype(int).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_a_hatch_draws_each_chosen_cells_diagonal_once(seed):
    random = np.random.default_rng(seed)
    grid = Grid(10, 20, 4, int(random.integers(1, 9)), int(random.integers(1, 9)))
    mask = random.random(grid.rows * grid.columns) < (0.3, 0.7, 1.1)[seed % 3]
    found = np.zeros((grid.rows, grid.columns), int)
    for part in re.findall(r"M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)", hatch(grid, mask)):
        x, y, to_x, to_y = ((float(n) - o) / 4 for n, o in zip(part, (10, 20, 10, 20), strict=True))
        assert to_x - x == pytest.approx(y - to_y)
        for i in range(round(to_x - x)):
            found[round(y) - 1 - i, round(x) + i] += 1
    assert found.tolist() == mask.reshape(found.shape).astype(int).tolist()


# Source -------------------------------------------------------------------------------------


def test_lines_are_counted_by_their_loops():
    counts = runs(run("tiled", 8, 8, 12, defines={"TILE": 4}))
    text = catalogue()["tiled"].source(TILE=4).split("\n")

    def line(part):
        return next(i for i, one in enumerate(text, 1) if part in one)

    assert counts[0] == {line("int tx"): 1}
    last = counts[-1]
    assert last[line("acc +=")] == 3 * 4
    assert last[line("for (int k")] == 3 * (4 + 1)
    assert last[line("for (int t")] == 3 + 1
    assert last[line("int a_col")] == 3


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_a_moving_text_is_whole_again_when_its_colours_are_laid_over_one_another(name):
    for line in catalogue()[name].source().split("\n"):
        layers = [html.unescape(layer).ljust(len(line)) for layer in _layers(line)]
        over = [[c for c in column if c != " "] or [" "] for column in zip(*layers, strict=True)]
        assert all(len(letters) == 1 for letters in over)
        assert "".join(letters[0] for letters in over) == line


@EACH
def test_the_current_line_is_always_shown(number):
    told = story(number)
    panel = SourcePanel(told, PALETTES["light"])
    tokens = told.recording.kernel.text.split("\n")
    for step in told.recording.steps[:: max(1, len(told.recording.steps) // 25)]:
        shown = panel.static()[1:3] or panel.changing(step)[1:3]
        here = panel.shapes(step)[0]["path"]
        top, low = (float(part) for part in re.findall(r"[,V]([\d.]+)", here))
        rows = [i for i, y in enumerate(shown[0]["y"]) if top <= y <= low]
        assert [shown[0]["text"][i] for i in rows] == [str(step.line)]
        assert tokens[step.line - 1].strip()


# Shared memory ------------------------------------------------------------------------------


@EACH
def test_cells_are_hatched_until_they_are_written(number):
    told = story(number)
    panel = SharedPanel(told, PALETTES["light"])
    ever = {n: cells.reshape(-1) for n, cells in told.recording.steps[-1].written.items()}
    for step in told.recording.steps[:: max(1, len(told.recording.steps) // 9)]:
        paths = [shape["path"] for shape in panel.shapes(step)]
        coming = padding = ""
        for name, grid in panel.grids.items():
            coming += hatch(grid, ever[name] & ~step.written[name].reshape(-1))
            padding += hatch(grid, ~ever[name])
        if panel.grids:
            assert {coming or "M0,0Z", padding or "M0,0Z"} <= set(paths)


@pytest.mark.parametrize(
    ("name", "defines", "padding"),
    [
        ("padded", {"TILE": 8}, {"As": 0, "Bs": 1}),
        ("tiled", {"TILE": 8}, {"As": 0, "Bs": 0}),
        ("vectors", {"TILE": 8, "DEPTH": 4, "EACH": 4}, {"As": 4, "Bs": 0}),
    ],
)
def test_a_title_counts_the_columns_of_padding(name, defines, padding):
    panel = SharedPanel(tell(run(name, 8, 8, 8, defines=defines), 0), PALETTES["light"])
    texts = {re.findall(r"<b>(\w+)", text)[0]: text for text in panel.static()[0]["text"]}
    for array, columns in padding.items():
        found = re.findall(r"(\d+) (?:columns? of )?padding", texts[array])
        assert found == ([str(columns)] if columns else [])


@pytest.mark.parametrize("place", range(2))
def test_values_stand_in_their_cells(place):
    recording = run("tiled", 4, 4, 4, defines={"TILE": 4})
    panel = SharedPanel(tell(recording, 0), PALETTES["light"])
    values = np.asarray(recording.arguments["AB"[place]]).reshape(-1)
    texts = panel.changing(recording.steps[-1])[place]["text"]
    assert texts == [str(int(value)) for value in values]
    assert set(panel.changing(recording.steps[0])[place]["text"]) == {SPACE}


BARRIER = "__syncthreads();"


def without(name: str, which: int, **defines: int) -> str:
    pieces = catalogue()[name].source(**defines).split(BARRIER)
    return BARRIER.join(pieces[:which]) + BARRIER.join(["", *pieces[which:]])[len(BARRIER) :]


@EACH
def test_a_correct_kernel_has_no_step_in_disorder(number):
    assert not any(unordered(recorded(number)))
    assert not any(troubled(story(number)))


@pytest.mark.parametrize("tile", [4, 8])
@pytest.mark.parametrize("name", ["tiled", "transposed", "padded", "swizzled"])
@pytest.mark.parametrize("barrier", [1, 2])
def test_a_missing_barrier_shows_where_the_referee_sees_its_race(name, tile, barrier):
    text = without(name, barrier, TILE=tile)
    assert text.count(BARRIER) == 1
    kernel, launch = launched(name, 16, 16, 16, {"TILE": tile}, text)
    found = unordered(record(kernel, launch))
    steps = record(kernel, launch).steps
    lines = {step.line for step, wrong in zip(steps, found, strict=True) if wrong}
    report = simulate(kernel, launch)
    later = {line for hazard in report.hazards for line in hazard.lines}
    assert lines
    assert lines <= later
    step, wrong = next((s, w) for s, w in zip(steps, found, strict=True) if w)
    arrays = {hazard.array for hazard in report.hazards}
    assert set(wrong) <= arrays
    told = tell(record(kernel, launch), 0)
    note = SharedPanel(told, PALETTES["light"]).changing(step)[-1]["text"][0]
    assert f"{sum(cells.size for cells in wrong.values())} cells" in note
    assert sum(troubled(told)) == sum(map(bool, found))


@pytest.mark.parametrize("schedule", ["ascending", "descending"])
@pytest.mark.parametrize(
    ("name", "defines"),
    [
        ("tiled", {"TILE": 8}),
        ("swizzled", {"TILE": 16}),
        ("pipelined", {"TILE": 16, "DEPTH": 4, "EACH": 4}),
        ("warptiles", WARP_TILE | {"WARPS_DOWN": 2}),
    ],
)
def test_no_order_of_warps_brings_a_correct_kernel_into_disorder(name, defines, schedule):
    assert not any(unordered(run(name, 32, 32, 8, defines=defines, schedule=schedule)))


def test_stale_and_unset_cells_are_told_where_one_warp_runs_ahead():
    text = without("tiled", 1, TILE=8)
    recording = run("tiled", 8, 8, 16, defines={"TILE": 8}, text=text, schedule="ascending")
    found = unordered(recording)
    line = next(i for i, one in enumerate(text.split("\n"), 1) if "acc +=" in one)
    ahead = [
        (step, wrong)
        for step, wrong in zip(recording.steps, found, strict=True)
        if step.line == line and step.active[0]
    ]
    for k, (_, wrong) in enumerate(ahead[:8]):  # rows 4 to 7 are the other warp's to load
        assert {8 * 4 + 8 * i + k for i in range(4)}.isdisjoint(wrong["As"].tolist())
        assert ({8 * k + i for i in range(8)} <= set(wrong["Bs"].tolist())) or k < 4
    panel = SharedPanel(tell(recording, 0), PALETTES["light"])
    notes = [panel.changing(step)[-1]["text"][0] for step, _ in ahead]
    assert "8 cells read before anything was written there" in notes[4]
    assert "read before anything" not in notes[12]
    assert "no barrier between" in notes[12]


def test_a_cell_read_before_it_is_written_is_told():
    text = catalogue()["tiled"].source(TILE=4).replace("As[ty][k]", "As[ty][k + 1 & 3]")
    text = text.replace("As[ty][tx] =", "if (tx) As[ty][tx] =")
    recording = run("tiled", 4, 4, 4, defines={"TILE": 4}, text=text)
    found = [wrong for wrong in unordered(recording) if wrong]
    assert [{n: c.tolist() for n, c in wrong.items()} for wrong in found] == [{"As": [0, 4, 8, 12]}]


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


@EACH
def test_a_card_has_a_mark_for_each_word_of_each_lane(number):
    told = story(number)
    panel = RequestsPanel(told, PALETTES["light"])
    for step in told.recording.steps[:: max(1, len(told.recording.steps) // 60)]:
        asked = requests(told.recording, step, panel.warp)
        if len(asked) != 1 or asked[0].access.space != "shared":
            continue
        request = asked[0]
        marks = [box for shape in panel.shapes(step)[3:8] for box in boxes(seen(shape))]
        bank = (1580 - 1152 - 22) / 32
        on_card = [box for box in marks if box[1] < 484]
        under = [box for box in marks if box[1] >= 484]
        width = sum(right - left for left, _, right, _ in on_card)
        assert width == pytest.approx(bank * (request.words >= 0).sum(), rel=0.01)
        served = {
            (turn, word)
            for turn, words in zip(request.wavefronts.tolist(), request.words.tolist(), strict=True)
            for word in words
            if word >= 0
        }
        width = sum(right - left for left, _, right, _ in under)
        assert width == pytest.approx(bank * len(served), rel=0.01)
        assert len({round(top) for _, top, _, _ in under}) == request.passes


def seen(shape) -> str:
    return "" if shape["path"] == "M0,0Z" else shape["path"]


@EACH
def test_sectors_are_drawn_once_and_useful_bytes_are_filled(number):
    told = story(number)
    panel = RequestsPanel(told, PALETTES["light"])
    for step in told.recording.steps:
        asked = requests(told.recording, step, panel.warp)
        if len(asked) != 1 or asked[0].access.space != "global":
            continue
        shapes = panel.shapes(step)
        assert len(boxes(seen(shapes[2]))) == len(asked[0].sectors)
        assert len(boxes(seen(shapes[0]))) == len(asked[0].lines)
        wide = sum(b[2] - b[0] for shape in shapes[3:8] for b in boxes(seen(shape)))
        assert wide / (1580 - 1152) * 128 == pytest.approx(asked[0].useful, rel=0.01)
        said = " ".join(panel.changing(step)[3]["text"])
        assert f"{asked[0].useful} of {asked[0].fetched} bytes useful" in said
        return


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
    told = tell(run(name, M, N, K, block, defines), 0)
    ours, theirs = global_loads(told), naive_loads(told)
    assert (ours[-1], theirs[-1]) == (mine, naive)
    assert ours == sorted(ours)
    assert theirs == sorted(theirs)
    texts = ThreadsPanel(told, PALETTES["light"]).changing(told.recording.steps[-1])
    said = " ".join(text for trace in texts for text in trace["text"])
    assert f"<b>{mine:,}</b>" in said
    assert f"naive <b>{naive:,}</b>" in said


def test_naive_loads_grow_with_each_product():
    told = tell(run("tiled", 8, 8, 8, defines={"TILE": 4}), 0)
    products = 0
    for step, loads in zip(told.recording.steps, naive_loads(told), strict=True):
        products += 16 * (sum(a.space == "shared" and a.kind == "load" for a in step.accesses) == 2)
        assert loads == 2 * products


@EACH
def test_the_sums_end_as_the_blocks_part_of_the_product(number):
    told = story(number)
    variable = accumulator(told)
    assert variable is not None
    sums = held(told, variable)[-1]
    last = told.recording.steps[-1]
    arguments = told.recording.arguments
    product = arguments["A"].astype(np.int64) @ arguments["B"].astype(np.int64)
    stored = np.asarray(last.stored["C"]).reshape(product.shape)
    ours = np.sort(np.asarray(sums, np.int64).reshape(-1))
    inside = np.sort(product[stored])
    assert ours[ours != 0].tolist() == inside[inside != 0].tolist()


def test_who_waits_at_a_barrier_is_marked_and_counted():
    told = tell(run("tiled", 8, 8, 8, defines={"TILE": 4}), 5)
    panel = ThreadsPanel(told, PALETTES["light"])
    for step in told.recording.steps:
        feet = panel.shapes(step)[5]["path"]
        barrier = isinstance(step.statement, Barrier)
        assert len(re.findall(r"M[\d.]+,[\d.]+H", feet)) == (16 if barrier else 0)
        said = [text for trace in panel.changing(step) for text in trace["text"]]
        assert ("16 of 16 have come to the barrier" in said) == barrier


def test_a_warp_waits_while_the_other_runs():
    recording = run("tiled", 8, 8, 8, defines={"TILE": 8}, schedule="ascending")
    waits = [int(threads.sum()) for threads in waiting(tell(recording, 0))]
    barriers = [step.number for step in recording.steps if isinstance(step.statement, Barrier)]
    assert len(barriers) == 4
    for first, second in (barriers[:2], barriers[2:]):
        assert waits[first - 1] == 0
        assert set(waits[first:second]) == {32}
        assert waits[second : second + 2] == [64, 0]
    panel = ThreadsPanel(tell(recording, 0), PALETTES["light"])
    said = [t for trace in panel.changing(recording.steps[barriers[0] + 1]) for t in trace["text"]]
    assert "32 of 64 active, 32 wait at the barrier" in said


def test_idle_threads_are_hatched():
    told = tell(run("tiled", 5, 7, 3, (1, 1, 0), {"TILE": 4}), 0)
    panel = ThreadsPanel(told, PALETTES["light"])
    step = told.recording.steps[-1]
    assert hatch(panel.grid, np.arange(16) >= 3) in [s["path"] for s in panel.shapes(step)]
    assert "3 of 16 active" in panel.changing(step)[1]["text"]


# Words --------------------------------------------------------------------------------------


@EACH
def test_a_statement_opens_into_its_parts(number):
    told = story(number)
    panel = WordsPanel(told, PALETTES["light"])
    for step in told.recording.steps[:: max(1, len(told.recording.steps) // 20)]:
        pieces = parts(told.recording, step, told.thread)
        lines = opened(told.recording, step, told.thread)
        assert len(lines) == len(pieces)
        for piece, line in zip(pieces, lines, strict=True):
            if piece.cell is not None and piece.cell.bank is not None:
                assert f"bank {piece.cell.bank}" in line
        kept = chosen(pieces)
        accesses = [p for p in pieces if p.kind in ("load", "store", "atomic")]
        assert all(piece in kept for piece in accesses)
        shown = [text for text in panel.changing(step)[3]["text"] if text != SPACE]
        assert len(shown) == min(len(kept), LIST_LINES)


def test_the_thread_says_what_it_did_with_its_numbers():
    recording = run("tiled", 4, 4, 4, defines={"TILE": 2})
    told = tell(recording, 1)
    step = next(s for s in recording.steps if {a.name for a in s.accesses} == {"As", "Bs"})
    a, b = int(recording.arguments["A"][0, 0]), int(recording.arguments["B"][0, 1])
    sentence = WordsPanel(told, PALETTES["light"]).changing(step)[0]["text"][0]
    assert sentence == f"acc = 0 + As[0][0] × Bs[0][1] = 0 + {a} × {b} = {a * b}."
    assert f"As[ty][k]: As[0][0] holds {a} (byte 0, bank 0)" in opened(recording, step, 1)
    assert f"Bs[k][tx]: Bs[0][1] holds {b} (byte 4, bank 5)" in opened(recording, step, 1)


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
    assert _shortened(line) == shown
    assert len(_shortened(line)) <= PART_WIDTH
