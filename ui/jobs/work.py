"""How much a job is to compute: a guess, by which short ones come before long ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from simulator import LaunchError
from simulator.size_expression import evaluate
from simulator.verdict.form import ArrayArgument, NumberArgument, UserKernel
from ui.view.view_url import View

FEW = 512  # iterations of a loop that soon end: each takes some milliseconds
USUAL = 1e6  # of a job that no user kernel's code says anything about
LARGEST = 2**31  # of a number of a text: a larger one is no number of iterations
NUMBER = re.compile(r"\b\d+\b")
MACRO = re.compile(r"#\s*define\s+(\w+)\s+(\d+)\b")


def guess_work(arguments: Sequence[object]) -> float:
    """The work of a job with these arguments, in iterations of threads: an order of magnitude.

    Of a user kernel that is its threads times the largest number of its text and launch,
    which may be that of a loop's iterations. Nothing is compiled.
    """
    for one in arguments:
        user_kernel = one.user_kernel if isinstance(one, View) else one
        if isinstance(user_kernel, UserKernel):
            return _threads(user_kernel) * max([1, *_numbers(user_kernel)])
    return USUAL


def is_short(arguments: Sequence[object]) -> bool:
    """Whether a job's user kernel seems to end soon: no number says that a loop is long."""
    user_kernels = [
        one.user_kernel
        for one in arguments
        if isinstance(one, View) and one.user_kernel is not None
    ]
    return all(max(_numbers(user_kernel), default=0) <= FEW for user_kernel in user_kernels)


def _threads(user_kernel: UserKernel) -> float:
    known = {name: int(value) for name, value in MACRO.findall(user_kernel.text) if len(value) < 10}
    for one in user_kernel.form.arguments:
        if isinstance(one, NumberArgument):
            known[one.name] = int(_value(one.value, known))
    threads = 1.0
    for size in (*user_kernel.form.grid, *user_kernel.form.block):
        threads *= max(1.0, _value(size, known))
    return threads


def _value(expression: str, known: dict[str, int]) -> float:
    """The value of a size; 1 where it has none."""
    try:
        return evaluate(expression, known)
    except LaunchError:
        return 1.0


def _numbers(user_kernel: UserKernel) -> list[int]:
    """The numbers that a text and its launch name."""
    sizes = [f"{one.rows} {one.columns}" if isinstance(one, ArrayArgument) else one.value
             for one in user_kernel.form.arguments]  # fmt: skip
    found = (
        int(number[:10]) for text in (user_kernel.text, *sizes) for number in NUMBER.findall(text)
    )
    return [number for number in found if number < LARGEST]
