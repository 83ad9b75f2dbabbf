"""Presets: each opens, runs, and shows what its sentence claims."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

import numpy as np
import pytest

from simulator import Recording, Report, Step, catalogue, compile_kernel, simulate
from simulator.language.tree import Barrier
from simulator.observers.transactions import wavefronts
from simulator.recording.recording import StepAccess
from simulator.recording.requests import requests
from tests.ui.lecture.lectures import record_view
from ui.analysis.costs import add_up_costs
from ui.analysis.pairs import Pair, align
from ui.analysis.products import product_of_sum
from ui.run.side_by_side import side_views
from ui.view.presets import Preset, inputs, launch, presets, source
from ui.view.view_url import View, clamp, from_query, to_query

PRESETS = {preset.name: preset for preset in presets()}


@functools.cache
def simulated(view: View) -> Report:
    kernel = compile_kernel(source(view), catalogue()[view.kernel].kernel)
    return simulate(kernel, launch(view))


def shown(preset: Preset) -> Step:
    return record_view(preset.view).steps[preset.view.step]


def focus(preset: Preset) -> int:
    """The focused thread's number in its block."""
    return preset.view.thread[0] + preset.view.thread[1] * launch(preset.view).block[0]


def access(step: Step, kind: str, name: str) -> StepAccess:
    return next(one for one in step.accesses if (one.kind, one.name) == (kind, name))


def loads(view: View, thread: int) -> int:
    """Values that a thread loads from global memory."""
    found = [a for step in record_view(view).steps for a in step.accesses]
    return sum(a.kind == "load" and a.space == "global" and bool(a.active[thread]) for a in found)


def two_by_two(preset: Preset) -> None:
    view = preset.view
    assert (launch(view).threads, loads(view, 0)) == (4, 4)
    loaded = [a for step in record_view(view).steps[: view.step + 1] for a in step.accesses]
    assert sum(a.space == "global" and a.kind == "load" for a in loaded) == 4, "all at its step"
    assert loads(View(kernel="naive", M=4, N=4, K=4, defines=()), 0) == 8


