"""The fair line: no owner has a second turn before another's first."""

from __future__ import annotations

import random

import pytest

from gpu.line import Line


def filled(names: str) -> Line[str]:
    """A line of jobs that are named by their owner and a number: a1 b1."""
    line = Line[str]()
    for name in names.split():
        line.join(name, name[0])
    return line


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
    line = Line[int]()
    for number in range(3):
        line.join(number)
    assert list(line) == [0, 1, 2]


def test_who_comes_late_does_not_make_up_for_the_turns_of_others() -> None:
    line = filled("a1 a2 a3 a4")
    for name in ("a1", "a2"):
        line.start(name)
        line.leave(name)
    line.start("a3")
    for name in ("b1", "b2"):
        line.join(name, "b")
    assert list(line) == ["a3", "b1", "a4", "b2"]


def test_a_first_job_is_before_a_second_one_that_waited_longer() -> None:
    line = filled("a1 b1 a2 b2")
    for name in ("a1", "b1"):
        line.start(name)
        line.leave(name)
    line.start("a2")
    line.join("c1", "c")
    assert list(line) == ["a2", "c1", "b2"]


def test_who_has_had_a_turn_comes_after_who_has_had_none() -> None:
    line = filled("a1 b1")
    line.start("a1")
    line.leave("a1")
    line.join("a2", "a")
    line.join("c1", "c")
    assert list(line) == ["b1", "c1", "a2"]


def test_a_job_that_leaves_before_its_turn_costs_none() -> None:
    line = filled("a1 b1 c1")
    line.leave("b1")
    line.join("b2", "b")
    line.join("c2", "c")
    assert list(line) == ["a1", "c1", "b2", "c2"]
    line.leave("b1")


def test_an_empty_line_forgets() -> None:
    line = filled("a1")
    line.start("a1")
    line.leave("a1")
    for name in ("b1", "a2", "c1"):
        line.join(name, name[0])
    assert list(line) == ["b1", "a2", "c1"]


def test_several_that_run_are_before_all_others() -> None:
    line = filled("a1 a2")
    line.start("a1")
    line.start("a2")
    line.join("b1", "b")
    assert list(line) == ["a1", "a2", "b1"]
    assert line.before("b1") == 2


@pytest.mark.parametrize("gpus", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_nobody_waits_for_a_first_turn_while_another_has_a_second(seed: int, gpus: int) -> None:
    dice = random.Random(seed)  # noqa: S311 (no secret)
    line = Line[tuple[str, int]]()
    had: dict[str, int] = {}
    running: set[tuple[str, int]] = set()
    for number in range(300):
        if dice.random() < 0.5:
            owner = dice.choice("abcdefgh")
            line.join((owner, number), owner)
        elif running and dice.random() < 0.5:
            ended = dice.choice(sorted(running))
            running.discard(ended)
            line.leave(ended)
        waiting = [name for name in line if name not in running]
        if not waiting and not running:
            had.clear()
        if waiting and len(running) < gpus:
            name = waiting[0]
            assert line.before(name) < gpus
            without = {owner for owner, _ in waiting} - had.keys()
            assert name[0] in without or not without
            line.start(name)
            running.add(name)
            had[name[0]] = had.get(name[0], 0) + 1
