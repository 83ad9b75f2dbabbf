"""The form of a kernel that nobody has filled in: from its parameters and the file's launch."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import replace

from simulator.language.ctype import ArrayOf, Pointer, size_of
from simulator.language.errors import LaunchError
from simulator.language.functions import FRAGMENT_FUNCTIONS
from simulator.language.tree import Kernel
from simulator.language.visit import calls
from simulator.size_expression import evaluate
from simulator.verdict.blocks import SIDE, likely_blocks
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, Sizes3
from simulator.verdict.host_form import HostForm, host_form
from simulator.verdict.launches import build_launch, check_names, known_values, macro_values
from simulator.verdict.parameters import (
    SIZE,
    Argument,
    Shape,
    atomic_parameters,
    axes_used,
    is_whole,
    other_products,
    recognise,
    with_task,
)
from simulator.verdict.probe import BlockTile, Probe
from simulator.verdict.sizes import TILE_SIDE
from simulator.verdict.tasks import TASKS

LARGEST_SIZE = 64  # that a guess gives a matrix
LARGEST_FACTOR = 8  # by which a guess's sizes are made larger
LARGE_TILE = 32  # above it a block takes so long that its sums get few terms
MANY_THREADS = 2**16  # of a launch in the text: with more of them its sizes are made smaller
SMALLER = (1000, 40, 10)  # the sizes that it then has, by how many they are
LIKELIEST = 1  # blocks that are tried with each shape before others are
PROBING_SECONDS = 3.0  # of a processor, for all blocks that are tried


def guess_form(
    text: str, kernel: Kernel, task: str | None = None, block: Sizes3 | None = None
) -> LaunchForm:
    """A form that launches a kernel of a file as it seems to be meant.

    task and block are what it should compute ("" for anything) and the threads of a block, where
    they are known. Single blocks of the kernel run for that, for a few seconds at most. Raises
    LaunchError for parameters without names, and for a task that they do not fit.
    """
    check_names(kernel)
    host = host_form(text, kernel)
    if block is not None:
        host = replace(host or HostForm(None, None, None, {}), block=block)
    shape = recognise(kernel)
    if task and (shape is None or shape.task != task):
        shape = with_task(kernel, task)
    if shape is None:
        return _without_task(kernel, host)
    shapes = (shape,) if task is not None else (shape, *other_products(kernel, shape))
    form, tile = _right_form(kernel, host, shapes)
    form = replace(form, arguments=_sized(kernel, form, tile))
    follows = host is not None and host.grid is not None and _names_sizes(host.grid, form)
    grid = host.grid if follows and host is not None else None
    form = replace(form, grid=grid or _grid(kernel, form, tile))
    form = _with_blocks(kernel, form)
    return form if task != "" else replace(form, task="", roles=())


def _right_form(
    kernel: Kernel, host: HostForm | None, shapes: Sequence[Shape]
) -> tuple[LaunchForm, BlockTile | None]:
    """The likeliest block and shape that compute what they should, and what the block stores.

    Without any, the likeliest of all. The grid is not known yet.
    """
    given = host.block if host is not None else None
    blocks = likely_blocks(kernel) if given is None else [given]
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
            if given is not None or tile is None or not tile.has_gaps:
                return form, tile
        if time.process_time() > end:
            break
    return first, Probe(kernel, first).tile()


def _shared_bytes(kernel: Kernel, host: HostForm | None, block: Sizes3) -> str:
    """The bytes of dynamic shared memory: the launch's in the text, else two elements a thread."""
    if host is not None and host.shared_bytes not in (None, "0"):
        return host.shared_bytes or "0"
    dynamic = [one.ctype for one in kernel.shared if one.dynamic]
    sizes = [size_of(one.innermost) for one in dynamic if isinstance(one, ArrayOf)]
    if not sizes:
        return "0"
    return " * ".join([str(2 * max(sizes)), *(_factor(side) for side in block if side != "1")])


def _factor(size: str) -> str:
    return size if size.isidentifier() or size.isdigit() else f"({size})"


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
    sizes = {roles[role]: size for role in TASKS[form.task].sizes}
    inner = roles.get("K", "")
    if side > LARGE_TILE and inner in sizes and inner not in (roles["M"], roles["N"]):
        sizes[inner] = 2 * (TILE_SIDE if by_tiles else SIZE)
    return tuple(
        replace(one, value=str(sizes[one.name]))
        if isinstance(one, NumberArgument) and one.name in sizes
        else one
        for one in form.arguments
    )


def _with_blocks(kernel: Kernel, form: LaunchForm) -> LaunchForm:
    """The form with sizes for which its grid has blocks: M / 64 has none for an M of 32."""
    roles = {value for _, value in form.roles}
    for factor in (1, 2, 4, LARGEST_FACTOR):
        numbers = {
            one.name: factor * int(one.value)
            for one in form.arguments
            if isinstance(one, NumberArgument) and one.name in roles and one.value.isdigit()
        }
        try:
            known = known_values(kernel, form, numbers)
            has_blocks = all(evaluate(size, known) > 0 for size in form.grid)
        except LaunchError:
            return form
        if has_blocks:
            arguments = tuple(
                replace(one, value=str(numbers[one.name]))
                if isinstance(one, NumberArgument) and one.name in numbers
                else one
                for one in form.arguments
            )
            return replace(form, arguments=arguments)
    return form


