"""What a worker computes of a user kernel that compiles: its verdict, its GPU's launch."""

from __future__ import annotations

from compiler.find import find_registers
from gpu.candidate import Candidate
from gpu.user_kernel import user_candidate
from simulator.exercises.check_solution import ExerciseResult, check
from simulator.exercises.exercise import exercises
from simulator.verdict.form import UserKernel
from simulator.verdict.judge import judge
from simulator.verdict.verdict import Verdict
from ui.jobs.job_progress import say
from ui.jobs.settings import check_may_write
from ui.user_kernel.examine import compile_once


def judge_user_kernel(user_kernel: UserKernel, registers: int | None = None) -> Verdict:
    """Compile a kernel and judge it; registers are a GPU's, else those of its machine code.

    Raises SourceError or LaunchError.
    """
    kernel = compile_once(user_kernel.text, user_kernel.kernel)
    known = find_registers(kernel) if registers is None else registers
    return judge(user_kernel, kernel, known, say)


def check_exercise(name: str, text: str) -> ExerciseResult:
    """Check a text as an exercise. Raises LaunchError where such texts are switched off."""
    check_may_write()
    return check(exercises()[name], text, say)


def product_candidate(user_kernel: UserKernel, size: tuple[int, int, int]) -> Candidate:
    """A product for a GPU, as user_candidate; LaunchError also where user kernels are off."""
    check_may_write()
    return user_candidate(user_kernel, size)
