"""The form of a kernel that nobody has filled in: from its parameters and the file's launch."""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from simulator.language.ctype import ArrayOf, Pointer, size_of
from simulator.language.errors import LaunchError, SourceError
from simulator.language.functions import FRAGMENT_FUNCTIONS
from simulator.language.tree import Kernel, Variable
from simulator.language.visit import calls
from simulator.launch import Launch
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.report import simulate
from simulator.size_expression import WORD, as_factor, evaluate, rounded_up, substitute
from simulator.verdict.blocks import SIDE, likely_blocks
from simulator.verdict.discovery import Discovery, discover
from simulator.verdict.expected import expected_results
from simulator.verdict.experiment import PITCH, Experiment, MayNeverEndError, Touches
from simulator.verdict.fit import BEYOND, Allocated, Fit
from simulator.verdict.form import (
    ArrayArgument,
    Contents,
    LaunchForm,
    NumberArgument,
    Sizes3,
    with_arrays,
    with_contents,
    with_numbers,
)
from simulator.verdict.grid_loops import rounds
from simulator.verdict.host_form import HostForm, host_form
from simulator.verdict.launches import build_launch, check_names, known_values, macro_values
from simulator.verdict.parameters import (
    SIZE,
    Argument,
    Shape,
    arguments_of,
    atomic_parameters,
    axes_used,
    byte_pitches,
    in_vectors,
    is_whole,
    other_products,
    recognise,
    with_factors,
    with_task,
    without_flags,
)
from simulator.verdict.places import find_places
from simulator.verdict.probe import BlockTile, Probe
from simulator.verdict.sizes import KEPT, TILE_SIDE, tiles_of
from simulator.verdict.tasks import BETA, OTHER_PRODUCTS, PRODUCT, TASKS, wrong_cells

LARGEST_SIZE = 64  # the largest side that a guess gives a matrix
LARGEST_FACTOR = 8  # by which a guess's sizes are made larger
LARGE_TILE = 32  # above it a block takes so long that its sums get few terms
MANY_THREADS = 2**16  # of a launch in the text: with more of them its sizes are made smaller
SMALLER = (1000, 40, 10)  # the sizes that it then has, by how many they are
LIKELIEST = 1  # blocks that are tried with each shape before others are
LONGEST_LINE = 1024  # of a size that is the only one, where blocks are lines of threads
# Tasks whose results blocks fill tile by tile: a first block that is right tells enough of them.
BY_TILES = (PRODUCT, *OTHER_PRODUCTS, "transpose")
WIDTH = 5  # of a neighbourhood
MANY_SIZES = 2  # from which on each has its own tile
MOST_BLOCKS = 12  # the most tried to find out what a kernel computes
TILED = re.compile(r"\((.+) \+ (\d+) - 1\) / \2")
RESIZED = 3  # times that arrays of places get room: one may pick the cells of another
HOLDING_SECONDS = 2.0  # of a processor, for a whole launch
PROBING_SECONDS = 3.0  # of a processor, for all blocks that are tried


def guess_form(
    text: str, kernel: Kernel, task: str | None = None, block: Sizes3 | None = None
) -> LaunchForm:
    """A form that launches a kernel of a file as it seems to be meant.

    task and block are what it should compute ("" for anything) and the threads of a block, where
    they are known. Single blocks of the kernel run for that, for a few seconds at most; one that
    does not seem to end is the last. Raises LaunchError for parameters without names, and for a
    task that they do not fit.
    """
    check_names(kernel)
    host = host_form(text, kernel)
    if host.grid is not None and not _has_values(kernel, host.grid):
        host = replace(host, grid=None)
    if block is not None:
        host = replace(host, block=block)
    try:
        form = _guessed_form(kernel, host, task)
        return form if task else with_places(kernel, roomy(kernel, form))
    except MayNeverEndError:
        return _without_task(kernel, host)


