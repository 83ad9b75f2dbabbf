"""Verdicts on a table of kernels: none accuses a right one, and wrong ones are named.

A sample of the table runs by default, the whole with --deep.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import Kernel, LaunchError, compile_kernel, simulate
from simulator.machine.schedule import Schedule
from simulator.size_expression import evaluate
from simulator.verdict.form import LaunchForm, UserKernel, with_fractions
from simulator.verdict.guess import guess_form
from simulator.verdict.judge import judge
from simulator.verdict.launches import build_launch
from simulator.verdict.tasks import FACTOR, TASKS
from simulator.verdict.verdict import SizeCheck
from tests.simulator.kernel_table.habits import HABITS
from tests.simulator.kernel_table.launches import first_wrong, is_whole, own_fault
from tests.simulator.kernel_table.references import Cells, reference
from tests.simulator.kernel_table.table import Entry, right_ones, wrong_ones

RIGHT: dict[str, Entry] = {entry.id: entry for entry in right_ones()}
WRONG: dict[str, Entry] = {entry.id: entry for entry in wrong_ones()}
NOT_ACCUSED = ("right", "limited", "unchecked")
# Faults that the sizes which are tried do not show: their verdict is right.
MISSED = frozenset({
    "sum-own_block_alone-said", "odd_even-no_edge", "alpha_beta-no_alpha-said",
    "copy_plane-pitch",  # is tried with a square alone
})  # fmt: skip
NAMED = ("wrong", "hazard", "limited")
pytestmark = pytest.mark.usefixtures("_time_for_all_sizes", "_no_repairs")


@dataclass(frozen=True, slots=True)
class Found:
    """What a verdict on an entry was."""

    state: str  # "refused" where no form was found
    task: str
    next_step: str
    hazards: int
    mistaken: str = ""  # which first wrong cell is no such


Judging = Callable[[Entry], Found]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of the tests share, for what was found."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own
    found = shared / "kernel_table"
    found.mkdir(exist_ok=True)
    return found


@pytest.fixture
def judged(folder: Path) -> Judging:
    """The verdict on an entry, which is found once."""

    def find(entry: Entry) -> Found:
        path = folder / f"{entry.id}.json"
        if path.exists():
            return Found(**json.loads(path.read_text()))
        found = _judged(entry)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(asdict(found)))
        unfinished.replace(path)
        return found

    return find


def _judged(entry: Entry) -> Found:
    text = entry.written.text
    kernel = compile_kernel(text)
    try:
        form = guess_form(text, kernel, entry.task)
        verdict = judge(UserKernel(text, kernel.name, form), kernel)
    except LaunchError as error:
        return Found("refused", entry.task or "", str(error), 0)
    mistaken = (_mistaken(kernel, form, check) for check in verdict.checks)
    return Found(
        str(verdict.state), form.task, verdict.next_step, len(verdict.hazards),
        next((one for one in mistaken if one), ""),
    )  # fmt: skip


def _mistaken(kernel: Kernel, form: LaunchForm, check: SizeCheck) -> str:
    """Why the wrong cell of a check is not the first one; "" where it is, or there is none."""
    if check.wrong is None:
        return ""
    form = with_fractions(form) if check.has_fractions else form
    launch = build_launch(kernel, form, dict(check.numbers))
    after = simulate(kernel, launch, Schedule(check.wrong.order), seconds=60).arrays
    task, roles = TASKS[form.task], dict(form.roles)
    before: dict[str, Cells] = {
        role: np.asarray(launch.arguments[name]).reshape(-1).astype(np.float64)
        for role, name in form.roles if name in launch.arguments and role not in task.sizes
    }  # fmt: skip
    before |= {role: before[role][0] for role in ("a", "alpha", "beta") if role in before}
    before.setdefault("start", before.get("C", np.zeros(0)))
    wanted = reference(form.task, before, dict(check.sizes))
    result = after[roles[task.results[0]]].reshape(-1)[: wanted.size].astype(np.float64)
    first = first_wrong(result, wanted.reshape(-1))
    said = check.wrong
    place = int(np.ravel_multi_index(said.index, wanted.shape))
    # Where sums are rounded, the verdict's tolerance is the narrower one.
    is_first = first == place or (
        not is_whole(wanted) and (first is None or place < first)
        and not np.isclose(result[place], wanted.reshape(-1)[place], rtol=1e-6, atol=0)
    )  # fmt: skip
    if is_first and result[place] == said.value and said.array == roles[task.results[0]]:
        return ""
    return f"{said.sentence} But at {check.sizes} the first wrong cell is number {first}."


def _sample() -> set[str]:
    """Of each task a kernel, right ones and wrong ones in turn, and of no task a few."""
    chosen = set[str]()
    for number, task in enumerate(TASKS):
        entries = WRONG if number % 2 else RIGHT
        names = [
            name for name, entry in entries.items()
            if entry.base.task == task and (entry.task or entries is RIGHT)
        ]  # fmt: skip
        names = names or [name for name, entry in RIGHT.items() if entry.base.task == task]
        chosen.add(names[3 * number % len(names)])
    others = [name for name, entry in RIGHT.items() if not entry.base.task]
    return {*chosen, *others[4::12]}


SAMPLE = _sample()


def _parameters(names: Iterable[str]) -> Sequence[Any]:
    deep = pytest.mark.deep
    return [pytest.param(name, marks=() if name in SAMPLE else deep, id=name) for name in names]


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", _parameters(RIGHT))
def test_a_right_kernel_is_not_accused(name: str, judged: Judging) -> None:
    entry = RIGHT[name]
    assert not own_fault(entry)
    found = judged(entry)
    assert found.state in NOT_ACCUSED, found.next_step
    assert found.state == "limited" or not found.hazards, found.next_step
    assert found.state != "right" or entry.base.state != "limited", found.next_step


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", _parameters(WRONG))
def test_a_wrong_kernel_is_not_right(name: str, judged: Judging) -> None:
    entry = WRONG[name]
    assert own_fault(entry)
    found = judged(entry)
    assert found.state != "right" or name in MISSED, found.next_step
    assert not found.mistaken


@pytest.mark.parametrize("name", TASKS)
def test_the_right_results_are_those_of_numpy(name: str) -> None:
    task, generator = TASKS[name], np.random.default_rng(1)
    chosen = {"M": 5, "N": 4, "K": 3, "n": 7, "width": 3, "bins": 6}
    sizes = {role: chosen.get(role, 2) for role in task.sizes}
    arrays = {
        role: generator.integers(0, 6, math.prod(evaluate(one, sizes) for one in shape)) * 1.0
        for role, shape in task.arrays.items()
    }
    arrays |= {FACTOR: np.float64(3)} if task.has_factor else {}
    ((role, found),) = task.expected(arrays, sizes).items()
    shape = [evaluate(one, sizes) for one in task.arrays[role]]
    assert list(found.shape) == shape[task.arrays[role][0] == "1" :]
    assert np.allclose(found, reference(name, arrays, sizes).reshape(found.shape), equal_nan=True)


def test_the_table_is_large_and_has_every_task() -> None:
    assert min(len(RIGHT), len(WRONG)) >= 160
    assert {entry.base.task for entry in RIGHT.values()} == {"", *TASKS}
    assert {int(name.rsplit("-", 1)[1]) for name in RIGHT} == set(range(len(HABITS)))


@pytest.mark.deep
def test_most_of_the_table_is_named(judged: Judging, folder: Path) -> None:
    """Of what this run judges: all of the table, or a share."""
    if not any(folder.iterdir()):
        for entry in (*RIGHT.values(), *WRONG.values()):
            judged(entry)
    known = {name: judged(entry) for name, entry in (RIGHT | WRONG).items()
             if (folder / f"{name}.json").exists()}  # fmt: skip
    tasks = [known[name] for name, entry in RIGHT.items() if name in known and entry.base.task]
    wrong = [known[name] for name in WRONG if name in known]
    assert sum(one.state in ("right", "limited") for one in tasks) >= 0.9 * len(tasks)
    assert sum(one.state in NAMED and one.next_step != "" for one in wrong) >= 0.8 * len(wrong)
