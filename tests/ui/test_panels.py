"""The scene's panels: what each says and draws, against numbers reckoned another way."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest

from simulator import catalogue, record, simulate
from tests.ui.scene_models import (
    EACH,
    PANELS,
    SIZES,
    WARP_TILE,
    boxes,
    launched,
    recorded,
    run,
    scene_model,
)
from ui.analysis.hazard_steps import steps_with_hazards
from ui.analysis.scene_model import build_scene_model
from ui.analysis.unordered_cells import find_unordered_cells
from ui.drawing.canvas import SPACE, Grid
from ui.drawing.hit import Hit
from ui.drawing.palette import PALETTES
from ui.drawing.paths import HATCH_APART, fill, hatch
from ui.lecture.cells import columns_of_block
from ui.lecture.highlight import highlight
from ui.panels.matrices import MatricesPanel
from ui.panels.requests import RequestsPanel
from ui.panels.sentence import WordsPanel
from ui.panels.shared import SharedPanel
from ui.panels.source import SourcePanel, _layers, runs
from ui.panels.threads import ThreadsPanel
from ui.panels.timeline import TimelinePanel

# The protocol -------------------------------------------------------------------------------


@pytest.mark.sample(5)
@EACH
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.deep)])
@pytest.mark.parametrize("panel", PANELS)
def test_only_texts_and_paths_change_from_step_to_step(number, panel, theme):
    model = scene_model(number)
    one, steps = panel(model, PALETTES[theme]), model.recording.steps
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
    model = scene_model(number)
    for panel in PANELS:
        one = panel(model, PALETTES["light"])
        for trace in [*one.static(), *one.changing(model.recording.steps[-1])]:
            if trace["type"] == "scatter":
                assert all(0 <= x <= 1600 for x in trace["x"] if x is not None)
                assert all(0 <= y <= 900 for y in trace["y"] if y is not None)
        for step in model.recording.steps[:: max(1, len(model.recording.steps) // 9)]:
            for trace in one.changing(step):
                plain = [re.sub(r"</?b>|&(amp|lt|gt);", "", text) for text in trace["text"]]
                assert not re.search(r"[<>&]", "".join(plain))


@EACH
def test_every_title_says_what_it_shows_and_what_it_simplifies(number):
    model = scene_model(number)
    said = [
        text
        for panel in PANELS
        for trace in panel(model, PALETTES["dark"]).static()
        for text in trace.get("hovertext", [])
    ]
    assert len(said) >= len(PANELS) - (not model.recording.shared)
    assert all(len(line) <= 60 for text in said for line in text.split("<br>"))
    assert any("Simplified" in text for text in said)


@EACH
def test_a_click_finds_every_thread_and_every_cell_of_an_array(number):
    model = scene_model(number)
    step = model.recording.steps[0]
    matrices = MatricesPanel(model, model.product, PALETTES["light"])
    grids = matrices, SharedPanel(model, PALETTES["light"])
    sizes = {f"global:{name}": rows * columns for name, (rows, columns) in model.shapes.items()}
    sizes |= {f"shared:{name}": values.size for name, values in step.shared.items()}
    found = {}
    for panel in grids:
        prefix = "shared:" if isinstance(panel, SharedPanel) else "global:"
        for name, grid in panel.grids.items():
            found[prefix + name] = hits(panel, step, grid)
    assert found == {name: [Hit(name, i) for i in range(size)] for name, size in sizes.items()}
    panel = ThreadsPanel(model, PALETTES["light"])
    threads = model.recording.launch.threads
    cells = panel.grid.rows * panel.grid.columns
    expected = [Hit("thread", i) if i < threads else None for i in range(cells)]
    assert hits(panel, step, panel.grid) == expected
    x, y, z = model.recording.launch.block
    assert panel.grid.columns == columns_of_block((x, y, z))
    if y * z > 1:
        assert (panel.grid.rows, panel.grid.columns) == (y * z, x)


def hits(panel, step, grid):
    """What the middle of each cell of a panel's grid is; nothing lies just beyond its edges."""
    for x, y in [
        (grid.left - 1, grid.top + 1), (grid.left + 1, grid.top - 1),
        (grid.right + 1, grid.bottom - 1), (grid.right - 1, grid.bottom + 1),
    ]:  # fmt: skip
        assert panel.hit(step, x, y) is None
    return [
        panel.hit(step, *grid.centre(row, column))
        for row in range(grid.rows)
        for column in range(grid.columns)
    ]