def _guessed_form(kernel: Kernel, host: HostForm, task: str | None) -> LaunchForm:
    """The form, whose arrays may still be too small."""
    shape, refused = recognise(kernel), None
    if task and (shape is None or shape.task != task):
        try:
            shape = with_task(kernel, task)
        except LaunchError as error:
            if task not in TASKS:
                raise
            shape, refused = None, error
    if shape is not None and shape.task in BY_TILES:
        shapes = (shape,) if task is not None else (shape, *other_products(kernel, shape))
        without = (without_flags(kernel, one) for one in shapes)
        shapes = tuple(dict.fromkeys((*shapes, *without)))
        form, tile, is_right = _right_form(kernel, host, shapes)
        if is_right:
            form = _completed(kernel, host, form, tile, task)
            if task == "" or _holds(kernel, form):
                return form
            whole = _in_whole_tiles(form, tile)
            if whole != form and _holds(kernel, whole):
                return whole
            if task is not None:
                return form
    found = _discover(kernel, host, [task] if task is not None and task in TASKS else ())
    fit = found.task if found is not None else None
    if fit is None and task not in (None, "", *BY_TILES) and found is not None and found.fits:
        fit = found.fits[0]  # the task is known, so that its likeliest roles will do
    if found is not None and fit is not None:
        fitted = form_of(kernel, found, fit, _shared_bytes(kernel, host, found.block))
        fitted = _as_launched(kernel, fitted, host)
        return fitted if task != "" else replace(fitted, task="", roles=())
    if refused is not None:
        raise refused
    if task and shape is not None:
        form, tile, _ = _right_form(kernel, host, (shape,))
        return _completed(kernel, host, form, tile, task)
    return _as_launched(kernel, _without_task(kernel, host, found), host)


def _as_launched(kernel: Kernel, form: LaunchForm, host: HostForm) -> LaunchForm:
    """A form with the numbers of the file's own launch, where that has few threads.

    That is a launch whose grid and sizes are numbers; one by expressions is in the form already.
    """
    if host.grid is None:
        return form
    try:
        blocks = [evaluate(size, macro_values(kernel.text)) for size in host.grid]
    except LaunchError:
        return form
    if min(blocks) < 1:
        return replace(form, grid=host.grid)  # an empty grid is a mistake to report
    values = {
        one.name: value for one in kernel.parameters if (value := _passed(one, host)) is not None
    }
    if not {one.name for one in form.numbers} <= values.keys():
        return form
    launched = replace(form, grid=host.grid, arguments=with_numbers(form.arguments, values))
    if _is_large(kernel, launched):
        return form
    return launched if not form.task or _holds(kernel, launched) else form


def _holds(kernel: Kernel, form: LaunchForm) -> bool:
    """Whether a whole launch computes what its first block promised.

    Where blocks take long, as with tiles of warps, that block is enough.
    """
    if calls(kernel.body, FRAGMENT_FUNCTIONS):
        return True
    try:
        launch = build_launch(kernel, form)
        known, task = known_values(kernel, form), TASKS[form.task]
        sizes = {role: evaluate(dict(form.roles)[role], known) for role in task.sizes}
        machine = Machine(kernel, launch, [], Schedule.LOCKSTEP, seconds=HOLDING_SECONDS)
        machine.run()
    except (LaunchError, SourceError):
        return True  # the verdict says what is wrong there
    results = machine.results()
    return not any(
        wrong_cells(results[dict(form.roles)[role]], expected, task.count_terms(sizes)).any()
        for role, expected in expected_results(kernel, form, launch, task, sizes).items()
    )


def _completed(
    kernel: Kernel, host: HostForm, form: LaunchForm, tile: BlockTile | None, task: str | None
) -> LaunchForm:  # fmt: skip
    """A form of a block and a shape with its sizes and its grid."""
    form = replace(form, arguments=_sized(kernel, form, tile))
    follows = host.grid is not None and _names_sizes(host.grid, form)
    grid = host.grid if follows and host.grid is not None else _grid(kernel, form, tile)
    form = _with_blocks(kernel, replace(form, grid=grid))
    return form if task != "" else replace(form, task="", roles=())