def sixteen(preset: Preset) -> None:
    steps = record_view(preset.view).steps
    assert preset.view.block == (1, 2)
    assert shown(preset).loops[0].iteration == 1, "the second tile"
    assert access(shown(preset), "load", "A").active.all()
    for t in range(4):
        inside = [s for s in steps if s.loops and s.loops[0].iteration == t]
        for name, rows, columns in (
            ("A", range(32, 48), range(16 * t, 16 * t + 16)),
            ("B", range(16 * t, 16 * t + 16), range(16, 32)),
        ):
            read = next(a for s in inside for a in s.accesses if a.name == name)
            cells = {divmod(int(offset) // 4, 64) for offset in read.offsets}
            assert cells == {(r, c) for r in rows for c in columns}
    assert max(s.loops[0].iteration for s in steps if s.loops and s.accesses) == 3


def numeric(preset: Preset) -> None:
    step = shown(preset)
    assert np.array_equal(step.shared["As"], [[1, 2], [5, 6]])
    assert np.array_equal(step.shared["Bs"], [[16, 15], [12, 11]])
    assert focus(preset) == 0
    assert step.registers["acc"][0] == 40
    assert step.loops[0].iteration == 0
    after = record_view(preset.view).steps[step.number + 1 :]
    assert not any(s.accesses for s in after if s.loops and s.loops[0].iteration == 0)


def degree(preset: Preset) -> tuple[int, int]:
    """Wavefronts of warp 0's read of Bs at the step shown, and the banks it falls into."""
    read = access(shown(preset), "load", "Bs")
    base = 32 * 32 * 4  # Bs lies after As, which has as many whole rows of banks
    addresses = base + read.offsets[None, :32]
    active = read.active[None, :32]
    assert active.all()
    banks = {int(address) // 4 % 32 for address in addresses[0]}
    return int(wavefronts(addresses, active, 4, "load")[0]), len(banks)


def transposed(preset: Preset) -> None:
    assert degree(preset) == (32, 1)
    counts = simulated(preset.view).lines[shown(preset).line]
    # 32 x 32 reads of As, a broadcast each, and as many of Bs.
    assert counts["shared_load_requests"] == 2 * 1024
    assert counts["shared_load_wavefronts"] == 1024 + 32 * 1024


def transposed_16(preset: Preset) -> None:
    step = shown(preset)
    [request] = [r for r in requests(record_view(preset.view), step, 0) if r.access.name == "Bs"]
    words = np.unique(request.words)
    assert (words.size, np.unique(words % 32).size) == (16, 2)
    assert (request.degree, request.wavefront_count) == (8, 8)


def padded(preset: Preset) -> None:
    assert degree(preset) == (1, 32)
    counts = simulated(preset.view).lines[shown(preset).line]
    assert counts["shared_load_wavefronts"] == counts["shared_load_requests"] == 2 * 1024


def ragged(preset: Preset) -> None:
    step, view = shown(preset), preset.view
    assert launch(view).grid == (2, 2, 1)
    assert view.block == (1, 1)
    A, B = inputs(view)["A"], inputs(view)["B"]
    tile_of_a, tile_of_b = np.zeros((4, 4)), np.zeros((4, 4))
    tile_of_a[:2], tile_of_b[:, :3] = A[4:, :4], B[:4, 4:]
    assert np.array_equal(step.shared["As"], tile_of_a)
    assert np.array_equal(step.shared["Bs"], tile_of_b)
    store = access(record_view(view).steps[-1], "store", "C")
    assert (int(store.active.sum()), store.active.size, store.width) == (6, 16, 8)


def both_barriers(preset: Preset) -> None:
    step = shown(preset)
    assert step.kind == "barrier"
    assert np.flatnonzero(step.active).tolist() == list(range(32))
    assert step.written["Bs"][:4].all()
    assert not step.written["Bs"][4:].any()
    following = record_view(preset.view).steps[step.number + 1]
    assert np.flatnonzero(following.active).tolist() == list(range(32, 64))


def wrong_read(preset: Preset, cell: tuple[int, int], value: int, right: int) -> None:
    """The focused thread reads `value` from a cell of Bs, where `right` belongs."""
    read, thread = access(shown(preset), "load", "Bs"), focus(preset)
    assert read.active[thread]
    assert divmod(int(read.offsets[thread]) // 4, 8) == cell
    assert read.values[thread] == value
    whole = record_view(dataclasses.replace(preset.view, edits=()))
    place = [(one.variable, one.iteration) for one in shown(preset).loops]
    same = next(
        s for s in whole.steps
        if s.active[thread] and s.accesses and s.loops
        and [(one.variable, one.iteration) for one in s.loops] == place
    )  # fmt: skip
    assert access(same, "load", "Bs").values[thread] == right


def first_barrier(preset: Preset) -> None:
    assert preset.view.thread == (0, 3)
    wrong_read(preset, (4, 0), 8, 1)
    B = inputs(preset.view)["B"]
    assert (B[4, 0], B[12, 0]) == (8, 1)  # the same row of two tiles, one below the other
    kinds = {hazard.kind for hazard in simulated(preset.view).hazards}
    assert kinds == {"read-after-write", "uninitialized-read"}


def second_barrier(preset: Preset) -> None:
    assert preset.view.thread == (0, 4)
    wrong_read(preset, (0, 0), 2, 5)
    B = inputs(preset.view)["B"]
    assert (B[8, 0], B[0, 0]) == (2, 5)
    assert {hazard.kind for hazard in simulated(preset.view).hazards} == {"write-after-read"}


def moved_barrier(preset: Preset) -> None:
    step = shown(preset)
    assert isinstance(step.statement, Barrier)
    assert step.active.sum() == 64
    for view, waits in ((preset.view, 9), (dataclasses.replace(preset.view, edits=()), 2)):
        intervals = [one.interval for one in record_view(view).steps]
        assert max(intervals) == waits * 2, "two tiles"
    report = simulated(preset.view)
    assert not report.hazards


def to_tf32(values: np.ndarray) -> np.ndarray:
    """The nearest numbers with 10 bits of fraction, half away from zero."""
    bits = values.astype(np.float32).view(np.uint32) + np.uint32(0x1000)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


def cut_off(preset: Preset) -> None:
    assert source(preset.view).split("\n")[shown(preset).line - 1].strip().startswith("wmma::mma")
    assert preset.view.thread == (1, 0)  # lane 1, whose first sum that is
    given = inputs(preset.view)
    before, now = slice(0, 8), slice(8, 16)  # the second instruction's products of row 0, column 2
    row, column = to_tf32(given["A"][0]), to_tf32(given["B"][:, 2])
    so_far = float(row[before] @ column[before])
    exponents = np.frexp(row)[1] + np.frexp(column)[1] - 2
    assert exponents[now].max() < math.frexp(so_far)[1] - 1 == 0
    units = row[now] * column[now] * 2.0**25
    assert (round(row[12], 5), round(column[12], 3)) == (-0.00573, -0.556)
    assert units[4] % 1 == 0.8125  # 1101 below the unit
    assert all(np.delete(units, 4) % 1 == 0)


@functools.cache
def paired(view: View) -> tuple[tuple[View, View], tuple[Pair, ...]]:
    """The views of both sides, and their steps in lockstep."""

    def record_side(side: View) -> Recording:
        return record_view(dataclasses.replace(side, step=0, thread=(0, 0)))

    sides = side_views(view, record_side)
    return sides, align(*map(record_side, sides))


def beside(preset: Preset) -> tuple[tuple[Preset, Step], tuple[Preset, Step]]:
    """Both sides of a preset as presets of their own, each with its step at the preset's pair."""
    sides, pairs = paired(preset.view)
    steps = pairs[preset.view.step].sides
    left, right = (
        (dataclasses.replace(preset, view=dataclasses.replace(side, step=step.number)), step)
        for side, step in zip(sides, steps, strict=True)
    )
    return left, right


def sectors_of(one: tuple[Preset, Step], name: str) -> int:
    """Sectors of the focused warp's request of an array."""
    preset, step = one
    warp = focus(preset) // 32
    return next(
        request.moved_sectors
        for request in requests(record_view(preset.view), step, warp)
        if request.access.name == name
    )


def naive_beside_tiled(preset: Preset) -> None:
    naive, tiled = beside(preset)
    for one, step in (naive, tiled):
        assert step.registers["acc"][focus(one)] == 117
        before = record_view(one.view).steps[: step.number + 1]
        added = [s for s in before if product_of_sum(s.statement) and s.active[focus(one)]]
        assert len(added) == 6
    counts = [loads_up_to(one, step) for one, step in (naive, tiled)]
    assert counts == [12, 2]


def loads_up_to(preset: Preset, step: Step) -> int:
    thread, steps = focus(preset), record_view(preset.view).steps[: step.number + 1]
    found = [a for one in steps for a in one.accesses]
    return sum(a.kind == "load" and a.space == "global" and bool(a.active[thread]) for a in found)


def transposed_beside_padded(preset: Preset) -> None:
    left, right = beside(preset)
    assert [degree(one) for one, _ in (left, right)] == [(32, 1), (1, 32)]


def uncoalesced_beside_naive(preset: Preset) -> None:
    left, right = beside(preset)
    assert sectors_of(left, "A") == 32
    assert (sectors_of(right, "A"), sectors_of(right, "B")) == (1, 4)


def float_beside_double(preset: Preset) -> None:
    found = []
    for one, step in beside(preset):
        costs = add_up_costs(record_view(one.view))
        found.append((int(costs.sectors[step.number]), int(costs.wavefronts[step.number])))
    assert found == [(16, 8), (32, 16)]


def with_beside_without(preset: Preset) -> None:
    left, right = beside(preset)
    for (one, step), value in ((left, 5), (right, 2)):
        read, thread = access(step, "load", "Bs"), focus(one)
        assert one.view.thread == (0, 4)
        assert (int(read.offsets[thread]), read.values[thread]) == (0, value)
    B = inputs(preset.view)["B"]
    assert (B[0, 0], B[8, 0]) == (5, 2), "of this tile, and of the next"


def both_orders(preset: Preset) -> None:
    given = inputs(preset.view)
    right = (given["A"] @ given["B"])[:8, :8]
    rows = []
    for one, step in beside(preset):
        C = step.outputs["C"].reshape(16, 16)[:8, :8]
        rows.append(np.flatnonzero((right != C).all(axis=1)).tolist())
        assert (right != C).sum() == 32
        assert C[3, 0] == (258 if one.view.schedule == "ascending" else 329)
    assert rows == [[0, 1, 2, 3], [4, 5, 6, 7]]


PAIR_CLAIMS: dict[str, Callable[[Preset], None]] = {
    "Naive | tiled": naive_beside_tiled,
    "Transposed | padded": transposed_beside_padded,
    "Uncoalesced | naive": uncoalesced_beside_naive,
    "Float | double": float_beside_double,
    "With | without the second barrier": with_beside_without,
    "A race in both orders of its warps": both_orders,
}
CLAIMS: dict[str, Callable[[Preset], None]] = {
    "4 × 4 in tiles of 2 × 2": two_by_two,
    "64 × 64 in tiles of 16 × 16": sixteen,
    "With easy numbers: 1·16 + 2·12": numeric,
    "Transposed: a bank conflict": transposed,
    "Transposed, TILE 16: an 8-way conflict": transposed_16,
    "Padded: no conflict": padded,
    "Double, with ragged edges": ragged,
    "Both barriers": both_barriers,
    "First barrier removed": first_barrier,
    "Second barrier removed": second_barrier,
    "Second barrier moved into the loop": moved_barrier,
    "Tensor core: bits that are cut off": cut_off,
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", [*CLAIMS, *PAIR_CLAIMS])
def test_a_preset_shows_what_it_says(name: str) -> None:
    (CLAIMS | PAIR_CLAIMS)[name](PRESETS[name])


def test_every_preset_has_its_claim_tested() -> None:
    assert [preset.name for preset in presets()] == [*CLAIMS, *PAIR_CLAIMS]
    pairs = [preset.name for preset in presets() if preset.view.comparison is not None]
    assert pairs == list(PAIR_CLAIMS)


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.name)
@pytest.mark.sample(3)
def test_a_preset_is_a_view_that_an_address_keeps(preset: Preset) -> None:
    view = preset.view
    assert from_query(to_query(view)) == (view, ())
    recording = record_view(view)
    grid, block = recording.launch.grid, recording.launch.block
    steps = len(recording.steps) if view.comparison is None else len(paired(view)[1])
    assert clamp(view, grid, block, steps) == (view, ())
    assert preset.text.endswith(".")


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.name)
@pytest.mark.sample(3)
def test_a_preset_gives_numpys_product_unless_a_barrier_is_gone(preset: Preset) -> None:
    given, report = inputs(preset.view), simulated(preset.view)
    far = np.abs(report.arrays["C"] - given["A"] @ given["B"]).max()
    right = far <= (1e-2 if preset.view.inputs == "fractions" else 0)
    is_moved = "inner-barrier" in preset.view.edits
    assert right == (is_moved or not preset.view.edits)
    assert right == (not report.hazards)


def test_the_conflict_is_worst_with_the_largest_tile() -> None:
    usual = PRESETS["Transposed: a bank conflict"].view
    ways = {}
    for tile in (2, 4, 8, 16, 32):
        view = dataclasses.replace(usual, defines=(("TILE", tile),))
        counts = simulated(view).lines[27]
        half = counts["shared_load_requests"] // 2  # the other half are broadcasts of As
        ways[tile] = (counts["shared_load_wavefronts"] - half) / half
    assert ways == {2: 1, 4: 1, 8: 2, 16: 8, 32: 32}


@pytest.mark.parametrize(
    ("view", "element"),
    [
        (View(), "float32"),
        (View(edits=("double",)), "float64"),
        (View(kernel="tiled_double"), "float64"),
        (View(kernel="tiled_double", edits=("float",)), "float32"),
    ],
)
def test_inputs_hold_what_the_edited_kernel_takes(view: View, element: str) -> None:
    given = inputs(view)
    assert {given[name].dtype.name for name in "ABC"} == {element}
    assert simulated(view).arrays["C"].dtype == element
    assert np.array_equal(simulated(view).arrays["C"], given["A"] @ given["B"])


def test_random_inputs_are_small_whole_numbers_and_always_the_same() -> None:
    view = View(M=64, N=63, K=62)
    given = inputs(view)
    assert [given[name].shape for name in "ABC"] == [(64, 62), (62, 63), (64, 63)]
    for name in "AB":
        assert set(np.unique(given[name])) == set(range(10))
        assert np.array_equal(given[name], inputs(view)[name])
    assert not given["C"].any()


def test_counting_inputs_count() -> None:
    given = inputs(View(M=2, K=3, N=2, inputs="counting"))
    assert given["A"].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert given["B"].tolist() == [[6, 5], [4, 3], [2, 1]]
