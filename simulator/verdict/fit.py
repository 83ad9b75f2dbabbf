"""Which tasks explain what a kernel stored: every task, every order of its arrays and sizes."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.language.ctype import Array, Pointer, Scalar
from simulator.language.errors import LaunchError
from simulator.language.tree import Kernel, MemorySpace, Name
from simulator.language.visit import expressions_within
from simulator.size_expression import LARGEST, WORD, evaluate
from simulator.verdict.expected import expected_results
from simulator.verdict.experiment import Run, Sizes
from simulator.verdict.form import LaunchForm
from simulator.verdict.launches import macro_values
from simulator.verdict.parameters import bare_name, vector_length
from simulator.verdict.sizes import KEPT
from simulator.verdict.tasks import (
    ALPHA,
    BETA,
    FACTOR,
    LARGEST_WORK,
    OTHER_PRODUCTS,
    PRODUCT,
    TASKS,
    Task,
    wrong_cells,
)

NEARLY = 0.6  # of an array that is touched: the last row's end, or a bin, may not be
BEYOND = 1.1  # times an array, up to which accesses beyond it are taken as such
TELLING = 0.1  # of the cells, below which a task has little in common with what is stored
WIDEST = 16  # of a neighbourhood, whose right results take long
MANY = 16  # cells, below which every one counts
FEW = 2  # cells that are beyond it in any case
PRODUCTS = (PRODUCT, *OTHER_PRODUCTS)


@dataclass(frozen=True, slots=True)
class Fit:
    """A task with roles that a kernel's arrays may have."""

    task: Task
    roles: tuple[tuple[str, str], ...]
    agreement: float  # the part of the result's cells that are right, of those that are not 0


@dataclass(frozen=True, slots=True)
class Allocated:
    """What a file's host code says of a launch."""

    sizes: Sizes  # the values of parameters
    cells: Mapping[str, int]  # of the arrays, by parameter

    def agrees(
        self, kernel: Kernel, task: Task, meant: Mapping[str, str], sizes: Mapping[str, str]
    ) -> bool:
        """Whether no array is smaller than a task's is by some sizes, nor twice as large."""
        known = macro_values(kernel.text) | dict(self.sizes)
        try:
            values = {role: evaluate(one, known) for role, one in sizes.items()}
        except LaunchError:
            return True
        return all(
            cells <= self.cells[meant[role]] < 2 * cells
            for role, shape in task.arrays.items()
            if meant[role] in self.cells
            for cells in [math.prod(evaluate(side, values) for side in shape)]
        )


def fits(
    kernel: Kernel,
    form: LaunchForm,
    runs: Sequence[tuple[Sizes, Run]],
    tasks: Sequence[str] = (),
    allocated: Allocated | None = None,
) -> list[Fit]:
    """How well tasks explain runs of one launch at different sizes, the best first.

    Without tasks, of all. form is the runs'.
    """
    found: list[Fit] = []
    for task in (TASKS[name] for name in tasks) if tasks else TASKS.values():
        for roles in _roles(kernel, task, runs, allocated):
            agreement = 1.0
            for run in runs:
                agreement = min(agreement, _agreement(kernel, form, task, roles, *run))
                if agreement < TELLING:
                    break
            found.append(Fit(task, roles, agreement))
            if agreement == 1.0:
                return [found[-1]]
    return sorted(found, key=lambda one: -one.agreement)


def _agreement(
    kernel: Kernel, form: LaunchForm, task: Task, roles: tuple[tuple[str, str], ...],
    sizes: Sizes, run: Run,
) -> float:  # fmt: skip
    found = compared(kernel, form, task, roles, sizes, run)
    if found is None:
        return 0.0
    wrong, expected = found
    if np.isnan(expected).all():
        return 0.0  # nothing is said of any cell, as of a neighbourhood's in two rows
    if not wrong.any():
        return 1.0
    telling = ~np.isnan(expected) & (expected != 0)
    return min(float(1 - wrong[telling].mean()) if telling.any() else 0.0, 0.999)


def compared(
    kernel: Kernel, form: LaunchForm, task: Task, roles: tuple[tuple[str, str], ...],
    sizes: Sizes, run: Run,
) -> tuple[Array, Array] | None:  # fmt: skip
    """Which cells of a task's result are wrong, and what is expected of them.

    None where its arrays are too small, or its work is too large.
    """
    meant = dict(roles)
    known = macro_values(kernel.text) | dict(sizes)
    values = {role: evaluate(meant[role], known) for role in task.sizes}
    if math.prod(values.values()) > LARGEST_WORK:
        return None
    if any(
        math.prod(evaluate(side, values) for side in shape) > run.results[meant[role]].size
        for role, shape in task.arrays.items()
    ):
        return None
    with_roles = replace(form, task=task.name, roles=roles)
    (role, expected), *_ = expected_results(kernel, with_roles, run.launch, task, values).items()
    wrong = wrong_cells(run.results[meant[role]], expected, task.count_terms(values))
    return wrong, expected