def _names_sizes(grid: Sizes3, form: LaunchForm) -> bool:
    """Whether a grid follows the sizes: it names one, unless none can be chosen."""
    numbers = {one.name for one in form.arguments if isinstance(one, NumberArgument)}
    free = {value for _, value in form.roles if value in numbers}
    return not free or any(name in size for size in grid for name in free)


def _grid(kernel: Kernel, form: LaunchForm, tile: BlockTile | None) -> Sizes3:
    """As many blocks as cover the result."""
    roles, task = dict(form.roles), TASKS[form.task]
    rows, columns = (roles.get(one, one) for one in task.arrays[task.results[0]])
    if tile is None:
        used = axes_used(kernel, "blockIdx")
        across = _ceil(columns, form.block[0]) if "x" in used else "1"
        return across, _ceil(rows, form.block[1]) if "y" in used else "1", "1"
    names = {along: _named(kernel, form, along, size) for along, size in _sides(tile).items()}
    if tile.is_linear:
        return _ceil(f"{rows} * {columns}", names["columns"]), "1", "1"
    blocks = {"rows": _ceil(rows, names["rows"]), "columns": _ceil(columns, names["columns"])}
    x = blocks.get(tile.along_x, "1")
    return x, blocks.get(tile.along_y, "1") if tile.along_y != tile.along_x else "1", "1"


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


def _ceil(size: str, tile: str) -> str:
    return size if tile == "1" else f"({size} + {tile} - 1) / {_factor(tile)}"


# Without a task ----------------------------------------------------------------------------------


def _without_task(kernel: Kernel, host: HostForm | None) -> LaunchForm:
    """A form for a kernel of which nothing is known: the text's launch, or a cell a thread."""
    block = host.block if host is not None and host.block is not None else None
    block = block or likely_blocks(kernel)[0]
    grid = host.grid if host is not None and host.grid is not None else None
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


def _argument(kernel: Kernel, number: int, host: HostForm | None, threads: str) -> Argument:
    """What a parameter is given: what the text's launch gives it, else as many as the threads."""
    parameter = kernel.parameters[number]
    given = host.arguments.get(parameter.name) if host is not None else None
    if not isinstance(parameter.ctype, Pointer):
        whole = is_whole(parameter.ctype)
        value = given.value if given is not None else None
        if value is None:
            is_one = sum(is_whole(one.ctype) for one in kernel.parameters) == 1
            is_line = is_one and not axes_used(kernel, "threadIdx") & {"y", "z"}
            size = threads if is_line else str(_side_of(kernel, int(threads)))
            return NumberArgument(parameter.name, size if whole else "1")
        return NumberArgument(parameter.name, str(int(value) if whole else value))
    if isinstance(parameter.ctype.target, Pointer):
        return ArrayArgument(parameter.name, str(SIZE), str(SIZE))
    is_atomic = parameter.name in atomic_parameters(kernel)
    contents = Contents.ZEROS if is_atomic else Contents.RANDOM
    elements = given.elements if given is not None and given.elements else None
    if elements is not None:
        columns = _in_sizes(kernel, host, elements)
        return ArrayArgument(parameter.name, "1", columns, contents)
    if isinstance(parameter.ctype.target, ArrayOf):
        inner = math.prod(parameter.ctype.target.shape)
        return ArrayArgument(parameter.name, str(-(-int(threads) // max(1, inner))), str(inner))
    return ArrayArgument(parameter.name, "1", threads, contents)


def _side_of(kernel: Kernel, cells: int) -> int:
    """Rows and columns of a square of about so many cells; of whole tiles where warps need them."""
    unit = TILE_SIDE if calls(kernel.body, FRAGMENT_FUNCTIONS) else 1
    return max(unit, math.isqrt(cells) // unit * unit)


def _in_sizes(kernel: Kernel, host: HostForm | None, elements: int) -> str:
    """A number of elements as the size, or the product of two, that the launch passes too."""
    sizes = {
        one.name: int(given.value)
        for one in kernel.parameters
        if is_whole(one.ctype) and host is not None
        for given in [host.arguments.get(one.name)]
        if given is not None and given.value is not None
    }
    for name, value in sizes.items():
        if value == elements:
            return name
    for first, left in sizes.items():
        for second, right in sizes.items():
            if left * right == elements and left > 1 and right > 1:
                return f"{first} * {second}"
    return str(elements)


def _made_smaller(kernel: Kernel, form: LaunchForm) -> LaunchForm:
    """The form with smaller sizes, where a launch of many threads follows from its sizes."""
    used = " ".join((*form.grid, *(one.columns for one in form.arguments
                                   if isinstance(one, ArrayArgument))))  # fmt: skip
    sizes = [one.name for one in form.arguments
             if isinstance(one, NumberArgument) and one.name in used.split()]  # fmt: skip
    try:
        launch = build_launch(kernel, form)
    except LaunchError:
        too_many = True
    else:
        too_many = launch.blocks * launch.threads > MANY_THREADS
    if not sizes or not too_many:
        return form
    size = str(SMALLER[min(len(sizes), len(SMALLER)) - 1])
    arguments = tuple(
        replace(one, value=size) if isinstance(one, NumberArgument) and one.name in sizes else one
        for one in form.arguments
    )
    return replace(form, arguments=arguments)
