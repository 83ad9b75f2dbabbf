"""Tiles are counted along K, against values that say their k and products counted by hand."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from simulator import Recording, Step, catalogue, compile_kernel, record
from simulator.machine.observer import AccessKind
from tests.ui.lecture.lectures import Lecture, of_query, seen, spread
from tests.ui.lecture.test_ledger import ledger, terms
from ui.analysis.products import accumulated_variable, product_of_sum
from ui.analysis.scene_model import (
    SceneModel,
    build_scene_model,
    follows_products,
    loaded_tile,
    multiplied_tile,
    outer_iteration,
    shared_tiles,
)
from ui.drawing.look import Look
from ui.drawing.palette import PALETTES
from ui.lecture.colours import mix
from ui.lecture.global_memory import PAST, GlobalMemoryPanel
from ui.view.what_if import apply_edits

WARP_TILE = {"WARPS_DOWN": 1, "WARPS_ACROSS": 1, "ROWS": 4, "COLUMNS": 4, "DEPTH": 4}
EIGHT_BY_FOUR = {"TILE": 8, "DEPTH": 4, "EACH": 4}
PROJECTOR = Look(width=1280, height=720, presenting=True)


@dataclass(frozen=True, slots=True)
class Case:
    """A run of a kernel."""

    kernel: str
    M: int
    N: int
    K: int
    defines: tuple[tuple[str, int], ...]
    schedule: str = "lockstep"
    edits: tuple[str, ...] = ()
    block: tuple[int, int] = (0, 0)


def case(kernel: str, M: int, N: int, K: int, defines: dict[str, int], **rest: Any) -> Case:
    return Case(kernel, M, N, K, tuple(defines.items()), **rest)


# Kernels whose tiles are those of the outer iterations.
IN_STEP = [
    case("tiled", 8, 8, 8, {"TILE": 4}),
    case("tiled", 5, 7, 9, {"TILE": 4}, block=(1, 1)),
    case("tiled", 5, 7, 3, {"TILE": 4}),
    case("tiled_double", 10, 9, 7, {"TILE": 4}, block=(1, 1)),
    case("transposed", 8, 8, 16, {"TILE": 8}),
    case("padded", 9, 8, 20, {"TILE": 8}, block=(0, 1)),
    case("swizzled", 8, 8, 16, {"TILE": 8}),
    case("rows", 8, 8, 12, EIGHT_BY_FOUR),
    case("rows", 7, 5, 6, EIGHT_BY_FOUR),
    case("registers", 8, 8, 12, EIGHT_BY_FOUR),
    case("registers", 9, 6, 7, EIGHT_BY_FOUR),
    case("vectors", 8, 8, 12, EIGHT_BY_FOUR),
    case("vectors", 5, 7, 6, EIGHT_BY_FOUR),
    case("warptiles", 5, 7, 6, WARP_TILE),
    case("tiled", 16, 16, 24, {"TILE": 8}, schedule="ascending"),
    case("tiled", 16, 16, 24, {"TILE": 8}, schedule="descending"),
]
# Kernels that copy a tile while they multiply another, and a launch whose warps drift apart.
AHEAD = [
    case("pipelined", 8, 8, 8, EIGHT_BY_FOUR),
    case("pipelined", 8, 8, 20, EIGHT_BY_FOUR),
    case("pipelined", 5, 7, 10, EIGHT_BY_FOUR),
    case("pipelined", 32, 32, 12, {"TILE": 32, "DEPTH": 4, "EACH": 4}, schedule="ascending"),
    case("warptiles", 16, 32, 8, WARP_TILE),
    case("warptiles", 8, 8, 20, WARP_TILE),
    case("warptiles", 32, 32, 16, WARP_TILE | {"WARPS_DOWN": 2}, schedule="descending"),
]
DRIFTING = [case("tiled", 16, 16, 24, {"TILE": 8}, schedule="ascending", edits=("second-barrier",))]


def name_of(run: Case) -> str:
    shape = f"{run.kernel}-{run.M}x{run.N}x{run.K}"
    return "-".join([shape, run.schedule, *run.edits] if run.schedule != "lockstep" else [shape])


def each(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("run", cases, ids=name_of)


@functools.cache
def recorded(run: Case) -> Recording:
    """A run with k + 1 in each cell of A's column k and of B's row k, so that a value says its k.

    Zeros are beyond the matrices' edges.
    """
    entry, defines = catalogue()[run.kernel], dict(run.defines)
    k = np.arange(1, run.K + 1)
    arguments = {
        "A": np.tile(k, (run.M, 1)), "B": np.tile(k[:, None], (1, run.N)),
        "C": np.zeros((run.M, run.N)), "M": run.M, "N": run.N, "K": run.K,
    }  # fmt: skip
    kernel = compile_kernel(apply_edits(entry.source(**defines), run.edits), entry.kernel)
    return record(kernel, entry.launch(arguments, **defines), (*run.block, 0), run.schedule)


def modelled(run: Case, thread: int | None = None) -> SceneModel:
    recording = recorded(run)
    thread = recording.launch.threads // 3 if thread is None else thread
    return build_scene_model(recording, thread, catalogue()[run.kernel].tile(**dict(run.defines)))


def depth_of(run: Case) -> int:
    defines = dict(run.defines)
    return defines.get("DEPTH", defines.get("TILE", 0))


def added(recording: Recording, step: Step, thread: int) -> float:
    """What a step adds to a thread's sum."""
    variable = accumulated_variable(step.statement)
    assert variable is not None
    found = {
        access.kind: float(access.values[thread])
        for access in step.accesses
        if access.name == variable.name
    }
    if found:
        return found[AccessKind.STORE] - found[AccessKind.LOAD]
    before = recording.steps[step.number - 1].registers[variable.name]
    return float(step.registers[variable.name][thread] - before[thread])


