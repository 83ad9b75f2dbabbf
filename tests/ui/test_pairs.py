"""Two recordings in lockstep: every step of both in order, and both at the same place."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest

from simulator import Launch, Recording, Step, catalogue, compile_kernel, record
from simulator.recording.navigation import boundaries, positions
from tests.ui.lecture.lectures import record_view
from ui.analysis.pairs import Pair, align, differing_lines, pair_navigation, pair_of_step
from ui.analysis.products import product_of_sum
from ui.run.side_by_side import side_views
from ui.view.view_url import from_query

PAIRS = {
    "naive, tiled": ("kernel=naive&M=8&N=8&K=16", "TILE=8&K=16"),
    "ragged": ("kernel=naive&M=5&N=7&K=6", "M=5&N=7&K=6"),
    "tiles of 2 and of 8": ("TILE=2", "TILE=8"),
    "transposed, padded": ("kernel=transposed", "kernel=padded"),
    "float, double": ("TILE=8", "kernel=tiled_double&M=8&N=8&K=8"),
    "uncoalesced, naive": ("kernel=uncoalesced&M=32&N=32", "kernel=naive&M=32&N=32&K=8"),
    "a barrier less": ("M=16&N=16&K=16&TILE=8&schedule=ascending",
                       "M=16&N=16&K=16&TILE=8&schedule=ascending&edits=second-barrier"),
    "more barriers": ("", "edits=inner-barrier"),
    "all at once, in turn": ("M=16&N=16&K=16&TILE=8", "M=16&N=16&K=16&TILE=8&schedule=ascending"),
    "both orders": ("M=16&N=16&K=16&TILE=8&schedule=ascending&edits=first-barrier",
                    "M=16&N=16&K=16&TILE=8&schedule=descending&edits=first-barrier"),
    "tiled, registers": ("", "kernel=registers"),
    "naive, warptiles": ("kernel=naive&M=16&N=32&K=8", "kernel=warptiles&M=16&N=32&K=8"),
    "one step's neighbours": ("kernel=naive&M=1&N=1&K=1", "M=1&N=1&K=1&TILE=2"),
    "pipelined, swizzled": ("kernel=pipelined", "kernel=swizzled"),
}  # fmt: skip


@functools.cache
def recorded(query: str) -> Recording:
    view, notices = from_query(dict(part.split("=") for part in query.split("&") if part))
    assert notices == ()
    return record_view(replace(view, step=0, thread=(0, 0)))


@functools.cache
def paired(name: str) -> tuple[Recording, Recording, tuple[Pair, ...]]:
    left, right = map(recorded, PAIRS[name])
    return left, right, align(left, right)


def products(recording: Recording) -> list[Step]:
    return [step for step in recording.steps if product_of_sum(step.statement)]


@pytest.mark.parametrize("name", PAIRS)
def test_every_step_of_both_sides_occurs_in_order(name: str) -> None:
    left, right, pairs = paired(name)
    for side, recording in enumerate((left, right)):
        numbers = [pair.sides[side].number for pair in pairs]
        assert numbers == sorted(numbers)
        assert set(numbers) == set(range(len(recording.steps)))
        moves = [a != b for a, b in itertools.pairwise(numbers)]
        assert [pair.moves[side] for pair in pairs] == [True, *moves]
    assert all(any(pair.moves) for pair in pairs), "one of both goes on"
    assert [pair.number for pair in pairs] == list(range(len(pairs)))


@pytest.mark.parametrize("apart", range(len(catalogue()) - 1, -1, -1))  # in its order
@pytest.mark.sample(len(catalogue()))
def test_every_kernel_goes_beside_every_other(apart: int) -> None:
    recordings = [recorded(f"kernel={name}") for name in catalogue()]
    others = recordings[apart:] + recordings[:apart]
    for left, right in zip(recordings, others, strict=True):
        pairs = align(left, right)
        for side, recording in enumerate((left, right)):
            found = dict.fromkeys(pair.sides[side].number for pair in pairs)
            assert list(found) == list(range(len(recording.steps)))


@pytest.mark.parametrize("name", ["naive, tiled", "tiles of 2 and of 8", "float, double"])
def test_equal_products_are_pairs(name: str) -> None:
    left, right, pairs = paired(name)
    met = {tuple(step.number for step in pair.sides) for pair in pairs}
    both = zip(products(left), products(right), strict=True)
    assert {(one.number, other.number) for one, other in both} <= met


@pytest.mark.parametrize(
    "name", ["transposed, padded", "uncoalesced, naive", "both orders", "more barriers"]
)
def test_like_lines_are_in_the_same_iterations(name: str) -> None:
    left, right, pairs = paired(name)
    lines = [recording.kernel.text.split("\n") for recording in (left, right)]
    where = [positions(recording) for recording in (left, right)]
    checked = 0
    for pair in pairs:
        texts = [text[step.line - 1] for text, step in zip(lines, pair.sides, strict=True)]
        kinds = {step.kind for step in pair.sides}
        if all(pair.moves) and texts[0] == texts[1] and len(kinds) == 1:
            own = [
                [number for _, number in found[step.number]]
                for found, step in zip(where, pair.sides, strict=True)
            ]
            assert own[0] == own[1]
            checked += 1
    assert checked > len(pairs) // 2


def test_a_recording_beside_itself_goes_step_by_step() -> None:
    recording = recorded("")
    pairs = align(recording, recording)
    assert [pair.sides for pair in pairs] == [(step, step) for step in recording.steps]


def in_order(letters: str) -> Recording:
    """One thread that stores a letter after another."""
    stores = "\n".join(f"x[{ord(letter) - 97}] = {ord(letter) - 97};" for letter in letters)
    kernel = compile_kernel(f"__global__ void k(float* x) {{\n{stores}\n}}")
    return record(kernel, Launch((1, 1, 1), (1, 1, 1), {"x": np.zeros(26, np.float32)}))


@pytest.mark.parametrize(
    ("left", "right", "together"), [("abcd", "cabd", "abd"), ("azb", "pab", "ab")]
)
def test_as_many_like_lines_as_can_be_are_pairs(left: str, right: str, together: str) -> None:
    pairs = align(in_order(left), in_order(right))
    met = [(left[pair.sides[0].number], right[pair.sides[1].number]) for pair in pairs]
    assert [one for one, other in met if one == other] == list(together)


def test_a_side_waits_where_the_other_has_a_barrier_more() -> None:
    left, right, pairs = paired("more barriers")
    waits = [pair for pair in pairs if not pair.moves[0]]
    assert len(pairs) == len(right.steps) > len(left.steps)
    assert {pair.sides[1].kind for pair in waits} == {"barrier"}
    assert len(waits) == len(right.steps) - len(left.steps)


def test_a_share_of_the_products_goes_with_the_same_share() -> None:
    left, right, pairs = paired("all at once, in turn")
    for pair in pairs:
        own = [
            sum(int(step.active.sum()) for step in products(recording)
                if step.number <= pair.sides[side].number)
            for side, recording in enumerate((left, right))
        ]  # fmt: skip
        assert 0 <= own[0] - own[1] <= own[0] / 2 + 32, "warp 1 follows warp 0 tile by tile"


@pytest.mark.parametrize("name", PAIRS)
def test_keys_stop_where_a_unit_begins_on_a_side(name: str) -> None:
    left, right, pairs = paired(name)
    stops = pair_navigation(left, right, pairs)
    assert stops["steps"] == len(pairs)
    for way in ("beat", "inner", "barrier"):
        begun = {
            pair_of_step(pairs, side, step)
            for side, recording in enumerate((left, right))
            for step in boundaries(recording, way)
        }
        assert stops[way] == sorted(begun)
    fewest = min(len(boundaries(recording, "outer")) for recording in (left, right))
    assert len(stops["outer"]) == fewest
    for way in ("inner", "outer", "barrier"):
        assert stops[way][0] == 0
        assert stops[way] == sorted(set(stops[way]))


def test_the_pair_of_a_step_is_the_first_that_has_it() -> None:
    left, right, pairs = paired("naive, tiled")
    for side, recording in enumerate((left, right)):
        for step in recording.steps:
            pair = pairs[pair_of_step(pairs, side, step.number)]
            assert pair.sides[side] is step
            assert pair.moves[side]


def test_lines_differ_but_for_comments_spaces_and_braces() -> None:
    left = "void f(int a)\n{\n    a = 1;  // one\n    b = 2;\n}"
    right = "void f(int a) {\n  a = 1;\n    c = 2;\n    b = 2;\n}"
    assert differing_lines(left, right) == (frozenset({1}), frozenset({1, 3}))
    assert differing_lines(left, left) == (frozenset(), frozenset())


@pytest.mark.parametrize(("beside", "z"), [("tiled", 0), ("anyshape,PIECES:2", 1)])
def test_the_block_beside_one_of_several_pieces_of_k_is_in_its_own_grid(
    beside: str, z: int
) -> None:
    address = {"kernel": "anyshape", "M": "16", "N": "32", "PIECES": "4", "bz": "3"}
    view, notices = from_query({**address, "with": beside})
    assert not notices
    left, right = side_views(view, record_view)
    assert (left.block_index, right.block_index) == ((0, 0, 3), (0, 0, z))
