"""The form of a kernel that nobody has filled in: from its parameters and the file's launch."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from simulator.frontend.host_launches import HostArgument, HostLaunch, find_launches
from simulator.language.ctype import ArrayOf, CType, Pointer, Scalar, Vector
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Builtin, Kernel, Variable
from simulator.language.visit import expressions_of, subexpressions, walk
from simulator.launch import MAX_BLOCK, MAX_THREADS, Dim3
from simulator.observers.written_parameters import written_parameters
from simulator.verdict.form import ArrayArgument, LaunchForm, NumberArgument, Sizes3
from simulator.verdict.launches import build_launch, macro_values
from simulator.verdict.probe import GRID, BlockTile, block_tile

SIZE = 8  # of a matrix, where nothing says more
LARGEST_SIZE = 64  # that a guess gives a matrix
SIDE = 16  # threads of a block in x and in y, where nothing says more
THREADS = 256  # threads of a block in x alone, likewise
# The names that M, N and K of a product have, in that order.
PRODUCT_SIZES = (
    ("m", "n", "k"),
    ("height", "width", "depth"),
    ("rows", "cols", "inner"),
    ("rows", "columns", "inner"),
)
SQUARE_NAMES = frozenset({"n", "width", "size", "dim", "m", "k", "matrixsize", "w"})
ONE, ZERO = "1", "0"


def guess_form(text: str, kernel: Kernel) -> LaunchForm:
    """A form that launches a kernel of a file so that it computes something, as far as it is known.

    Blocks of the kernel run for that, for at most a few seconds. Never raises for what the text is.
    """
    launch = _launch_in(text, kernel)
    shape = _product(kernel) or _transposition(kernel) or _anything(kernel, launch)
    block = _block(kernel, launch)
    shape = _at_sizes(kernel, shape, block)
    form = LaunchForm(
        grid=(ONE, ONE, ONE),
        block=block,
        shared_bytes=str(launch.shared or 0) if launch is not None else ZERO,
        arguments=shape.arguments,
        task=shape.task,
        roles=shape.roles,
    )
    return replace(form, grid=_grid(kernel, form, launch))


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a launch is given, and what it is to compute."""

    arguments: tuple[ArrayArgument | NumberArgument, ...]
    task: str = ""
    roles: tuple[tuple[str, str], ...] = ()

    def role(self, name: str) -> str:
        """What a role is here."""
        return dict(self.roles)[name]


# Parameters ----------------------------------------------------------------------------------


def _pointers(kernel: Kernel) -> list[Variable]:
    return [one for one in kernel.parameters if isinstance(one.ctype, Pointer)]


def _whole(kernel: Kernel) -> list[Variable]:
    """The parameters of whole types that may be sizes."""
    found = [one for one in kernel.parameters if isinstance(one.ctype, Scalar)]
    return [one for one in found if _is_whole(one.ctype) and one.ctype.size >= 2]


def _is_whole(ctype: CType) -> bool:
    return isinstance(ctype, Scalar) and ctype.dtype.kind in "iu"


def _number_type(variable: Variable) -> Scalar | None:
    """The type of the numbers that a pointer's array holds; None for structs and pointers."""
    target = variable.ctype.target if isinstance(variable.ctype, Pointer) else variable.ctype
    target = target.element if isinstance(target, Vector) else target
    return target if isinstance(target, Scalar) else None


def _inputs_and_result(kernel: Kernel, inputs: int) -> list[Variable] | None:
    """The arrays that are read, in order, and behind them the one that is written; else None."""
    pointers = _pointers(kernel)
    written = written_parameters(kernel)
    results = [one for one in pointers if one.name in written]
    if len(results) != 1:  # a pointer was copied, or nothing is stored: by custom it is the last
        results = pointers[-1:]
    read = [one for one in pointers if one not in results]
    types = {_number_type(one) for one in read}
    if len(results) != 1 or len(read) != inputs or len(types) != 1 or None in types:
        return None
    return [*read, *results] if _number_type(results[0]) is not None else None


