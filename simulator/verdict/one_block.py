"""Kernels that run as one block, since they never read blockIdx: for which sizes it is enough.

Such a kernel may be meant so, as a scan within a block is, or may have forgotten blockIdx. Both are
right as far as the threads of the block go, and that is what is said of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulator.language.functions import FRAGMENT_FUNCTIONS
from simulator.language.tree import Barrier, Builtin, Kernel, Load, Loop, Name
from simulator.language.visit import calls, expressions_within, subexpressions, walk
from simulator.sentences import verdicts
from simulator.size_expression import evaluate
from simulator.verdict.form import LaunchForm
from simulator.verdict.host_form import host_form
from simulator.verdict.launches import known_values
from simulator.verdict.parameters import axes_used, vector_length
from simulator.verdict.verdict import CheckState, FoundHazard, SizeCheck

FEW = 8  # of the other sizes


def has_one_block(kernel: Kernel, form: LaunchForm) -> bool:
    """Whether a form has one block as its kernel never reads blockIdx.

    Where the file's own launch has one block, that is meant.
    """
    return (
        all(size == "1" for size in form.grid)
        and not axes_used(kernel, "blockIdx")
        and not calls(kernel.body, FRAGMENT_FUNCTIONS)
        and host_form(kernel.text, kernel).grid is None
    )


def sizes_of_one_block(
    kernel: Kernel, form: LaunchForm, free: Sequence[str]
) -> list[dict[str, int]]:
    """For each of some sizes as many as the threads of the only block, and more than those.

    There are none where a form has no such block.
    """
    if not free or not has_one_block(kernel, form):
        return []
    side = max(evaluate(size, known_values(kernel, form)) for size in form.block[:2])
    length = vector_length(kernel)
    few = dict.fromkeys(free, FEW * length)
    return [few | {name: length * size} for name in free for size in (side, 2 * side + FEW)]


def limit_of_one_block(
    kernel: Kernel,
    form: LaunchForm,
    checks: Sequence[SizeCheck],
    hazards: Sequence[FoundHazard],
) -> str:
    """The sentence about a kernel that is wrong only where its block has too few threads.

    "" for any other, such as one in which each thread takes several elements in a loop.
    """
    own = dict(checks[0].sizes)
    failed = [one.sizes for one in checks if one.state is CheckState.WRONG]
    failed += [one.sizes for one in hazards]
    larger = [[role for role, size in sizes if size > own[role]] for sizes in failed]
    if not all(larger) or not has_one_block(kernel, form):
        return ""
    roles = dict(form.roles)
    if _takes_several(kernel, {roles[role] for each in larger for role in each}):
        return ""
    is_shared = any(isinstance(one, Barrier) for one in walk(kernel.body))
    axes = () if is_shared else sorted(axes_used(kernel, "threadIdx"))
    return verdicts.one_block(form.block, dict(failed[0]), axes)


def _takes_several(kernel: Kernel, sizes: set[str]) -> bool:
    """Whether a loop that starts elsewhere in each thread goes up to one of some sizes."""
    return any(
        isinstance(one, Loop) and one.start is not None and one.condition is not None
        and any(isinstance(each, Load | Builtin) for each in expressions_within(one.start))
        and any(isinstance(each, Name) and each.variable.name in sizes
                for each in subexpressions(one.condition))
        for one in walk(kernel.body)
    )  # fmt: skip