def _roles(
    kernel: Kernel, task: Task, runs: Sequence[tuple[Sizes, Run]], allocated: Allocated | None
) -> Iterator[tuple[tuple[str, str], ...]]:
    """Every way in which the kernel's arrays and sizes may be a task's."""
    arrays = [one.name for one in kernel.parameters if isinstance(one.ctype, Pointer)]
    stored = set[str]().union(*(run.touches.stored for _, run in runs))
    result = task.results[0]
    inputs = [role for role in task.arrays if role != result]
    if len(arrays) != len(task.arrays) or len(stored) != 1:
        return
    of_result = next(iter(stored))
    unread = set(runs[0][0]) - _read(kernel)
    factors = list(_factors(kernel, task))
    if not factors:
        return
    others = [name for name in arrays if name != of_result]
    as_named = {bare_name(name): name for name in others}
    orders: Iterable[Sequence[str]] = itertools.permutations(others)
    if as_named.keys() == {role.lower() for role in inputs}:
        orders = [[as_named[role.lower()] for role in inputs]]
    for order in orders:
        meant = {**dict(zip(inputs, order, strict=True)), result: of_result}
        for sizes in _sizes(kernel, task, meant, runs):
            if allocated is not None and not allocated.agrees(kernel, task, meant, sizes):
                continue
            named = {word for one in sizes.values() for word in WORD.findall(one)}
            if not unread <= named:
                continue  # a size that is passed has a meaning: else another was taken for it
            by_array = tuple((role, meant[role]) for role in task.arrays)
            for factor in factors:
                yield (*by_array, *((role, sizes[role]) for role in task.sizes), *factor)


def _read(kernel: Kernel) -> set[str]:
    """The parameters that a kernel reads."""
    return {
        one.variable.name
        for one in expressions_within(kernel.body)
        if isinstance(one, Name) and one.variable.space is MemorySpace.PARAMETER
    }


def _factors(kernel: Kernel, task: Task) -> Iterator[tuple[tuple[str, str], ...]]:
    """The roles that the float parameters may have: none where there are none."""
    floats = [
        one.name for one in kernel.parameters
        if isinstance(one.ctype, Scalar) and one.ctype.is_float
    ]  # fmt: skip
    if task.has_factor:
        yield from ((((FACTOR, one),) for one in floats) if len(floats) == 1 else ())
    elif not floats:
        yield ()
    elif task.name in PRODUCTS and len(floats) <= 2:
        for names in itertools.permutations(floats):
            yield tuple(zip((ALPHA, BETA), names, strict=False))


def _sizes(
    kernel: Kernel, task: Task, meant: Mapping[str, str], runs: Sequence[tuple[Sizes, Run]]
) -> Iterator[Mapping[str, str]]:
    """What the task's sizes may be, so that all its arrays are as large as what is touched."""
    choices = expressions(kernel, runs)
    macros = macro_values(kernel.text)
    is_varied = len({tuple(sizes.items()) for sizes, _ in runs}) > 1 and bool(runs[0][0])
    known = [macros | dict(sizes) for sizes, _ in runs]
    values = {one: tuple(evaluate(one, each) for each in known) for one in choices}
    shapes = {
        role: " * ".join(f"({side})" for side in shape) for role, shape in task.arrays.items()
    }
    # By how many sizes are chosen, the roles whose arrays' extents are known.
    checked: dict[int, list[str]] = {}
    for role, shape in task.arrays.items():
        needs = [i for i, size in enumerate(task.sizes, 1) if size in " ".join(shape).split()]
        checked.setdefault(max(needs, default=0), []).append(role)

    def fit(chosen: Mapping[str, str]) -> bool:
        return all(
            _is_extent(
                run.touches.cells.get(meant[role], 0),
                _value(shapes[role], tuple((size, values[one][number])
                                           for size, one in chosen.items())),
            )
            for role in checked.get(len(chosen), ())
            for number, (_, run) in enumerate(runs)
        )  # fmt: skip

    def choose(chosen: dict[str, str]) -> Iterator[Mapping[str, str]]:
        if len(chosen) == len(task.sizes):
            yield chosen
            return
        role = task.sizes[len(chosen)]
        for one in sorted(choices, key=lambda one: one in chosen.values()):
            if role == "width" and max(values[one]) > WIDEST:
                continue
            if one.isdigit() and role not in KEPT and is_varied:
                continue  # what is the same at all sizes is a block's, and no array's
            further = chosen | {role: one}
            if fit(further):
                yield from choose(further)

    if fit({}):
        yield from choose({})


@functools.lru_cache(4096)
def _value(expression: str, sizes: tuple[tuple[str, int], ...]) -> int:
    try:
        return evaluate(expression, dict(sizes))
    except LaunchError:  # too large
        return LARGEST


def _is_extent(touched: int, cells: int) -> bool:
    """Whether an array of so many cells is what is touched; one that is never touched is any."""
    beyond = BEYOND * cells + FEW if cells >= MANY else cells
    return touched == 0 or NEARLY * cells <= touched <= beyond


def expressions(kernel: Kernel, runs: Sequence[tuple[Sizes, Run]]) -> list[str]:
    """What sizes may be: parameters, products of two, and numbers that no parameter changes."""
    names = list(runs[0][0])
    pairs = [f"{a} * {b}" for a, b in itertools.combinations_with_replacement(names, 2)]
    macros = macro_values(kernel.text)
    constant = {
        cells for name, cells in runs[0][1].touches.cells.items()
        if all(run.touches.cells.get(name) == cells for _, run in runs[1:]) and cells > 1
    }  # fmt: skip
    constant |= {math.isqrt(one) for one in constant if math.isqrt(one) ** 2 == one}
    named = [name for name, value in macros.items() if value in constant]
    unnamed = [str(one) for one in sorted(constant - {macros[name] for name in named})]
    around = [
        f"2 * {one} + 1" for one in names if all(sizes[one] <= WIDEST // 2 for sizes, _ in runs)
    ]
    length = vector_length(kernel)
    in_vectors = [f"{length} * {one}" for one in names] if length > 1 else []
    return [*names, *named, *unnamed, *around, *in_vectors, *pairs]
