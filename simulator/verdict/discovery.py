"""The launch of a kernel and the shapes of its arrays, found out by running it.

Single blocks tell how far apart the cells of two blocks lie, and from which block on nothing is
stored any more; that gives the grid. Whole launches at two sizes tell how large each array is. What
the results are tells what the kernel computes.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel
from simulator.launch import MAX_GRID_THREADS
from simulator.size_expression import WORD, evaluate, rounded_up
from simulator.verdict.experiment import COUNTED, Experiment, Run, Sizes, Touches, small_value
from simulator.verdict.fit import Allocated, Fit, compared, expressions, fits
from simulator.verdict.form import Contents, LaunchForm, NumberArgument, Sizes3
from simulator.verdict.grid_loops import rounds
from simulator.verdict.launches import macro_values
from simulator.verdict.parameters import axes_used, vector_length
from simulator.verdict.sizes import tiles_of

MOST_BLOCKS = 4096  # along each axis: more than any size has
BASE = 8  # of a size, where others are varied
TILE = 32  # divides the values of sizes, where no tile is larger
LARGE = (768, 1280)  # of one size, by which the blocks that have something to do are counted
# Values of the first, second, … size that are tried: tiles of 32 divide them all, and no product of
# two is another of them or another product.
VALUES = ((64, 96, 32, 160), (96, 32, 160, 64))
SMALL_VALUES = ((40, 24, 8, 16), (24, 40, 16, 8))  # of many sizes beside one with large tiles
MANY_SIZES = 3
APART = (192, 320, 448)  # sizes at which two blocks of larger tiles are compared
LARGEST_TILE = 1024
MOST_TILES, MOST_GUESSES = 3, 12  # the most tried along an axis without a guard
MOST_GRIDS = 16  # the most tried where no guard tells the grid
SECONDS = 3.0  # of a processor, from when on no other grid or block is tried
FEW = (3, 5)  # values of a size that may be small
LARGER = 16  # times the sizes, where a grid that is known has no blocks for them
ALIKE = 0.8  # of the cells that are wrong with some contents, that are wrong with others too
COLOURS = (3, 4)  # bytes of a pixel, times which a width may be a row
LESS = 0.5  # agreement of a task that is not what is meant
KNOWN = 0.6  # of the cells, from which on a task is what is meant


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found out of a kernel."""

    grid: Sizes3
    block: Sizes3
    values: Sizes  # of the parameters that are sizes, where it ran first
    cells: Mapping[str, str]  # of each array that is touched: an expression, or what was touched
    strides: Mapping[str, str]  # expressions for the parameters that are strides
    seen: frozenset[str]  # arrays whose cells are no expression, but what was touched
    fits: tuple[Fit, ...]  # the tasks that have its shapes, best first
    is_fixed: bool  # whether the sizes are those of the block, which takes no others
    has_faults: bool  # whether accesses were dropped, of shared memory as well

    @property
    def is_explained(self) -> bool:
        """Whether a task explains all of the results, and no access was dropped."""
        return not self.has_faults and bool(self.fits) and self.fits[0].agreement == 1.0

    @property
    def sizes(self) -> tuple[str, ...]:
        """The parameters that are sizes."""
        return tuple(self.values)

    @property
    def task(self) -> Fit | None:
        """The task that is meant; None where none explains most of the results."""
        is_known = bool(self.fits) and self.fits[0].agreement >= KNOWN and not self.has_faults
        return self.fits[0] if is_known else None


def discover(
    kernel: Kernel,
    blocks: Sequence[Sizes3],
    shared_bytes: Sequence[str],
    grid: Sizes3 | None = None,
    tasks: Sequence[str] = (),
    allocated: Allocated | None = None,
) -> Discovery | None:
    """What running a kernel tells; None where it runs with none of these blocks.

    shared_bytes are the dynamic shared memory's, one for each block; grid is the launch's where it
    is known; tasks are those that it may have, all without any; allocated is what is known of its
    arrays.
    """
    end = time.thread_time() + SECONDS
    best: Discovery | None = None
    drawn: dict[Contents, dict[str, Array]] = {Contents.FRACTIONS: {}, Contents.RANDOM: {}}
    for block, shared in zip(blocks, shared_bytes, strict=True):
        for contents, arrays in drawn.items():
            try:
                experiment = Experiment(kernel, block, shared, contents, arrays=arrays)
                found = _Search(experiment, grid, tasks, allocated, end).run()
            except (LaunchError, SourceError):
                break
            if found is not None and _is_better(found, best):
                best = found
            if found is not None and found.is_explained:
                return found
            if not experiment.has_faults:
                break  # no contents are indices
        if time.thread_time() > end:
            break
    return best