def _product(kernel: Kernel) -> _Shape | None:
    """The arguments of a matrix product, if the kernel's parameters are one's."""
    arrays = _inputs_and_result(kernel, 2)
    names = [one.name for one in _whole(kernel)]
    sizes = None if arrays is None else _product_sizes(names, macro_values(kernel.text))
    if arrays is None or sizes is None:
        return None
    M, N, K = sizes
    A, B, C = (one.name for one in arrays)
    shapes = {A: (M, K), B: (K, N), C: (M, N)}
    return _Shape(
        _arguments(kernel, shapes, (M, N, K)),
        "product",
        (("A", A), ("B", B), ("C", C), ("M", M), ("N", N), ("K", K)),
    )


def _product_sizes(names: list[str], macros: Mapping[str, int]) -> tuple[str, str, str] | None:
    """What M, N and K are, of the whole parameters' names and the macros; None if nothing is."""
    folded = {name.rsplit(".")[-1].lower(): name for name in names}
    for triple in PRODUCT_SIZES:
        if names and all(one in folded for one in triple):
            M, N, K = (folded[one] for one in triple)
            return M, N, K
    if len(names) == 1:
        return names[0], names[0], names[0]
    if len(names) == 3:
        return names[0], names[1], names[2]
    if len(names) == 2:
        macro = next((one for one in ("K", "N", "M", "k") if one in macros), None)
        first, second = names
        if macro is not None:
            by_macro = {"K": (first, second, macro), "k": (first, second, macro),
                        "N": (first, macro, second), "M": (macro, first, second)}  # fmt: skip
            return by_macro[macro]
        return first, second, second
    if not names:
        found = {name.lower(): name for name in macros}
        if all(one in found for one in ("m", "n", "k")):
            return found["m"], found["n"], found["k"]
        square = next((found[one] for one in ("n", "width", "size") if one in found), None)
        return (square, square, square) if square is not None else None
    return None


def _transposition(kernel: Kernel) -> _Shape | None:
    """The arguments of a transposition, if the kernel's name and parameters are one's."""
    arrays = _inputs_and_result(kernel, 1)
    sizes = [one.name for one in _whole(kernel)]
    if arrays is None or not sizes or len(sizes) > 2 or "transpos" not in kernel.name.lower():
        return None
    folded = {name.lower(): name for name in sizes}
    rows, columns = sizes[0], sizes[-1]
    for first, second in (("height", "width"), ("rows", "cols"), ("rows", "columns"), ("m", "n")):
        if first in folded and second in folded:
            rows, columns = folded[first], folded[second]
    A, B = (one.name for one in arrays)
    return _Shape(
        _arguments(kernel, {A: (rows, columns), B: (columns, rows)}, (rows, columns)),
        "transpose",
        (("A", A), ("B", B), ("M", rows), ("N", columns)),
    )


def _arguments(
    kernel: Kernel, shapes: Mapping[str, tuple[str, str]], sizes: tuple[str, ...]
) -> tuple[ArrayArgument | NumberArgument, ...]:
    """Arrays of some shapes, sizes of SIZE, and for other numbers what leaves the rest alone."""
    found: list[ArrayArgument | NumberArgument] = []
    for parameter in kernel.parameters:
        name = parameter.name
        if name in shapes:
            rows, columns = shapes[name]
            target = parameter.ctype.target if isinstance(parameter.ctype, Pointer) else None
            if isinstance(target, Vector) and target.length > 1:
                columns = f"({columns} + {target.length - 1}) / {target.length}"
            found.append(ArrayArgument(name, rows, columns))
        elif name in sizes:
            found.append(NumberArgument(name, str(SIZE)))
        else:
            found.append(NumberArgument(name, ZERO if name.lower() == "beta" else ONE))
    return tuple(found)


