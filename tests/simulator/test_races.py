"""The rule of what a race is: a table of pairs of accesses, and whether they race."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.machine.observer import AccessKind
from simulator.observers.hazards.races import Relation, is_race

LOAD, STORE, ATOMIC = AccessKind
# Two threads of one warp, between which nothing is.
NEIGHBOURS = Relation(
    same_thread=False, same_warp=True, same_block=True, same_interval=True, same_warp_interval=True
)
OTHER_WARP = replace(NEIGHBOURS, same_warp=False)
OTHER_BLOCK = replace(OTHER_WARP, same_block=False)
RELATIONS = {
    "neighbours": (NEIGHBOURS, True),
    "one thread": (replace(NEIGHBOURS, same_thread=True), False),
    "__syncwarp() between": (replace(NEIGHBOURS, same_warp_interval=False), False),
    "__syncthreads() between": (replace(NEIGHBOURS, same_interval=False), False),
    "two warps": (OTHER_WARP, True),
    "two warps, another number of __syncwarp()": (
        replace(OTHER_WARP, same_warp_interval=False), True),
    "two warps, __syncthreads() between": (replace(OTHER_WARP, same_interval=False), False),
    "two blocks": (OTHER_BLOCK, True),
    "two blocks, another number of barriers": (replace(OTHER_BLOCK, same_interval=False), True),
    "a copy not waited for, in one thread": (
        replace(NEIGHBOURS, same_thread=True, during_copy=True), True),
    "a copy not waited for, and a barrier": (
        replace(NEIGHBOURS, same_interval=False, during_copy=True), True),
}  # fmt: skip


@pytest.mark.parametrize("case", RELATIONS)
def test_what_orders_two_accesses(case: str) -> None:
    relation, expected = RELATIONS[case]
    assert is_race(STORE, LOAD, relation) is expected
    assert is_race(LOAD, STORE, relation) is expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (LOAD, LOAD, False), (LOAD, STORE, True), (LOAD, ATOMIC, True),
        (STORE, LOAD, True), (STORE, STORE, True), (STORE, ATOMIC, True),
        (ATOMIC, LOAD, True), (ATOMIC, STORE, True), (ATOMIC, ATOMIC, False),
    ],
)  # fmt: skip
def test_which_kinds_race(first: AccessKind, second: AccessKind, expected: bool) -> None:
    assert is_race(first, second, NEIGHBOURS) is expected


@pytest.mark.parametrize(
    ("relation", "expected"), [(NEIGHBOURS, False), (OTHER_WARP, False), (OTHER_BLOCK, True)]
)
def test_an_atomic_of_one_block_is_none_to_another(relation: Relation, expected: bool) -> None:
    relation = replace(relation, of_one_block=True)
    assert is_race(ATOMIC, ATOMIC, relation) is expected
    assert is_race(LOAD, LOAD, relation) is False


def test_pairs_are_decided_one_by_one() -> None:
    same_thread = np.array([True, False, False])
    same_interval = np.array([True, True, False])
    relation = replace(NEIGHBOURS, same_thread=same_thread, same_interval=same_interval)
    assert is_race(STORE, STORE, relation).tolist() == [False, True, False]
