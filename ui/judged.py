"""The verdict on a kernel of one's own, computed by a worker."""

from __future__ import annotations

from simulator.exercises.check import ExerciseResult, check
from simulator.exercises.exercise import exercises
from simulator.verdict.form import OwnKernel
from simulator.verdict.judge import judge
from simulator.verdict.verdict import Verdict
from ui.examine import compile_once
from ui.job_progress import say


def judge_own(own: OwnKernel, registers: int | None = None) -> Verdict:
    """Compile a kernel and judge it. Raises SourceError or LaunchError."""
    return judge(own, compile_once(own.text, own.kernel), registers, say)


def check_exercise(name: str, text: str) -> ExerciseResult:
    """Check a text as an exercise."""
    return check(exercises()[name], text, say)