def _right_form(
    kernel: Kernel, host: HostForm, shapes: Sequence[Shape]
) -> tuple[LaunchForm, BlockTile | None, bool]:
    """The likeliest block and shape that compute what they should, and what the block stores.

    Without any, which the last says, the likeliest of all. The grid is not known yet.
    """
    blocks = likely_blocks(kernel) if host.block is None else [host.block]
    likeliest = [(block, shape) for block in blocks[:LIKELIEST] for shape in shapes]
    others = [(block, shape) for shape in shapes for block in blocks[LIKELIEST:]]
    forms = (
        LaunchForm(
            grid=("1", "1", "1"),
            block=block,
            shared_bytes=_shared_bytes(kernel, host, block),
            arguments=shape.arguments,
            task=shape.task,
            roles=shape.roles,
        )
        for block, shape in (*likeliest, *others)
    )
    end = time.process_time() + PROBING_SECONDS
    first = next(forms)
    for form in itertools.chain([first], forms):
        probe = Probe(kernel, form)
        if probe.block_is_right(is_patient=form.roles == first.roles and form.task == first.task):
            tile = probe.tile()
            if host.block is not None or tile is None or not tile.has_gaps:
                return form, tile, True
        if time.process_time() > end:
            break
    return first, Probe(kernel, first).tile(), False


def _shared_bytes(kernel: Kernel, host: HostForm, block: Sizes3) -> str:
    """The bytes of dynamic shared memory: the launch's in the text, else two elements a thread."""
    if host.shared_bytes not in (None, "0"):
        return host.shared_bytes
    dynamic = [one.ctype for one in kernel.shared if one.dynamic]
    sizes = [size_of(one.innermost) for one in dynamic if isinstance(one, ArrayOf)]
    if not sizes:
        return "0"
    return " * ".join([str(2 * max(sizes)), *(as_factor(side) for side in block if side != "1")])


def _sized(kernel: Kernel, form: LaunchForm, tile: BlockTile | None) -> tuple[Argument, ...]:
    """The arguments with sizes of two tiles where these are larger than SIZE, at most LARGEST_SIZE.

    The inner size of a product stays small where tiles are large.
    """
    by_tiles = calls(kernel.body, FRAGMENT_FUNCTIONS)
    side = TILE_SIDE if by_tiles else 1
    if tile is not None and not tile.is_linear:
        side = max(_sides(tile).values())
    size = min(LARGEST_SIZE, 2 * side) if side > SIZE else SIZE
    roles = dict(form.roles)
    sizes = {roles[role]: WIDTH if role in KEPT else size for role in TASKS[form.task].sizes}
    inner = roles.get("K", "")
    if side > LARGE_TILE and inner in sizes and inner not in (roles["M"], roles["N"]):
        sizes[inner] = 2 * (TILE_SIDE if by_tiles else SIZE)
    return with_numbers(form.arguments, sizes)


