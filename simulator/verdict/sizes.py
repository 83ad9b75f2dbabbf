"""At which sizes a kernel is tried: its own, others, ragged ones, a single element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.language.errors import LaunchError
from simulator.language.tree import Kernel
from simulator.size_expression import evaluate
from simulator.verdict.form import LaunchForm, NumberArgument
from simulator.verdict.launches import known_values

DEFAULT_TILE = 8  # of a block without sides
LARGEST_TILE = 64  # whose multiples are tried
# Sizes in the order in which they are tried, for a task's first, second and third size, as whole
# tiles and elements beyond them; none is below 1.
PLAN = (
    ((1, 0), (1, 0), (1, 0)),
    ((1, 1), (1, -1), (0, 5)),
    ((0, 1), (0, 1), (0, 1)),
    ((0, 1), (1, 3), (1, 1)),
    ((1, 3), (0, 1), (0, 3)),
    ((2, 0), (1, 0), (3, 0)),
    ((2, 3), (3, -1), (1, 2)),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """A launch to try."""

    numbers: Mapping[str, int]  # in place of the form's, by parameter
    sizes: Mapping[str, int]  # by the task's roles, or by parameter
    is_ragged: bool  # whether a side of the block does not divide a size


def trials(kernel: Kernel, form: LaunchForm, roles: tuple[str, ...]) -> list[Trial]:
    """The form's own sizes, and for a task's roles others, each once. Raises LaunchError."""
    own = dict(form.roles)
    expressions = [own[role] for role in roles]
    numbers = {one.name for one in form.arguments if isinstance(one, NumberArgument)}
    free = list(dict.fromkeys(one for one in expressions if one in numbers))
    known = known_values(kernel, form)
    tile = _tile(form, known)
    found: list[Trial] = []
    plans: list[dict[str, int]] = [{}]
    for plan in PLAN if free else ():
        plans.append(
            {
                name: max(1, whole * tile + more)
                for name, (whole, more) in zip(free, plan, strict=False)
            }
        )
    for chosen in plans:
        try:
            values = known_values(kernel, form, chosen)
            sizes = {
                role: evaluate(expression, values)
                for role, expression in zip(roles, expressions, strict=True)
            }
        except LaunchError:
            if not chosen:
                raise
            continue
        if not roles:
            sizes = {name: values[name] for name in sorted(numbers & values.keys())}
        is_ragged = bool(roles) and any(size % tile for size in sizes.values())
        if all(sizes != one.sizes for one in found):
            found.append(Trial(chosen, sizes, is_ragged))
    return found


def _tile(form: LaunchForm, known: Mapping[str, int]) -> int:
    """The larger side of the block where it has two, as the tile that may divide the sizes."""
    sides = sorted(evaluate(side, known) for side in form.block[:2])
    return min(sides[1], LARGEST_TILE) if sides[0] > 1 else DEFAULT_TILE