@pytest.mark.sample(25)
@each([*IN_STEP, *AHEAD, *DRIFTING])
def test_a_product_is_of_the_tile_that_its_factors_are_from(run: Case) -> None:
    for thread in (0, recorded(run).launch.threads - 1):
        model, depth = modelled(run, thread), depth_of(run)
        tiles = []
        for step in model.recording.steps:
            if product_of_sum(step.statement) is None:
                continue
            who = thread if step.active[thread] else int(np.flatnonzero(step.active)[0])
            k = round(np.sqrt(added(model.recording, step, who))) - 1  # (k + 1) (k + 1)
            tile = multiplied_tile(model, step)
            if k >= 0:  # not of the zeros beyond an edge
                assert tile == k // depth, step.number
            tiles.append(tile)
        assert set(tiles) == set(range(-(-run.K // depth))) == set(range(model.tile_count))


@pytest.mark.sample(5)
@each([*IN_STEP, *AHEAD])
def test_a_cell_of_shared_memory_is_of_the_tile_that_its_value_is_from(run: Case) -> None:
    model, depth = modelled(run), depth_of(run)
    products = [s.number for s in model.recording.steps if product_of_sum(s.statement)]
    found = shared_tiles(model)
    seen_tiles = set()
    for step in spread(model.recording.steps[: products[-1] + 1], 400):
        for name, tiles in found[step.number].items():
            values = step.shared[name].reshape(-1)
            is_written = step.written[name].reshape(-1)
            assert (tiles[~is_written] == -1).all()
            from_matrix = is_written & (values > 0)
            expected = (values[from_matrix].astype(int) - 1) // depth
            assert np.array_equal(tiles[from_matrix], expected), (step.number, name)
            zeros = tiles[is_written & (values == 0)]
            assert (zeros < model.tile_count).all()  # none for those beyond an edge
            seen_tiles |= set(tiles.tolist())
    assert seen_tiles - {-1} == set(range(model.tile_count))


@pytest.mark.sample(5)
@each([run for run in [*IN_STEP, *AHEAD] if run.kernel != "warptiles"])
def test_what_is_read_from_shared_memory_is_the_tile_that_is_multiplied(run: Case) -> None:
    """Of zeros too; warptiles is left out, which reads its operands one k ahead."""
    model = modelled(run)
    found, reads = shared_tiles(model), 0
    for step in model.recording.steps:
        for access in step.accesses:
            if access.space == "shared" and access.kind is AccessKind.LOAD:
                tiles = found[step.number][access.name][access.touched_cells()[0]]
                assert set(tiles.tolist()) <= {multiplied_tile(model, step), -1}, step.number
                reads += bool((tiles >= 0).any())
    assert reads


@pytest.mark.sample(5)
@each([*IN_STEP, *AHEAD])
def test_the_cells_of_a_and_b_are_of_their_tile_along_k(run: Case) -> None:
    model, depth = modelled(run), depth_of(run)
    is_read = {name: np.zeros(model.shapes[name], np.bool_) for name in "AB"}
    for step in model.recording.steps:
        for access in step.accesses:
            if access.name in is_read and access.kind is AccessKind.LOAD:
                for thread in np.flatnonzero(access.active & access.in_bounds):
                    first = int(access.offsets[thread]) // access.element_bytes
                    is_read[access.name].flat[first : first + access.components] = True
    k = {"A": np.arange(run.K)[None, :], "B": np.arange(run.K)[:, None]}
    for name in "AB":
        tiles = model.tiles[name].reshape(model.shapes[name])
        assert np.array_equal(tiles, np.where(is_read[name], k[name] // depth, -1))
        assert set(range(model.tile_count)) <= set(tiles.reshape(-1).tolist())


@pytest.mark.sample(4)
@each(IN_STEP)
def test_where_nothing_is_copied_ahead_tiles_are_the_outer_iterations(run: Case) -> None:
    model = modelled(run)
    plain = build_scene_model(model.recording, model.thread)  # without tiles
    assert model.tiles_of_k is not None
    assert plain.tiles_of_k is None
    assert model.tile_count == plain.iterations
    for step in model.recording.steps:
        assert multiplied_tile(model, step) == outer_iteration(model, step)
        assert loaded_tile(model, step) in (None, outer_iteration(model, step))
    for name in "AB":
        assert np.array_equal(model.tiles[name], plain.tiles[name])
    for mine, others in zip(shared_tiles(model), shared_tiles(plain), strict=True):
        for name, expected in others.items():
            is_of_one = mine[name] >= 0  # zeros beyond an edge are of none
            assert np.array_equal(mine[name][is_of_one], expected[is_of_one])


def test_the_zeros_beyond_an_edge_are_of_no_tile() -> None:
    model = modelled(case("tiled", 5, 7, 9, {"TILE": 4}))
    recording = model.recording
    last = max(s.number for s in recording.steps if product_of_sum(s.statement))
    tiles = shared_tiles(model)[last]
    inside = np.zeros((4, 4), np.bool_)
    inside[:, 0] = True  # column 8 of A is the last
    assert np.array_equal(tiles["As"].reshape(4, 4), np.where(inside, 2, -1))
    assert np.array_equal(tiles["Bs"].reshape(4, 4), np.where(inside.T, 2, -1))


# A thread adds 4 x 4 products for each k, and a tile has 4 k.
OF_ONE_TILE = 4 * 4 * 4
COPYING = pytest.mark.parametrize(
    "query",
    [
        {"kernel": "pipelined", "M": 8, "N": 8, "K": 8},
        {"kernel": "pipelined", "M": 8, "N": 8, "K": 12},
        {"kernel": "warptiles", "M": 16, "N": 32, "K": 8},
        {"kernel": "warptiles", "M": 16, "N": 32, "K": 16},
    ],
    ids=lambda query: f"{query['kernel']}-{query['K']}",
)


def products(lecture: Lecture) -> list[Step]:
    return [step for step in lecture.steps if product_of_sum(step.statement) is not None]


@pytest.mark.sample(4)
@COPYING
def test_title_sum_and_maps_agree_on_the_tile_that_is_multiplied(query: dict[str, Any]) -> None:
    lecture = of_query(PROJECTOR, **query)
    count = query["K"] // 4
    steps = products(lecture)
    assert len(steps) == count * OF_ONE_TILE
    palette, map_of_a = PALETTES["light"], lecture.panel(GlobalMemoryPanel)._maps["A"]
    for i in {*range(0, len(steps), 16), *range(OF_ONE_TILE - 1, len(steps), OF_ONE_TILE)}:
        step, tile = steps[i], i // OF_ONE_TILE
        assert f" · tile {tile + 1} of {count} · " in lecture.sheet.title(step)
        expected = [(f"A0{t}·B{t}0", t == tile) for t in range(count)]
        assert terms(ledger(lecture, step)) == expected
        [lit] = [
            s for s in lecture.panel(GlobalMemoryPanel).shapes(step)
            if s["line"] == {"color": palette.tile_edge(tile), "width": 3, "dash": "solid"}
        ]  # fmt: skip
        left, _, right, _ = min(seen(lit))  # A is left of B
        assert left == pytest.approx(map_of_a.left + 4 * tile * map_of_a.width, abs=1.1)
        assert right - left == pytest.approx(4 * map_of_a.width, abs=2.2)


@COPYING
@pytest.mark.sample(2)
def test_a_tile_has_its_colour_once_it_is_copied_and_a_paler_one_after_its_turn(
    query: dict[str, Any],
) -> None:
    lecture, palette = of_query(PROJECTOR, **query), PALETTES["light"]
    for step in spread(lecture.steps, 8):
        shapes = lecture.panel(GlobalMemoryPanel).shapes(step)
        current = {multiplied_tile(lecture.model, step), loaded_tile(lecture.model, step)}
        for tile in range(query["K"] // 4):
            [fill] = [s for s in shapes if s.get("fillcolor") == palette.tiles[tile]]
            [past] = [
                s
                for s in shapes
                if s.get("fillcolor") == mix(palette.cell, palette.tiles[tile], PAST)
            ]
            assert len(seen(fill)) == (2 if tile in current else 0)  # of A and of B
            is_past = tile not in current and (
                tile < max((t for t in current if t is not None), default=0)
                or (current == {None} and follows_products(lecture.model, step))
            )
            assert len(seen(past)) == (2 if is_past else 0)


@COPYING
@pytest.mark.sample(2)
def test_before_the_first_product_and_after_the_last_no_term_is_bold(query: dict[str, Any]) -> None:
    lecture = of_query(PROJECTOR, **query)
    steps = products(lecture)
    outer = [s.number for s in lecture.steps if outer_iteration(lecture.model, s) is not None]
    for step in [*lecture.steps[: outer[0]], *lecture.steps[outer[-1] + 1 :]]:
        assert not any(bold for _, bold in terms(ledger(lecture, step)))
        assert " of " not in lecture.sheet.title(step).split(" · ", 1)[1]
    assert outer[0] < steps[0].number
    assert steps[-1].number < outer[-1]


def test_pipelined_begins_with_an_iteration_that_only_copies() -> None:
    lecture = of_query(PROJECTOR, kernel="pipelined", M=8, N=8, K=8)
    titles = set()
    for step in lecture.steps:
        in_loop = outer_iteration(lecture.model, step) is not None
        if in_loop and any(p.variable == "t" and p.value == -1 for p in step.loops):
            copies = any(access.name in ("A", "B") for access in step.accesses)
            title = lecture.sheet.title(step)
            assert " · before the first tile · " in title
            assert (" · loads tile 1 · " in title) == copies
            assert "t = -1" in title
            assert not any(bold for _, bold in terms(ledger(lecture, step)))
            titles.add(copies)
    assert titles == {True, False}


@COPYING
def test_a_step_that_loads_another_tile_says_which(query: dict[str, Any]) -> None:
    lecture = of_query(PROJECTOR, **query)
    counts: dict[str, int] = {}
    for step in lecture.steps:
        title = lecture.sheet.title(step)
        loads = [a for a in step.accesses if a.name in ("A", "B") and a.kind is AccessKind.LOAD]
        if not loads:
            assert "loads" not in title
            continue
        first = int(loads[0].offsets[0]) // 4
        k = first % query["K"] if loads[0].name == "A" else first // query["N"]
        tile = multiplied_tile(lecture.model, step)
        text = f" · loads tile {k // 4 + 1} · "
        assert (text in title) == (tile != k // 4), step.number
        counts[text] = counts.get(text, 0) + 1
    assert len(counts) == query["K"] // 4


def test_the_sums_that_pass_through_shared_memory_are_of_no_tile() -> None:
    lecture = of_query(kernel="warptiles", M=16, N=32, K=8)
    found, last = shared_tiles(lecture.model), products(lecture)[-1]
    rows = lecture.steps_of("rows[lane")
    assert rows[0].number > last.number
    passed: set[int] = set()
    for step in rows:
        for access in step.accesses:
            if access.space == "shared":
                passed |= set(access.touched_cells()[0].tolist())
        assert set(found[step.number]["Bs"][sorted(passed)].tolist()) <= {-1}
        others = sorted(set(range(found[step.number]["Bs"].size)) - passed)
        assert (found[step.number]["Bs"][others] >= 0).any()
    assert passed


@pytest.mark.parametrize("look", [PROJECTOR, Look(width=1280, height=720)])
def test_four_terms_are_spelled_out_on_a_projector(look: Look) -> None:
    lecture = of_query(look, kernel="tiled", M=64, N=64, K=64, TILE=16, bx=1, by=2)
    for step in lecture.steps:
        tile = outer_iteration(lecture.model, step)
        expected = [(f"A2{t}·B{t}1", t == tile) for t in range(4)]
        assert terms(ledger(lecture, step)) == expected, step.number
        assert "…" not in ledger(lecture, step)


def test_sums_that_get_more_products_than_all_tiles_have_are_not_followed() -> None:
    recording = recorded(case("tiled", 5, 7, 3, {"TILE": 4}))  # 4 products, the last of zeros
    assert build_scene_model(recording, 0, (4, 4, 4)).tiles_of_k is not None
    model = build_scene_model(recording, 0, (4, 4, 3))
    assert model.tiles_of_k is None
    assert model.tile_count == model.iterations == 1
    assert all(multiplied_tile(model, s) == outer_iteration(model, s) for s in recording.steps)


@pytest.mark.sample(3)
@pytest.mark.parametrize("z", [0, 1, 2])
def test_a_block_that_has_a_piece_of_k_counts_from_its_first_tile(z: int) -> None:
    lecture = of_query(kernel="anyshape", M=16, N=32, K=20, PIECES=4, bz=z)
    pieces = [[0, 1], [2, 3], [4]][z]  # five tiles, two for each block as long as there are any
    found = {multiplied_tile(lecture.model, step) for step in products(lecture)}
    assert found == set(pieces)
    assert {loaded_tile(lecture.model, step) for step in lecture.steps} == {None, *pieces}


@pytest.mark.parametrize("kernel", ["naive", "uncoalesced"])
def test_a_kernel_without_tiles_counts_iterations(kernel: str) -> None:
    lecture = of_query(kernel=kernel)
    assert lecture.model.tiles_of_k is None
    assert lecture.model.tile_count == lecture.model.iterations > 1
    steps = [s for s in lecture.steps if outer_iteration(lecture.model, s) is not None]
    assert {lecture.sheet.title(s).split(" · ")[1] for s in steps} == {
        f"iteration {t + 1} of {lecture.model.iterations}" for t in range(lecture.model.iterations)
    }