def _in_whole_tiles(form: LaunchForm, tile: BlockTile | None) -> LaunchForm:
    """The form with the next larger sizes that a tile divides: without a guard it asks for them."""
    if tile is None:
        return form
    roles = dict(form.roles)
    sides = {roles.get("M"): tile.rows, roles.get("N"): tile.columns}
    sizes = {
        one.name: -(-int(one.value) // sides[one.name]) * sides[one.name]
        for one in form.numbers
        if one.name in sides and one.value.isdigit()
    }
    return replace(form, arguments=with_numbers(form.arguments, sizes))


def _with_blocks(kernel: Kernel, form: LaunchForm) -> LaunchForm:
    """The form with sizes for which its grid has blocks: M / 64 has none for an M of 32."""
    roles = {value for _, value in form.roles}
    for factor in (1, 2, 4, LARGEST_FACTOR):
        numbers = {
            one.name: factor * int(one.value)
            for one in form.numbers
            if one.name in roles and one.value.isdigit()
        }
        try:
            known = known_values(kernel, form, numbers)
            has_blocks = all(evaluate(size, known) > 0 for size in form.grid)
        except LaunchError:
            return form
        if has_blocks:
            return replace(form, arguments=with_numbers(form.arguments, numbers))
    return form


def _names_sizes(grid: Sizes3, form: LaunchForm) -> bool:
    """Whether a grid follows the sizes: it names one, unless none can be chosen."""
    numbers = {one.name for one in form.numbers}
    free = {value for _, value in form.roles if value in numbers}
    return not free or any(name in size for size in grid for name in free)


def _grid(kernel: Kernel, form: LaunchForm, tile: BlockTile | None) -> Sizes3:
    """As many blocks as cover the result."""
    roles, task = dict(form.roles), TASKS[form.task]
    rows, columns = (substitute(one, roles) for one in task.arrays[task.results[0]])
    if tile is None:
        used = axes_used(kernel, "blockIdx")
        across = rounded_up(columns, form.block[0]) if "x" in used else "1"
        return across, rounded_up(rows, form.block[1]) if "y" in used else "1", "1"
    x, y, _ = rounds(kernel)
    times = {tile.along_y: y, tile.along_x: x}
    names = {along: _named(kernel, form, along, size * times.get(along, 1))
             for along, size in _sides(tile).items()}  # fmt: skip
    if tile.is_linear:
        return rounded_up(f"{rows} * {columns}", names["columns"]), "1", "1"
    blocks = {
        "rows": rounded_up(rows, names["rows"]),
        "columns": rounded_up(columns, names["columns"]),
    }
    across = blocks.get(tile.along_x, "1")
    return across, blocks.get(tile.along_y, "1") if tile.along_y != tile.along_x else "1", "1"


def _sides(tile: BlockTile) -> dict[str, int]:
    return {"rows": tile.rows, "columns": tile.columns}


def _named(kernel: Kernel, form: LaunchForm, along: str, size: int) -> str:
    """A number as the macro that has it: that for this side, a tile or the block; else itself."""
    macros = macro_values(kernel.text)
    words = " ".join(form.block)
    names = [name for name, value in macros.items() if value == size]
    names.sort(
        key=lambda name: (
            along[:3] not in name.lower(),
            "tile" not in name.lower(),
            name not in words,
        )
    )
    return names[0] if names else str(size)


# Found out by running it -------------------------------------------------------------------------


def _discover(kernel: Kernel, host: HostForm, tasks: Sequence[str] = ()) -> Discovery | None:
    blocks = likely_blocks(kernel)[:MOST_BLOCKS] if host.block is None else [host.block]
    shared = [_shared_bytes(kernel, host, block) for block in blocks]
    grid = host.grid
    sizes = {one.name for one in kernel.parameters if is_whole(one.ctype)}
    follows = grid is not None and (
        not sizes or any(word in sizes for size in grid for word in WORD.findall(size))
    )
    return discover(
        kernel, blocks, shared, grid if follows else None, tasks, _allocated(kernel, host)
    )


def _has_values(kernel: Kernel, grid: Sizes3) -> bool:
    """Whether a grid that was read from host code is one of expressions."""
    sizes = [one.name for one in kernel.parameters if is_whole(one.ctype)]
    try:
        known = macro_values(kernel.text) | dict.fromkeys(sizes, MANY_THREADS)
        for size in grid:
            evaluate(size, known)
    except LaunchError:
        return False
    return True


def _allocated(kernel: Kernel, host: HostForm) -> Allocated | None:
    """What the file's host code gives arrays and sizes; None where it does not say that."""
    cells = {name: one.elements for name, one in host.arguments.items() if one.elements}
    sizes = _sizes_passed(kernel, host)
    return Allocated(sizes, cells) if cells and sizes else None


def _sizes_passed(kernel: Kernel, host: HostForm) -> dict[str, int]:
    """The whole numbers that the file's launch passes, by parameter."""
    return {
        one.name: int(value)
        for one in kernel.parameters
        if is_whole(one.ctype) and (value := _passed(one, host)) is not None
    }


def _passed(parameter: Variable, host: HostForm) -> str | None:
    """The number that the file's launch passes for a parameter; None where it is not known."""
    given = host.arguments.get(parameter.name)
    if given is None or given.value is None:
        return None
    return str(int(given.value) if is_whole(parameter.ctype) else given.value)


def form_of(kernel: Kernel, found: Discovery, fit: Fit, shared_bytes: str) -> LaunchForm:
    """The form of a launch that was found out, with a task's shapes, and sizes of two tiles."""
    roles = fit.roles
    if found.is_fixed:  # by numbers, so that no other sizes are tried
        numbers = {name: str(size) for name, size in found.values.items()}
        roles = tuple((role, substitute(what, numbers) if role in fit.task.sizes else what)
                      for role, what in roles)  # fmt: skip
    meant = dict(roles)
    shapes = {
        meant[role]: (substitute(rows, meant), substitute(columns, meant))
        for role, (rows, columns) in fit.task.arrays.items()
    }
    keeps = fit.task.in_place or BETA in meant  # what its result holds before
    results = () if keeps else [meant[role] for role in fit.task.results]
    form = LaunchForm(
        grid=_with_names(kernel, found),
        block=found.block,
        shared_bytes=shared_bytes,
        arguments=with_factors(
            arguments_of(kernel, shapes, found.sizes, results, found.strides), roles
        ),
        task=fit.task.name,
        roles=roles,
    )
    return _with_blocks(kernel, replace(form, arguments=_sized_by_grid(kernel, form, found)))


def _with_names(kernel: Kernel, found: Discovery) -> Sizes3:
    """The grid that was found, with the macros that are its tiles' sides."""
    stub = LaunchForm(found.grid, found.block, "0", ())
    macros = macro_values(kernel.text)

    def named(blocks: str, threads: str) -> str:
        tiled = TILED.fullmatch(blocks)
        if tiled is None:
            return blocks
        tile = int(tiled[2])
        is_block = evaluate(threads, macros) == tile
        return rounded_up(tiled[1], threads if is_block else _named(kernel, stub, "", tile))

    x, y, z = map(named, found.grid, found.block)
    return x, y, z


def _sized_by_grid(kernel: Kernel, form: LaunchForm, found: Discovery) -> tuple[Argument, ...]:
    """The arguments with sizes of two tiles, as the grid follows them.

    What was small stays as it was tried, and so does what is no size of the task.
    """
    meant = {word for role, what in form.roles if role not in KEPT
             for word in WORD.findall(what)}  # fmt: skip
    sizes = list(found.values)
    tiles = tiles_of(kernel, form, {name: name for name in sizes})
    is_line = sum(one != "1" for one in form.block) < 2
    longest = LONGEST_LINE if is_line else LARGEST_SIZE
    if len(sizes) <= MANY_SIZES:  # what a loop takes in turn may have the tiles of the others
        tiles = dict.fromkeys(sizes, max(tiles.values(), default=1))

    threads = math.prod(evaluate(one, macro_values(kernel.text)) for one in form.block)
    is_one_block = all(one == "1" for one in form.grid) and len(sizes) == 1

    def size(name: str) -> int:
        if name not in meant:
            return found.values[name]
        if is_one_block:
            return max(SIZE, threads)
        return max(SIZE, min(longest, 2 * tiles.get(name, 1)))

    return with_numbers(form.arguments, {name: size(name) for name in sizes})


def roomy(kernel: Kernel, form: LaunchForm) -> LaunchForm:
    """A form whose arrays hold what the kernel touches: a guess makes no access out of bounds.

    Where one of a task's arrays is too small for it at the form's own sizes, the task is none.
    """
    try:
        launch = build_launch(kernel, form)
        touches = _touched(kernel, form, launch)
        cells = {name: array.size for name, array in launch.arguments.items() if np.ndim(array)}
        # An access or two beyond an array of a task is the kernel's, and not the guess's.
        beyond = BEYOND if form.task else 1.0
        is_small = any(touches.cells.get(name, 0) > beyond * size for name, size in cells.items())
        if not is_small and not touches.has_faults:
            return form
        if touches.has_faults:  # what is read may be an index
            ones = with_contents(form, Contents.ONES)
            touches = _touched(kernel, ones, build_launch(kernel, ones))
            form = ones
    except (LaunchError, SourceError):
        return form

    def holding(one: ArrayArgument) -> ArrayArgument:
        if touches.cells.get(one.name, 0) <= cells[one.name]:
            return one
        columns = _count_elements(kernel, one.name, touches.cells)
        return replace(one, rows="1", columns=columns, is_seen=True)

    return replace(with_arrays(form, holding), task="", roles=())


def with_places(kernel: Kernel, form: LaunchForm) -> LaunchForm:
    """A form of no task whose arrays hold places where random digits show what may be no hazard.

    An array whose values pick the cells of others gets each number once, or rising ones where its
    values end a loop; or all such arrays get rising ones. The form stays as it is where neither
    makes such hazards go.
    """
    places = find_places(kernel)
    if form.task or not places.accesses:
        return form
    try:
        build_launch(kernel, form)
    except LaunchError:
        return form

    def blamed(one: LaunchForm) -> set[str]:
        """The arrays whose drawn values may cause hazards."""
        try:
            launch = build_launch(kernel, one)
            hazards = simulate(kernel, launch, seconds=HOLDING_SECONDS).hazards
        except (LaunchError, SourceError):
            return set(places.bounds)
        return set().union(*places.sources(one, hazards).values())

    names = blamed(form)
    if not names:
        return form
    every = {name for one in places.accesses for name in one.sources}
    for contents in (
        {name: Contents.RISING if name in places.bounds else Contents.SHUFFLED for name in names},
        dict.fromkeys(every, Contents.RISING),
    ):
        found = _with_contents_of(kernel, form, contents)
        if not blamed(found):
            return found
    return form


def _with_contents_of(
    kernel: Kernel, form: LaunchForm, contents: Mapping[str, Contents]
) -> LaunchForm:
    """A form whose arrays of these names have such contents, and all of them room for that."""
    form = with_arrays(
        form, lambda one: replace(one, contents=contents.get(one.name, one.contents))
    )
    for _ in range(RESIZED):  # an array with more cells holds more places
        form = roomy(kernel, form)
    known = known_values(kernel, form)
    cells = {one.name: evaluate(one.columns, known) for one in form.arrays}
    sizes = {cells[one.name]: one.columns for one in form.arrays
             if one.name in contents and not one.is_seen}  # fmt: skip
    return with_arrays(
        form,
        lambda one: (
            replace(one, columns=sizes[cells[one.name]], is_seen=False)
            if one.is_seen and cells[one.name] in sizes
            else one
        ),
    )


def _touched(kernel: Kernel, form: LaunchForm, launch: Launch) -> Touches:
    """What a form's launch touches of arrays that have room after what they hold."""
    experiment = Experiment(
        kernel, form.block, form.shared_bytes, Contents.RANDOM, given=launch.arguments
    )
    return experiment.run({}, launch.grid).touches


def _count_elements(kernel: Kernel, name: str, cells: Mapping[str, int]) -> str:
    """The elements of an array that holds what is touched."""
    ctype = next(one.ctype for one in kernel.parameters if one.name == name)
    assert isinstance(ctype, Pointer)
    return in_vectors(ctype, str(cells[name]))


# Without a task ----------------------------------------------------------------------------------


def _without_task(kernel: Kernel, host: HostForm, found: Discovery | None = None) -> LaunchForm:
    """A form for a kernel whose task is not known.

    It has what was found out, else the text's launch, else a cell a thread.
    """
    if found is not None:
        return _of_discovery(kernel, host, found)
    block = host.block or likely_blocks(kernel)[0]
    grid = host.grid
    if grid is None:
        x, y = ("2" if axis in axes_used(kernel, "blockIdx") else "1" for axis in "xy")
        grid = (x, y, "1")
    known = macro_values(kernel.text)
    try:
        threads = max(1, math.prod(evaluate(size, known) for size in (*grid, *block)))
    except LaunchError:  # the grid names a size, which is known when the arguments are
        threads = SIDE * SIDE * 4
    form = LaunchForm(
        grid=grid,
        block=block,
        shared_bytes=_shared_bytes(kernel, host, block),
        arguments=tuple(_argument(kernel, number, host, str(threads)) for number in
                        range(len(kernel.parameters))),
    )  # fmt: skip
    return _made_smaller(kernel, form)


def _of_discovery(kernel: Kernel, host: HostForm, found: Discovery) -> LaunchForm:
    """A form whose arrays are as large as what is touched; of the sizes that were tried."""
    # What was touched at the sizes that were tried is no array of others.
    passed = {} if found.seen else _sizes_passed(kernel, host)
    given = {name: size for name, size in passed.items() if name in found.values}
    form = _with_values(kernel, host, found, {**found.values, **given})
    if not _is_large(kernel, form):
        return form
    used = {word for one in (*form.grid, *found.cells.values()) for word in WORD.findall(one)}
    small = {name: size for name, size in found.values.items() if name in used}
    return _with_values(kernel, host, found, {**found.values, **given, **small})


def _with_values(
    kernel: Kernel, host: HostForm, found: Discovery, values: Mapping[str, int]
) -> LaunchForm:
    return LaunchForm(
        grid=_with_names(kernel, found),
        block=found.block,
        shared_bytes=_shared_bytes(kernel, host, found.block),
        arguments=tuple(
            ArrayArgument(one.name, "1", in_vectors(one.ctype, found.cells.get(one.name) or "1"),
                          Contents.ZEROS if one.name in atomic_parameters(kernel)
                          else Contents.RANDOM, one.name in found.seen)
            if isinstance(one.ctype, Pointer)
            else NumberArgument(
                one.name, found.strides.get(one.name) or _number(kernel, one, host, values)
            )
            for one in kernel.parameters
        ),
    )  # fmt: skip


def _number(kernel: Kernel, one: Variable, host: HostForm, values: Mapping[str, int]) -> str:
    if one.name in byte_pitches(kernel):
        return str(PITCH)
    if one.name in values:
        return str(values[one.name])
    return _passed(one, host) or "1"


def _argument(kernel: Kernel, number: int, host: HostForm, threads: str) -> Argument:
    """What a parameter is given: what the text's launch gives it, else as many as the threads."""
    parameter = kernel.parameters[number]
    given = host.arguments.get(parameter.name)
    if not isinstance(parameter.ctype, Pointer):
        value = _passed(parameter, host)
        if value is None:
            is_one = sum(is_whole(one.ctype) for one in kernel.parameters) == 1
            is_line = is_one and not axes_used(kernel, "threadIdx") & {"y", "z"}
            size = threads if is_line else str(_side_of(kernel, int(threads)))
            value = size if is_whole(parameter.ctype) else "1"
        return NumberArgument(parameter.name, value)
    if isinstance(parameter.ctype.target, Pointer):
        side = str(max(SIZE, _side_of(kernel, int(threads))))
        return ArrayArgument(parameter.name, side, side)
    is_atomic = parameter.name in atomic_parameters(kernel)
    contents = Contents.ZEROS if is_atomic else Contents.RANDOM
    if given is not None and given.elements:
        columns = _in_sizes(kernel, host, given.elements)
        return ArrayArgument(parameter.name, "1", columns, contents)
    if isinstance(parameter.ctype.target, ArrayOf):
        inner = math.prod(parameter.ctype.target.shape)
        return ArrayArgument(parameter.name, str(-(-int(threads) // max(1, inner))), str(inner))
    return ArrayArgument(parameter.name, "1", threads, contents)


def _side_of(kernel: Kernel, cells: int) -> int:
    """Rows and columns of a square of about so many cells; of whole tiles where warps need them."""
    unit = TILE_SIDE if calls(kernel.body, FRAGMENT_FUNCTIONS) else 1
    return max(unit, math.isqrt(cells) // unit * unit)


def _in_sizes(kernel: Kernel, host: HostForm, elements: int) -> str:
    """A number of elements as the size, or the product of two, that the launch passes too."""
    sizes = _sizes_passed(kernel, host)
    for name, value in sizes.items():
        if value == elements:
            return name
    for first, left in sizes.items():
        for second, right in sizes.items():
            if left * right == elements:
                return f"{first} * {second}"
    return str(elements)


def _made_smaller(kernel: Kernel, form: LaunchForm) -> LaunchForm:
    """The form with smaller sizes, where a launch of many threads follows from its sizes."""
    used = " ".join((*form.grid, *(one.columns for one in form.arrays))).split()
    sizes = [one.name for one in form.numbers if one.name in used]
    if not sizes or not _is_large(kernel, form):
        return form
    size = SMALLER[min(len(sizes), len(SMALLER)) - 1]
    return replace(form, arguments=with_numbers(form.arguments, dict.fromkeys(sizes, size)))


def _is_large(kernel: Kernel, form: LaunchForm) -> bool:
    """Whether a form's launch has many threads, or is refused."""
    try:
        launch = build_launch(kernel, form)
    except LaunchError:
        return True
    return launch.blocks * launch.threads > MANY_THREADS