def _is_better(found: Discovery, best: Discovery | None) -> bool:
    def rank(one: Discovery) -> float:
        agreement = one.fits[0].agreement if one.fits else -0.5
        return agreement - 0.5 * one.has_faults - 0.5 * (one.is_fixed and agreement < 1.0)

    return best is None or rank(found) > rank(best) + 0.1


class _Search:
    """The search with one block."""

    def __init__(
        self,
        experiment: Experiment,
        grid: Sizes3 | None,
        tasks: Sequence[str],
        allocated: Allocated | None,
        end: float,
    ) -> None:
        self._allocated = allocated
        self._one = experiment
        self._grid = grid
        self._tasks = tasks
        self._end = end
        self._macros = macro_values(experiment.kernel.text)
        kernel = experiment.kernel
        used = axes_used(kernel, "blockIdx") | axes_used(kernel, "gridDim")
        self._rounds = rounds(kernel)
        self._axes = [axis for axis in range(3) if "xyz"[axis] in used]
        threads = math.prod(evaluate(one, self._macros) for one in experiment.block)
        most = MAX_GRID_THREADS // threads
        # Of two axes a grid is square: one that is not may put blocks in another order.
        is_square = len(self._axes) == 2
        most = math.isqrt(most) if is_square else most // BASE ** max(0, len(self._axes) - 1)
        self._most = min(MOST_BLOCKS, most)
        self._beside = self._most if is_square else BASE
        self._large = [one for one in experiment.sizes if small_value(one) is None]
        self._side = TILE  # divides all sizes
        self._loads = False  # whether the first block loads anything

    def run(self) -> Discovery | None:
        """The likeliest grid, or the one whose results a task explains."""
        if self._grid is not None:
            stub = LaunchForm(self._grid, self._one.block, "0", tuple(
                NumberArgument(name, str(BASE)) for name in self._one.sizes))  # fmt: skip
            used = {word for size in self._grid for word in WORD.findall(size)}
            names = {name: name for name in self._large if name in used}
            return self._best([self._grid], tiles_of(self._one.kernel, stub, names), True)
        base = self._values(dict.fromkeys(self._large, BASE))
        first = self._block(0, 0, base)
        if first.has_faults:
            return None  # a block of another shape, or contents that are no indices
        self._loads = bool(first.loaded)
        bounds = {axis: self._bound(axis, base) for axis in self._axes}
        open_axes = [axis for axis, bound in bounds.items() if bound is None]
        choices: list[Sequence[str]] = []
        tiles: dict[str, int] = {}
        for axis in range(3):
            bound = bounds.get(axis, ("", 1))
            if axis not in self._axes:
                choices.append(("1",))
            elif bound is None:
                choices.append(self._guesses(axis))
            else:
                size, tile = bound
                tile *= self._rounds[axis]
                if size in self._large:  # of a product of sizes no single one has whole tiles
                    tiles[size] = tile
                choices.append((rounded_up(size, tile) if size else str(tile),))
        grids = [(x, y, z) for x, y, z in itertools.product(*choices)]
        # Axes go along different sizes, if there are several.
        grids.sort(key=lambda grid: -min(len({grid[one] for one in open_axes}), len(self._large)))
        return self._best(grids[:MOST_GRIDS], tiles, not open_axes)

    def _values(self, large: Sizes) -> dict[str, int]:
        return {one: small_value(one) or large[one] for one in self._one.sizes}

    def _block(self, axis: int, block: int, sizes: Sizes) -> Touches:
        """What a block along an axis touches, in a grid that goes far along it."""
        x, y, z = (
            self._most if one == axis else self._beside if one in self._axes else 1
            for one in range(3)
        )
        return self._one.run(sizes, (x, y, z), [block * math.prod((x, y, z)[:axis])]).touches

    def _is_active(self, axis: int, block: int, sizes: Sizes) -> bool:
        """Whether a block along an axis does anything: one beyond the sizes does not."""
        if block >= self._most:
            return False
        did = self._block(axis, block, sizes)
        return did.has_faults or (bool(did.stored) and (bool(did.loaded) or not self._loads))

    def _end_of(self, axis: int, sizes: Sizes) -> int:
        """The first block along an axis that does nothing."""
        low, high = 0, 1
        while self._is_active(axis, high, sizes):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._is_active(axis, middle, sizes) else (low, middle)
        return high

    def _bound(self, axis: int, base: Sizes) -> tuple[str, int] | None:
        """The size that an axis goes along, "" for none, and what of it a block does.

        Without such a size that is how many blocks there are. None where each block does something.
        """
        if self._is_active(axis, self._most - 1, base):
            return None
        end = self._end_of(axis, base)
        along = [
            one for one in self._large
            if self._is_active(axis, end, {**base, one: LARGE[0]})
        ]  # fmt: skip
        if not along:
            return None if self._large else ("", end)
        large = [{**base, along[0]: many} for many in LARGE]
        cells = [math.prod(each[one] for one in along) for each in large]
        block = evaluate(self._one.block[axis], self._macros)
        # Cells that a condition on values leaves out move the first that is stored.
        likely = sorted(
            (*self._apart(axis, large[0]), block, 1),
            key=lambda tile: tile > block and tile % block > 0,
        )
        for tile in dict.fromkeys(likely):
            ends = [-(-each // tile) for each in cells]
            # A block beyond them may still read a neighbour of the last element.
            if ends[0] != ends[-1] and all(
                self._is_active(axis, last - 1, each)
                and not (
                    self._is_active(axis, last, each) and self._is_active(axis, last + 1, each)
                )
                for last, each in zip(ends, large, strict=True)
            ):
                return " * ".join(along), tile
        ends = [self._end_of(axis, each) for each in large]
        likely = sorted({*likely, *(2**power for power in range(11))})
        for more in range(3):  # blocks at the end that have nothing to do, as beyond n - 2
            for tile in reversed(likely):
                counts = [-(-each // tile) for each in cells]
                if all(0 <= count - last <= more
                       for count, last in zip(counts, ends, strict=True)):  # fmt: skip
                    return " * ".join(along), tile
        return " * ".join(along), max(1, cells[0] // ends[0])

    def _apart(self, axis: int, sizes: Sizes) -> list[int]:
        """How many cells lie between what the first two blocks along an axis touch, row or column.

        The likeliest come first.
        """
        here, there = (self._block(axis, one, sizes) for one in (0, 1))
        known = self._macros | dict(sizes)
        rows = {1, *(evaluate(one, known) for one in (*self._large, *self._pairs()))}
        found: list[int] = []
        # What is read may begin before: a neighbour of the first element that is stored.
        for first, other in ((here.first_stored, there.first_stored), (here.first, there.first)):
            apart = [other[name] - cell for name, cell in first.items() if name in other]
            tiles = [one // row for one in apart if one > 0 for row in rows if one % row == 0]
            found += sorted(
                {one for one in tiles if one <= LARGEST_TILE},
                key=lambda one: (-tiles.count(one), one),
            )
        return list(dict.fromkeys(found))

    def _pairs(self) -> list[str]:
        return [f"{a} * {b}" for a, b in itertools.combinations_with_replacement(self._large, 2)]

    def _guesses(self, axis: int) -> list[str]:
        """How many blocks there may be along an axis that no guard ends."""
        apart = (*APART, *[APART[-1]] * len(self._large))
        values = self._values(dict(zip(self._large, apart, strict=False)))
        block = evaluate(self._one.block[axis], self._macros)
        tiles = list(dict.fromkeys((*self._apart(axis, values), block)))[:MOST_TILES]
        tiles = [self._rounds[axis] * tile for tile in tiles]
        self._side = max(self._side, tiles[0])
        counted = [one for one in self._one.sizes if COUNTED.search(one)] if axis else []
        if not self._large:
            return [*counted, "2"]
        # A loop over the grid has a bound, so that fewer blocks than that would do.
        sizes = self._large if self._rounds[axis] > 1 else (*self._large, *self._pairs())
        found = [*counted, *(rounded_up(size, tile) for tile in tiles for size in sizes)]
        return found[:MOST_GUESSES]

    def _best(
        self, grids: Sequence[Sizes3], tiles: Mapping[str, int], has_guards: bool
    ) -> Discovery | None:
        """The launch by one of some grids that a task explains best; the first without any."""
        best: Discovery | None = None
        for values in self._values_to_try(tiles, has_guards):
            seen: list[list[int]] = []  # what is the same at both sizes is tried once
            for grid in grids:
                known = [self._macros | each for each in values]
                counts = [evaluate(one, each) for each in known for one in grid]
                if counts in seen or min(counts) < 1:
                    continue
                seen.append(counts)
                found = self._launched(grid, values)
                if found is not None and _is_better(found, best):
                    best = found
                if best is not None and best.is_explained:
                    return best
                if time.thread_time() > self._end:
                    return best
        return best

    def _values_to_try(
        self, tiles: Mapping[str, int], has_guards: bool
    ) -> Iterator[list[dict[str, int]]]:
        """Values of the sizes, each time two of each.

        First one that no block goes along is small, as a neighbourhood is; then all are different;
        then all are alike; then a single one is as many as a block's threads.
        """
        for name in self._large if has_guards else ():
            if name not in tiles and len(self._large) > 1:
                yield [each | {name: few * vector_length(self._one.kernel)} for each, few in
                       zip(self._sizes_to_try(tiles), FEW, strict=True)]  # fmt: skip
        small = self._sizes_to_try(tiles)
        yield small
        if self._grid is not None and any(
            evaluate(one, self._macros | each) < 1 for each in small for one in self._grid
        ):
            yield [{name: size * LARGER for name, size in each.items()} for each in small]
        if len(self._large) > 1:
            yield self._sizes_to_try(tiles, is_square=True)
        if not self._axes and self._grid is None:
            threads = math.prod(evaluate(one, self._macros) for one in self._one.block)
            yield [self._values(dict.fromkeys(self._large, threads))] * 2

    def _sizes_to_try(
        self, tiles: Mapping[str, int], is_square: bool = False
    ) -> list[dict[str, int]]:
        """Two times values of the sizes: two or three tiles, each size with values of its own."""
        found = []
        side = max([self._side, *tiles.values()])
        threads = math.prod(evaluate(one, self._macros) for one in self._one.block)
        has_few = threads == 1 or (side > TILE and len(self._large) >= MANY_SIZES)
        pools = SMALL_VALUES if has_few else VALUES
        for number, choice in enumerate(pools):
            values: dict[str, int] = {}
            for place, one in enumerate(self._large):
                value = choice[place % len(choice)]
                # One that no block goes along may have tiles, too, which a loop takes in turn.
                tile = side if pools is VALUES else tiles.get(one, 1)
                if tile > TILE:
                    value = tile * (2 + (place + number) % 2)
                values[one] = side * (2 + number) if is_square else value
            found.append({one: small_value(one, number) or values[one] for one in self._one.sizes})
        return found

    def _launched(self, grid: Sizes3, values: Sequence[Sizes]) -> Discovery | None:
        """What whole launches with a grid tell; None where they are refused."""
        strides = self._strides(grid, values[0])
        runs: list[tuple[Sizes, Run]] = []
        for each in values:
            known = self._macros | dict(each)
            x, y, z = (evaluate(one, known) for one in grid)
            tight = {name: evaluate(one, known) for name, one in strides.items()}
            run = self._one.try_run({**each, **tight}, (x, y, z))
            if run is None:
                return None
            runs.append((each, run))
        form = self._one.form(values[0], (1, 1, 1))
        extents = _extents(self._one.kernel, runs, grid)
        most = {name: max(run.touches.cells.get(name, 0) for _, run in runs) for name in extents}
        found = fits(self._one.kernel, form, runs, self._tasks, self._allocated)
        if (
            found
            and KNOWN <= found[0].agreement < 1.0
            and not self._breaks_a_pattern(grid, values[0], runs[0], found[0], form)
        ):
            found[0] = replace(found[0], agreement=LESS)
        return Discovery(
            grid=grid,
            block=self._one.block,
            values=values[0],
            cells={name: cells or str(most[name]) for name, cells in extents.items()},
            strides=strides,
            seen=frozenset(name for name, cells in extents.items() if not cells),
            fits=tuple(found[:4]),
            is_fixed=bool(values[0]) and values[0] == values[1],
            has_faults=any(run.touches.has_faults for _, run in runs),
        )

    def _strides(self, grid: Sizes3, sizes: Sizes) -> dict[str, str]:
        """The least that each stride may be: a size, or two, that keep all elements apart."""
        found = {name: str(room) for name, room in self._one.strides.items()}
        known = self._macros | dict(sizes)
        x, y, z = (evaluate(one, known) for one in grid)

        def elements(strides: Mapping[str, str]) -> dict[str, int] | None:
            """How many elements of each array are touched."""
            values = {name: evaluate(one, known) for name, one in strides.items()}
            run = self._one.try_run({**sizes, **values}, (x, y, z), has_marks=True)
            if run is None or run.touches.has_faults:
                return None
            return {name: int(marks.sum()) for name, marks in run.touches.marks.items()}

        apart = elements(found) if found else None
        sums = [f"{a} + {b}" for a, b in itertools.combinations(self._one.sizes, 2)]
        times = [f"{many} * {one}" for many in COLOURS for one in self._one.sizes]
        choices = sorted((*self._one.sizes, *sums, *times, *self._pairs()),
                         key=lambda one: evaluate(one, known))  # fmt: skip
        for name, room in found.items() if apart is not None else ():
            for one in choices if room != "1" else ():
                if time.thread_time() > self._end:
                    return found
                if elements({**found, name: one}) == apart:
                    found[name] = one
                    break
        return found

    def _breaks_a_pattern(
        self, grid: Sizes3, sizes: Sizes, run: tuple[Sizes, Run], fit: Fit, form: LaunchForm
    ) -> bool:
        """Whether the same cells are wrong with other contents: an edge, a tile, a warp.

        Where it depends on the contents, as with a product of which the larger of it and 0 is
        stored, something else is computed.
        """
        other = Experiment(self._one.kernel, self._one.block, self._one.shared_bytes,
                           Contents.RANDOM)  # fmt: skip
        x, y, z = (evaluate(one, self._macros | dict(sizes)) for one in grid)
        again = other.try_run(sizes, (x, y, z))
        if again is None:
            return False
        found = [compared(self._one.kernel, form, fit.task, fit.roles, *each)
                 for each in (run, (sizes, again))]  # fmt: skip
        masks = [each[0] for each in found if each is not None]
        return len(masks) == len(found) and _same(*masks)


def _same(first: Array, second: Array) -> bool:
    """Whether two masks of wrong cells are nearly the same."""
    either = int(np.count_nonzero(first | second))
    return first.shape == second.shape and int(np.count_nonzero(first & second)) >= ALIKE * either


def _extents(kernel: Kernel, runs: Sequence[tuple[Sizes, Run]], grid: Sizes3) -> dict[str, str]:
    """How many cells each array has, as an expression over the sizes; "" where none fits."""
    names = list(dict.fromkeys(name for _, run in runs for name in run.touches.cells))
    macros = macro_values(kernel.text)
    choices = expressions(kernel, runs)
    triples = [" * ".join(each) for each in
               itertools.combinations_with_replacement(list(runs[0][0]), 3)]  # fmt: skip
    offsets = [f"{one} + {more}" for one in choices for more in (1, 2)]
    blocks = [one for one in grid if not one.isdigit()]
    blocks += [f"({one}) * {name}" for one in blocks for name in runs[0][0]]
    found = {}
    for name in names:
        touched = [run.touches.cells.get(name, 0) for _, run in runs]
        exact, near = "", ""
        for one in (*choices, *blocks, *triples, *offsets):
            cells = [evaluate(one, macros | dict(sizes)) for sizes, _ in runs]
            if cells == touched:
                exact = exact or one
            elif all(0.9 * c <= t <= c for c, t in zip(cells, touched, strict=True)):
                near = near or one
        if len(set(touched)) == 1 and not near:
            exact = exact or str(touched[0])
        found[name] = exact or near
    return found
