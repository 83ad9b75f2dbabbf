"""At which sizes a change is tried before it is proposed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from simulator import compile_kernel
from simulator.language.errors import Fix, Span
from simulator.observers.hazards.hazard_kind import HazardKind
from simulator.verdict import mend as mend_module
from simulator.verdict.form import LaunchForm
from simulator.verdict.mend import mend
from simulator.verdict.repair import Repair
from simulator.verdict.runs import EXPLAINED, Runs
from simulator.verdict.sizes import Trial
from simulator.verdict.tasks import TASKS
from simulator.verdict.verdict import CheckState, SizeCheck
from tests.simulator.test_verdict_next_step import check, found

R, W, S = CheckState.RIGHT, CheckState.WRONG, CheckState.STOPPED
U, LEFT = CheckState.UNCHECKED, CheckState.SKIPPED
KERNEL = compile_kernel("__global__ void k(float* y, int n) {\ny[0] = 1;\n}")
CHANGE = Repair("Write 2.", "", (Fix(Span(2, 8, 2, 9), "2"),))
FORM = LaunchForm(("1", "1", "1"), ("1", "1", "1"), "0", (), "copy")


class Again:
    """Runs of a changed kernel, which are as a test says."""

    states: dict[int, CheckState]
    ran: list[int]
    text = ""

    def __init__(self, kernel: Any, *_: object, explained: int) -> None:
        assert explained == EXPLAINED
        Again.text = kernel.text
        self.checks: list[SizeCheck] = []
        self.hazards: dict[str, object] = {}

    def run(self, trial: Trial, seconds: float) -> None:
        """Note it; a stopped launch stands for one with a hazard."""
        n = trial.sizes["n"]
        Again.ran.append(n)
        state = Again.states.get(n, R)
        self.checks.append(check(R if state is S else state))
        if state is S:
            self.hazards["one"] = state


@pytest.fixture
def _again(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(changes: Iterator[Repair], mends: Callable[[Repair], bool]) -> Repair | None:
        return next(filter(mends, changes), None)

    monkeypatch.setattr(mend_module, "Runs", Again)
    monkeypatch.setattr(mend_module, "repairs", lambda *_: iter([CHANGE]))
    monkeypatch.setattr(mend_module, "first_that_mends", first)


@pytest.mark.usefixtures("_again")
@pytest.mark.parametrize(
    ("sizes", "states", "shown", "has_guard", "again", "tried", "mends"),
    [
        # Sizes that 4 divides are whole tiles. The first three that fail, then two others.
        ((8, 4, 5), (R, R, W), (), True, {}, [5, 8, 4], True),
        ((8, 4, 5), (R, R, W), (), False, {}, [5, 8, 4], True),
        ((8, 4, 12, 16, 20, 24), (R, W, R, W, W, W), (), True, {}, [4, 16, 20, 8, 12], True),
        ((8, 4, 12, 5), (R, W, R, S), (), True, {}, [4, 5, 8, 12], True),
        ((8, 4, 5), (R, R, R), (5,), True, {}, [5, 8, 4], True),  # it has a hazard
        ((8, 4, 5), (R, LEFT, W), (), True, {}, [5, 8], True),
        ((8, 5, 12), (R, W, W), (), False, {}, [12, 8], True),  # nothing guards 5
        ((8, 5, 12), (R, W, W), (), True, {}, [5, 12, 8], True),
        ((8, 7, 12), (W, R, R), (), False, {}, [8, 12], True),
        ((8, 5), (R, R), (), True, {}, [], False),  # only fractions are wrong
        ((8, 4, 5), (R, R, W), (), True, {5: W}, [5], False),
        ((8, 4, 5), (R, R, W), (), True, {8: S}, [5, 8], False),
        ((8, 4, 5), (R, R, W), (), True, {4: LEFT}, [5, 8, 4], True),
        ((8, 4, 5), (R, R, W), (), True, {8: U}, [5, 8], False),
    ],
)
def test_a_change_is_tried_where_the_kernel_fails_and_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
    sizes: Sequence[int],
    states: Sequence[CheckState],
    shown: Sequence[int],
    has_guard: bool,
    again: dict[int, CheckState],
    tried: list[int],
    mends: bool,
) -> None:
    monkeypatch.setattr(mend_module, "has_guard", lambda *_: has_guard)
    Again.states, Again.ran = again, []
    runs = Runs(KERNEL, FORM, TASKS["copy"])
    for n, state in zip(sizes, states, strict=True):
        runs.checks.append(check(state, n, is_ragged=n % 4 > 0))
    for n in shown:
        runs.hazards[HazardKind.TRAP, (1,), "y"] = found(HazardKind.TRAP, n)
    planned = [Trial({"n": n}, {"n": n}, {"n": 4}) for n in sizes]
    assert mend(runs, planned) == (CHANGE if mends else None)
    assert Again.ran == tried
    assert not tried or "y[0] = 2;" in Again.text


@pytest.mark.usefixtures("_again")
def test_without_a_task_a_change_is_to_end_hazards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mend_module, "has_guard", lambda *_: True)
    runs = Runs(KERNEL, FORM, None)
    runs.checks.append(check(U))
    runs.hazards[HazardKind.TRAP, (1,), "y"] = found(HazardKind.TRAP)
    planned = [Trial({"n": 8}, {"n": 8}, {})]
    for state, mends in ((U, True), (R, False)):
        Again.states, Again.ran = {8: state}, []
        assert mend(runs, planned) == (CHANGE if mends else None)