@EACH
def test_a_click_on_a_row_of_the_source_finds_its_line(number):
    model = scene_model(number)
    panel = SourcePanel(model, PALETTES["light"])
    for step in model.recording.steps[:: max(1, len(model.recording.steps) // 9)]:
        numbers = (panel.static()[1:3] or panel.changing(step)[1:3])[0]
        shown = [
            (y, int(text)) for y, text in zip(numbers["y"], numbers["text"], strict=True)
            if text.strip(SPACE)
        ]  # fmt: skip
        assert step.line in {line for _, line in shown}
        for y, line in shown:
            assert panel.hit(step, 300, y) == Hit("line", line)
            assert panel.hit(step, 5, y) is None
        assert panel.hit(step, 300, 20) is None
        assert panel.hit(step, 300, 600) is None


@EACH
@pytest.mark.parametrize("panel", [RequestsPanel, WordsPanel, TimelinePanel])
def test_what_cannot_be_clicked_is_no_hit(number, panel):
    model = scene_model(number)
    one, step = panel(model, PALETTES["light"]), model.recording.steps[-1]
    places = [(x, y) for x in range(0, 1600, 40) for y in range(0, 900, 30)]
    assert {one.hit(step, x, y) for x, y in places} == {None}


# Paths --------------------------------------------------------------------------------------


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


def hatched(grid, mask):
    """How often each cell's diagonal is drawn."""
    found = np.zeros((grid.rows, grid.columns), int)
    for part in re.findall(r"M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)", hatch(grid, mask)):
        x, y, to_x, to_y = (
            (float(n) - o) / grid.size for n, o in zip(part, (10, 20, 10, 20), strict=True)
        )
        assert to_x - x == pytest.approx(y - to_y)
        for i in range(round(to_x - x)):
            found[round(y) - 1 - i, round(x) + i] += 1
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_hatch_draws_each_chosen_cells_diagonal_once(seed):
    random = np.random.default_rng(seed)
    grid = Grid(10, 20, HATCH_APART, int(random.integers(1, 9)), int(random.integers(1, 9)))
    mask = random.random(grid.rows * grid.columns) < (0.3, 0.7, 1.1)[seed % 3]
    found = hatched(grid, mask)
    assert found.tolist() == mask.reshape(found.shape).astype(int).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_a_hatch_of_small_cells_draws_every_other_diagonal_and_leaves_none_bare(seed):
    random = np.random.default_rng(seed)
    grid = Grid(10, 20, HATCH_APART / 2, *(int(n) for n in random.integers(9, 30, 2)))
    mask = random.random(grid.rows * grid.columns) < (0.05, 0.97, 1.1)[seed % 3]
    found, chosen = hatched(grid, mask), mask.reshape(grid.rows, grid.columns)
    assert found.max() == 1
    assert not found[~chosen].any()
    even = np.add.outer(np.arange(grid.rows), np.arange(grid.columns)) % 2 == 0
    assert found[chosen & even].all(), "lines of rectangles side by side meet"
    alone = chosen & ~(np.pad(chosen, 1)[1:-1, 2:] | np.pad(chosen, 1)[1:-1, :-2])
    alone &= ~(np.pad(chosen, 1)[2:, 1:-1] | np.pad(chosen, 1)[:-2, 1:-1])
    assert found[alone].all(), "a cell alone has its own"


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
    lines = catalogue()[name].source().split("\n")
    for line, pieces in zip(lines, highlight(lines), strict=True):
        layers = [html.unescape(layer).ljust(len(line)) for layer in _layers(pieces)]
        over = [[c for c in column if c != " "] or [" "] for column in zip(*layers, strict=True)]
        assert all(len(letters) == 1 for letters in over)
        assert "".join(letters[0] for letters in over) == line


LONG_TEXTS = {"rows", "registers", "vectors", "pipelined", "warptiles"}


@EACH
def test_only_a_long_text_moves(number):
    static = SourcePanel(scene_model(number), PALETTES["light"]).static()
    assert (len(static) == 1) == (SIZES[number][0] in LONG_TEXTS)


@pytest.mark.parametrize(
    "number", [n for n, (name, *_) in enumerate(SIZES) if name not in LONG_TEXTS]
)
def test_a_text_that_does_not_move_is_shown_to_the_letter(number):
    model = scene_model(number)
    texts = [trace["text"] for trace in SourcePanel(model, PALETTES["light"]).static()]
    numbers, lines = texts[1:]
    shown = [
        html.unescape(re.sub("<[^>]*>", "", line)).replace("\xa0", " ").rstrip() for line in lines
    ]
    text = model.recording.kernel.text.rstrip().split("\n")
    assert shown == text[int(numbers[0]) - 1 :]


@EACH
def test_the_current_line_is_always_shown(number):
    model = scene_model(number)
    panel = SourcePanel(model, PALETTES["light"])
    tokens = model.recording.kernel.text.split("\n")
    for step in model.recording.steps[:: max(1, len(model.recording.steps) // 25)]:
        shown = panel.static()[1:3] or panel.changing(step)[1:3]
        here = panel.shapes(step)[0]["path"]
        top, low = (float(part) for part in re.findall(r"[,V]([\d.]+)", here))
        rows = [i for i, y in enumerate(shown[0]["y"]) if top <= y <= low]
        assert [shown[0]["text"][i] for i in rows] == [str(step.line)]
        assert tokens[step.line - 1].strip()


# Shared memory ------------------------------------------------------------------------------


@EACH
def test_cells_are_hatched_until_they_are_written(number):
    model = scene_model(number)
    panel = SharedPanel(model, PALETTES["light"])
    ever = {n: cells.reshape(-1) for n, cells in model.recording.steps[-1].written.items()}
    drawn = 0
    for step in model.recording.steps[:: max(1, len(model.recording.steps) // 9)]:
        paths = [shape["path"] for shape in panel.shapes(step)]
        coming = padding = ""
        for name, grid in panel.grids.items():
            coming += hatch(grid, ever[name] & ~step.written[name].reshape(-1))
            padding += hatch(grid, ~ever[name])
        assert {coming, padding} - {""} <= set(paths)
        drawn += bool(coming)
    assert bool(drawn) == bool(panel.grids) == bool(model.recording.shared)


@pytest.mark.parametrize(
    ("name", "defines", "padding"),
    [
        ("padded", {"TILE": 8}, {"As": 0, "Bs": 1}),
        ("tiled", {"TILE": 8}, {"As": 0, "Bs": 0}),
        ("vectors", {"TILE": 8, "DEPTH": 4, "EACH": 4}, {"As": 4, "Bs": 0}),
    ],
)
def test_a_title_counts_the_columns_of_padding(name, defines, padding):
    panel = SharedPanel(
        build_scene_model(run(name, 8, 8, 8, defines=defines), 0), PALETTES["light"]
    )
    texts = {re.findall(r"<b>(\w+)", text)[0]: text for text in panel.static()[0]["text"]}
    for array, columns in padding.items():
        found = re.findall(r"(\d+) (?:columns? of )?padding", texts[array])
        assert found == ([str(columns)] if columns else [])


@pytest.mark.parametrize("place", range(2))
def test_values_stand_in_their_cells(place):
    recording = run("tiled", 4, 4, 4, defines={"TILE": 4})
    panel = SharedPanel(build_scene_model(recording, 0), PALETTES["light"])
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
    assert not any(find_unordered_cells(recorded(number)))
    assert not any(steps_with_hazards(scene_model(number)))


@pytest.mark.sample(4)
@pytest.mark.parametrize("tile", [4, 8])
@pytest.mark.parametrize("name", ["tiled", "transposed", "padded", "swizzled"])
@pytest.mark.parametrize("barrier", [1, 2])
def test_a_missing_barrier_shows_where_the_referee_sees_its_race(name, tile, barrier):
    text = without(name, barrier, TILE=tile)
    assert text.count(BARRIER) == 1
    kernel, launch = launched(name, 16, 16, 16, {"TILE": tile}, text)
    found = find_unordered_cells(record(kernel, launch))
    steps = record(kernel, launch).steps
    lines = {step.line for step, wrong in zip(steps, found, strict=True) if wrong}
    report = simulate(kernel, launch)
    later = {line for hazard in report.hazards for line in hazard.lines}
    assert lines
    assert lines <= later
    step, wrong = next((s, w) for s, w in zip(steps, found, strict=True) if w)
    arrays = {hazard.array for hazard in report.hazards}
    assert set(wrong) <= arrays
    model = build_scene_model(record(kernel, launch), 0)
    note = SharedPanel(model, PALETTES["light"]).changing(step)[-1]["text"][0]
    assert f"{sum(cells.size for cells in wrong.values())} cells" in note
    assert sum(steps_with_hazards(model)) == sum(map(bool, found))


@pytest.mark.sample(4)
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
    assert not any(find_unordered_cells(run(name, 32, 32, 8, defines=defines, schedule=schedule)))


def test_stale_and_unset_cells_are_told_where_one_warp_runs_ahead():
    text = without("tiled", 1, TILE=8)
    recording = run("tiled", 8, 8, 16, defines={"TILE": 8}, text=text, schedule="ascending")
    found = find_unordered_cells(recording)
    line = next(i for i, one in enumerate(text.split("\n"), 1) if "acc +=" in one)
    ahead = [
        (step, wrong)
        for step, wrong in zip(recording.steps, found, strict=True)
        if step.line == line and step.active[0]
    ]
    for k, (_, wrong) in enumerate(ahead[:8]):  # rows 4 to 7 are the other warp's to load
        assert {8 * 4 + 8 * i + k for i in range(4)}.isdisjoint(wrong["As"].tolist())
        assert ({8 * k + i for i in range(8)} <= set(wrong["Bs"].tolist())) or k < 4
    panel = SharedPanel(build_scene_model(recording, 0), PALETTES["light"])
    notes = [panel.changing(step)[-1]["text"][0] for step, _ in ahead]
    assert "8 cells read before anything was written there" in notes[4]
    assert "read before anything" not in notes[12]
    assert "no barrier between" in notes[12]


def test_a_cell_read_before_it_is_written_is_told():
    text = catalogue()["tiled"].source(TILE=4).replace("As[ty][k]", "As[ty][k + 1 & 3]")
    text = text.replace("As[ty][tx] =", "if (tx) As[ty][tx] =")
    recording = run("tiled", 4, 4, 4, defines={"TILE": 4}, text=text)
    found = [wrong for wrong in find_unordered_cells(recording) if wrong]
    assert [{n: c.tolist() for n, c in wrong.items()} for wrong in found] == [{"As": [0, 4, 8, 12]}]


def test_a_line_that_takes_pygments_a_minute_has_no_colours() -> None:
    line = "# " + "/* */ " * 9000
    assert highlight(["int x;", line, "int y;"])[1:] == [
        [("plain", line)], [("keyword", "int"), ("plain", " y;")]
    ]  # fmt: skip