def _anything(kernel: Kernel, launch: HostLaunch | None) -> _Shape:
    """Arguments for a kernel of which nothing is known: arrays of one element a thread."""
    given = _host_arguments(kernel, launch)
    threads = f"{SIDE * SIDE * 4}" if _axes(kernel) & {"y", "z"} else f"{THREADS * 2}"
    if launch is not None and launch.grid is not None and launch.block is not None:
        threads = str(math.prod(launch.grid) * math.prod(launch.block))
    found: list[ArrayArgument | NumberArgument] = []
    for parameter in kernel.parameters:
        name = parameter.name
        host = given.get(name)
        if isinstance(parameter.ctype, Pointer):
            elements = str(host.elements) if host is not None and host.elements else threads
            rows, columns = ONE, elements
            target = parameter.ctype.target
            if isinstance(target, Pointer):
                rows, columns = str(SIZE), str(SIZE)
            elif isinstance(target, ArrayOf):
                columns = str(math.prod(target.shape))
                rows = str(-(-int(elements) // max(1, int(columns))))
            found.append(ArrayArgument(name, rows, columns))
        else:
            value = host.value if host is not None else None
            whole = _is_whole(parameter.ctype)
            text = str(value) if value is not None else threads if whole else ONE
            if whole and value is not None:
                text = str(int(value))
            found.append(NumberArgument(name, text))
    return _Shape(tuple(found))


# The text's own launch ---------------------------------------------------------------------------


def _launch_in(text: str, kernel: Kernel) -> HostLaunch | None:
    """The first launch of the kernel in the text's host code."""
    return next((one for one in find_launches(text) if one.kernel == kernel.name), None)


def _host_arguments(kernel: Kernel, launch: HostLaunch | None) -> dict[str, HostArgument]:
    """What a launch in the text passes, by parameter; without the members of structs."""
    if launch is None:
        return {}
    parameters = iter(kernel.parameters)
    found: dict[str, HostArgument] = {}
    for count, given in zip(kernel.counts, launch.arguments, strict=False):
        taken = [next(parameters, None) for _ in range(count)]
        if count == 1 and taken[0] is not None:
            found[taken[0].name] = given
    return found


# Grid and block ----------------------------------------------------------------------------------


def _axes(kernel: Kernel) -> set[str]:
    """The axes of threadIdx that a kernel uses."""
    return {
        expression.axis
        for statement in walk(kernel.body)
        for root in expressions_of(statement)
        for expression in subexpressions(root)
        if isinstance(expression, Builtin) and expression.name == "threadIdx"
    }


def _block(kernel: Kernel, launch: HostLaunch | None) -> Sizes3:
    """The threads of a block."""
    if launch is not None and launch.block is not None:
        return _texts(launch.block)
    return next(_blocks(kernel))


def _blocks(kernel: Kernel) -> Iterator[Sizes3]:
    """What a block may be, likeliest first."""
    axes, macros = _axes(kernel), macro_values(kernel.text)
    bounds = _launch_bounds(kernel, macros)
    if bounds is not None:
        side = math.isqrt(bounds)
        if "y" not in axes:
            yield str(bounds), ONE, ONE
        elif side * side == bounds:
            yield str(side), str(side), ONE
    if "y" in axes:
        for tile in _tile_sides(kernel, macros):
            yield tile, tile, ONE
        yield str(SIDE), str(SIDE), ONE
    else:
        yield str(THREADS), ONE, ONE


def _launch_bounds(kernel: Kernel, macros: Mapping[str, int]) -> int | None:
    """The threads that the kernel's __launch_bounds__ names."""
    head = re.search(
        rf"__launch_bounds__\s*\(\s*(\w+)\s*[,)][^;{{}}]*\b{re.escape(kernel.name)}\s*\(",
        kernel.text,
    )
    if head is None:
        return None
    value = int(head[1]) if head[1].isdigit() else macros.get(head[1], 0)
    return value if 0 < value <= MAX_THREADS else None


def _tile_sides(kernel: Kernel, macros: Mapping[str, int]) -> Iterator[str]:
    """Macros, or numbers, that are both sides of a shared array and fit a block."""
    for array in kernel.shared:
        shape = array.ctype.shape if isinstance(array.ctype, ArrayOf) else ()
        for side in shape[:1]:
            if 1 < side <= min(MAX_BLOCK) and side * side <= MAX_THREADS:
                names = [name for name, value in macros.items() if value == side]
                yield names[0] if names else str(side)
    for name, value in macros.items():
        if re.search(r"tile|block", name, re.IGNORECASE) and 1 < value * value <= MAX_THREADS:
            yield name


def _at_sizes(kernel: Kernel, shape: _Shape, block: Sizes3) -> _Shape:
    """The shape with sizes of twice the block's side where that is larger than SIZE."""
    if not shape.task:
        return shape
    known = macro_values(kernel.text)
    sides = [known.get(side, int(side) if side.isdigit() else 1) for side in block[:2]]
    side = max(sides) if min(sides) > 1 else SIZE
    size = SIZE if side <= SIZE else min(LARGEST_SIZE, 2 * side)
    names = {value for _, value in shape.roles}
    arguments = tuple(
        replace(one, value=str(size))
        if isinstance(one, NumberArgument) and one.name in names
        else one
        for one in shape.arguments
    )
    return replace(shape, arguments=arguments)


def _grid(kernel: Kernel, form: LaunchForm, launch: HostLaunch | None) -> Sizes3:
    """The blocks of the grid."""
    known = dict(form.roles)
    if not form.task:
        if launch is not None and launch.grid is not None:
            return _texts(launch.grid)
        return _grid_of_threads(kernel, form)
    result = "C" if form.task == "product" else "B"
    rows, columns = known["M"], known["N"]
    if form.task == "transpose":
        rows, columns = columns, rows
    tile = _probed(kernel, form, known[result], columns)
    if tile is None:
        return _ceil(columns, form.block[0]), _ceil(rows, form.block[1]), ONE
    names = _named_sides(kernel, form, tile)
    if tile.is_linear:
        return _ceil(f"{rows} * {columns}", names["columns"]), ONE, ONE
    sizes = {"rows": _ceil(rows, names["rows"]), "columns": _ceil(columns, names["columns"])}
    x = sizes.get(tile.along_x, ONE)
    y = sizes.get(tile.along_y, ONE) if tile.along_y != tile.along_x else ONE
    return x, y, ONE


def _named_sides(kernel: Kernel, form: LaunchForm, tile: BlockTile) -> dict[str, str]:
    """The rows and columns of a tile, as one of the block's sides where that is a macro's name."""
    macros = macro_values(kernel.text)
    found = {"rows": str(tile.rows), "columns": str(tile.columns)}
    for along, size in (("rows", tile.rows), ("columns", tile.columns)):
        for side in form.block[:2]:
            if macros.get(side) == size:
                found[along] = side
    return found


def _probed(kernel: Kernel, form: LaunchForm, result: str, columns: str) -> BlockTile | None:
    """What a block stores of the result."""
    names = [
        one.name
        for one in form.arguments
        if isinstance(one, NumberArgument) and one.name in {value for _, value in form.roles}
    ]
    macros = macro_values(kernel.text)
    wide = replace(form, grid=(str(GRID), str(GRID), ONE))
    inner = dict(form.roles).get("K", "")
    free = inner in names and inner not in (dict(form.roles)["M"], dict(form.roles)["N"])

    def numbers(size: int) -> dict[str, int]:
        return {name: (SIZE if free and name == inner else size) for name in names}

    return block_tile(
        kernel,
        result,
        lambda size: build_launch(kernel, wide, numbers(size)),
        lambda size: numbers(size).get(columns, macros.get(columns, 1)),
    )


def _grid_of_threads(kernel: Kernel, form: LaunchForm) -> Sizes3:
    """Blocks for a kernel without a task: as many as the arrays have elements for."""
    try:
        launch = build_launch(kernel, form)
    except (LaunchError, SourceError):
        return ONE, ONE, ONE
    cells = max((getattr(one, "size", 1) for one in launch.arguments.values()), default=1)
    blocks = max(1, -(-cells // max(1, launch.threads)))
    side = math.isqrt(blocks)
    if "y" in _axes(kernel) and side * side == blocks:
        return str(side), str(side), ONE
    return str(blocks), ONE, ONE


def _ceil(size: str, tile: str) -> str:
    return size if tile == ONE else f"({size} + {tile} - 1) / {tile}"


def _texts(sizes: Dim3) -> Sizes3:
    x, y, z = map(str, sizes)
    return x, y, z
