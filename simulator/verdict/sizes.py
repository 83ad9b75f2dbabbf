"""At which sizes a kernel is tried: its own, others, ragged ones, a single element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.language.errors import LaunchError
from simulator.language.functions import FRAGMENT_FUNCTIONS
from simulator.language.tree import Kernel
from simulator.language.visit import calls
from simulator.size_expression import WORD, evaluate
from simulator.verdict.form import LaunchForm
from simulator.verdict.launches import known_values
from simulator.verdict.one_block import sizes_of_one_block
from simulator.verdict.parameters import is_whole

FEW = 5  # rows, where each is long
MOST_FREE = 2  # sizes of a task with long rows
KEPT = ("width", "bins")  # sizes that stay the form's: what arrays hold, or time, depends on them
DEFAULT_TILE = 8  # where the form shows none
MANY = 4096  # of a size, from which what a block covers of it is read off the grid
LARGEST_TILE = 32  # beyond which a block takes so long that fewer blocks are tried first
# Sizes in the order in which they are tried, for a task's first, second and third size, as whole
# tiles and elements beyond them; none is below 1.
RAGGED = ((1, 1), (1, -1), (0, 5))
ONE = ((0, 1), (0, 1), (0, 1))
PLAN = (
    ((1, 0), (1, 0), (1, 0)),
    RAGGED,
    ONE,
    ((0, 1), (1, 3), (1, 1)),
    ((1, 3), (0, 1), (0, 3)),
    ((2, 0), (1, 0), (5, 0)),  # as many tiles of K as a pipeline of four stages needs
    ((2, 3), (3, -1), (1, 2)),
)
# Sizes at which warps multiply tiles come first: those that tiles divide, and odd ones after them.
TILE_SIDE = 16  # of a warp's tile
LARGE_PLAN = (((0, 7), (0, 3), (0, 5)), ONE, ((1, 0), (1, 0), (0, 16)), RAGGED)


@dataclass(frozen=True, slots=True)
class Trial:
    """A launch to try."""

    numbers: Mapping[str, int]  # instead of the form's, by parameter
    sizes: Mapping[str, int]  # by the task's roles, or by parameter
    tiles: Mapping[str, int]  # what a block covers of each; empty without a task

    @property
    def is_ragged(self) -> bool:
        """Whether a tile does not divide its size."""
        return any(self.sizes[role] % tile for role, tile in self.tiles.items())


def trials(kernel: Kernel, form: LaunchForm, roles: tuple[str, ...]) -> list[Trial]:
    """The form's own sizes, and for a task's roles others, each once.

    Raises LaunchError where the form's own have no values.
    """
    meant = dict(form.roles)
    free = _free_sizes(kernel, form, roles)
    tiles = tiles_of(kernel, form, {role: meant[role] for role in roles if role not in KEPT})
    by_name = tiles_of(kernel, form, {name: name for name in free})
    is_large = max(tiles.values(), default=0) > LARGEST_TILE
    plans = [(1, plan) for plan in (LARGE_PLAN if is_large else PLAN)]
    if calls(kernel.body, FRAGMENT_FUNCTIONS):
        plans = [*((TILE_SIDE, plan) for plan in PLAN), (1, RAGGED), (1, ONE)]
    follows = _follows(kernel, form, free)
    chosen: list[dict[str, int]] = [{}]
    for unit, plan in plans if free else ():
        chosen.append(
            {
                name: max(unit, whole * by_name[name] + unit * more)
                for name, (whole, more) in zip(free, plan, strict=False)
            }
        )
    if free and follows:
        chosen.append(_beyond_a_block(kernel, form, free, by_name))
    of_one_block = sizes_of_one_block(kernel, form, free)
    chosen += of_one_block
    found: list[Trial] = []
    for given in chosen:
        try:
            values = known_values(kernel, form, given)
            sizes = {role: evaluate(meant[role], values) for role in roles}
        except LaunchError:
            if not given:
                raise
            continue
        if not roles:
            sizes = {one.name: values[one.name] for one in form.arguments if one.name in values}
        is_larger = any(size > found[0].sizes[role] for role, size in sizes.items() if found)
        if is_larger and not follows and given not in of_one_block:
            continue
        if all(sizes != one.sizes for one in found):
            found.append(Trial(given, sizes, tiles))
    return found


def _free_sizes(kernel: Kernel, form: LaunchForm, roles: tuple[str, ...]) -> list[str]:
    """The parameters that may have other values than the form's: those that are a task's sizes."""
    meant = dict(form.roles)
    types = {one.name: one.ctype for one in kernel.parameters}
    meant_words = {word for what in meant.values() for word in WORD.findall(what)}
    if any(
        one.name not in meant_words
        and one.value.isdigit()
        and int(one.value) > 1
        and is_whole(types[one.name])
        for one in form.numbers
    ):
        return []  # such as the distance between rows: it may belong to the form's sizes
    names = {one.name for one in form.numbers}
    free = [word for role in roles if role not in KEPT for word in WORD.findall(meant[role])]
    return [name for name in dict.fromkeys(free) if name in names]


def _beyond_a_block(
    kernel: Kernel, form: LaunchForm, free: list[str], tiles: Mapping[str, int]
) -> dict[str, int]:
    """A size of which the threads of a block take several elements each, as a row's; {} for none.

    That is one that the grid does not follow, where a block is a line of threads.
    """
    known = known_values(kernel, form)
    x, y, z = (evaluate(size, known) for size in form.block)
    small = known_values(kernel, form, dict.fromkeys(free, MANY))
    inner = [name for name in free if _grid(form, small | {name: 2 * MANY}) == _grid(form, small)]
    if len(inner) != 1 or y * z > 1 or len(free) > MOST_FREE:
        return {}
    return {name: FEW + tiles[name] % FEW for name in free} | {inner[0]: 2 * x + FEW}


def _follows(kernel: Kernel, form: LaunchForm, free: list[str]) -> bool:
    """Whether the grid grows with the sizes: else it is for its own and smaller ones alone."""
    try:
        large = known_values(kernel, form, dict.fromkeys(free, MANY))
        return _grid(form, large) != _grid(form, known_values(kernel, form))
    except LaunchError:
        return False


def tiles_of(kernel: Kernel, form: LaunchForm, sizes: Mapping[str, str]) -> dict[str, int]:
    """What a block covers of each size: read off how the grid grows with it.

    A size that the grid does not follow, such as the inner one of a product, has the smallest tile
    of the others, or DEFAULT_TILE where that is large; TILE_SIDE where warps multiply tiles.
    """
    numbers = {one.name for one in form.numbers}
    found: dict[str, int] = {}
    for role, name in sizes.items():
        if name not in numbers:
            continue
        try:
            axes = [
                _grid(form, known_values(kernel, form, {name: size})) for size in (MANY, 2 * MANY)
            ]
        except LaunchError:
            continue
        sides = [MANY // (many - few) for few, many in zip(*axes, strict=True) if many > few]
        if sides:
            found[role] = max(1, *sides)
    inner = min(found.values(), default=DEFAULT_TILE)
    inner = inner if inner <= LARGEST_TILE else DEFAULT_TILE
    if calls(kernel.body, FRAGMENT_FUNCTIONS):
        inner = TILE_SIDE
    return {role: found.get(role, inner) for role in sizes}


def _grid(form: LaunchForm, values: Mapping[str, int]) -> list[int]:
    return [evaluate(size, values) for size in form.grid]
