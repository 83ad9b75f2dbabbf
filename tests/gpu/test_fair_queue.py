"""The fair queue: no owner has a second turn before another's first."""

from __future__ import annotations

import random

import pytest

from gpu.fair_queue import FairQueue


def filled(names: str) -> FairQueue[str]:
    """A queue of jobs that are named by their owner and a number: a1 b1."""
    queue = FairQueue[str]()
    for name in names.split():
        queue.join(name, name[0])
    return queue


@pytest.mark.parametrize(
    ("came", "order"),
    [
        ("a1 b1 c1", "a1 b1 c1"),
        ("a1 a2 a3 b1 b2 c1", "a1 b1 c1 a2 b2 a3"),
        ("a1 a2 b1 a3 b2 b3", "a1 b1 a2 b2 a3 b3"),
    ],
)
def test_owners_take_turns(came: str, order: str) -> None:
    assert list(filled(came)) == order.split()


def test_without_an_owner_each_job_is_its_own() -> None:
    queue = FairQueue[int]()
    for number in range(3):
        queue.join(number)
    assert list(queue) == [0, 1, 2]


def test_who_comes_late_does_not_make_up_for_the_turns_of_others() -> None:
    queue = filled("a1 a2 a3 a4")
    for name in ("a1", "a2"):
        queue.start(name)
        queue.leave(name)
    queue.start("a3")
    for name in ("b1", "b2"):
        queue.join(name, "b")
    assert list(queue) == ["a3", "b1", "a4", "b2"]


def test_a_first_job_is_before_a_second_one_that_waited_longer() -> None:
    queue = filled("a1 b1 a2 b2")
    for name in ("a1", "b1"):
        queue.start(name)
        queue.leave(name)
    queue.start("a2")
    queue.join("c1", "c")
    assert list(queue) == ["a2", "c1", "b2"]


def test_who_has_had_a_turn_comes_after_who_has_had_none() -> None:
    queue = filled("a1 b1")
    queue.start("a1")
    queue.leave("a1")
    queue.join("a2", "a")
    queue.join("c1", "c")
    assert list(queue) == ["b1", "c1", "a2"]


def test_a_job_that_leaves_before_its_turn_costs_none() -> None:
    queue = filled("a1 b1 c1")
    queue.leave("b1")
    queue.join("b2", "b")
    queue.join("c2", "c")
    assert list(queue) == ["a1", "c1", "b2", "c2"]
    queue.leave("b1")


def test_an_empty_line_forgets() -> None:
    queue = filled("a1")
    queue.start("a1")
    queue.leave("a1")
    for name in ("b1", "a2", "c1"):
        queue.join(name, name[0])
    assert list(queue) == ["b1", "a2", "c1"]


def test_several_that_run_are_before_all_others() -> None:
    queue = filled("a1 a2")
    queue.start("a1")
    queue.start("a2")
    queue.join("b1", "b")
    assert list(queue) == ["a1", "a2", "b1"]
    assert queue.before("b1") == 2


@pytest.mark.parametrize("gpus", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_nobody_waits_for_a_first_turn_while_another_has_a_second(seed: int, gpus: int) -> None:
    dice = random.Random(seed)  # noqa: S311 (no secret)
    queue = FairQueue[tuple[str, int]]()
    had: dict[str, int] = {}
    running: set[tuple[str, int]] = set()
    for number in range(300):
        if dice.random() < 0.5:
            owner = dice.choice("abcdefgh")
            queue.join((owner, number), owner)
        elif running and dice.random() < 0.5:
            ended = dice.choice(sorted(running))
            running.discard(ended)
            queue.leave(ended)
        waiting = [name for name in queue if name not in running]
        if not waiting and not running:
            had.clear()
        if waiting and len(running) < gpus:
            name = waiting[0]
            assert queue.before(name) < gpus
            without = {owner for owner, _ in waiting} - had.keys()
            assert name[0] in without or not without
            queue.start(name)
            running.add(name)
            had[name[0]] = had.get(name[0], 0) + 1
