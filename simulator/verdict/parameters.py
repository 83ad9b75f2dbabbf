"""What a kernel's parameters say about it: a matrix product, a transposition, or something else."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from simulator.language import tree
from simulator.language.ctype import CType, Pointer, Scalar, Vector, size_of
from simulator.language.errors import LaunchError, list_names
from simulator.language.fragments import Use, parse_fragment
from simulator.language.functions import ATOMIC_FUNCTIONS, FRAGMENT_FUNCTIONS
from simulator.language.visit import (
    calls,
    calls_of,
    expressions_within,
    in_register,
    strip_casts,
    subexpressions,
    walk,
)
from simulator.observers.written_parameters import root_variable, written_parameters
from simulator.size_expression import substitute
from simulator.verdict.form import ArrayArgument, Contents, NumberArgument, with_numbers
from simulator.verdict.launches import macro_values
from simulator.verdict.strides import ROW, find_flags, find_strides
from simulator.verdict.tasks import (
    ALPHA,
    BETA,
    FACTOR,
    PRODUCT,
    PRODUCT_BY_COLUMNS,
    START,
    TASKS,
    Task,
)

SIZE = 8  # of a matrix, where nothing says more
# The names that M, N and K of a product have, in that order.
PRODUCT_SIZES = (
    ("m", "n", "k"),
    ("height", "width", "depth"),
    ("height", "width", "inner"),
    ("rows", "cols", "inner"),
    ("rows", "columns", "inner"),
)
TRANSPOSED_SIZES = (("height", "width"), ("rows", "cols"), ("rows", "columns"), ("m", "n"))
PRODUCT_NAME = re.compile(r"mat_?(rix)?_?mul|matmul|gemm|mm|tile|product", re.IGNORECASE)
OTHER_NAME = re.compile(
    r"add|axpy|dot|conv|stencil|reduce|scan|hist|vec|gemv|mv\b|blur|filter|sum|jacobi|laplac|heat|"
    r"n_?body|force|dist|norm|softmax|pool",
    re.IGNORECASE,
)

# The values of factors: with 1 or 0 it would not show if one is missing.
FACTORS = {ALPHA: "2", BETA: "3", FACTOR: "2"}

PITCH_NAME = re.compile(r"pitch|stride|bytes|step", re.IGNORECASE)
BARE_NAME = re.compile(r"^(?:d|dev|h)_|_(?:d|dev|h)$")  # what is around the name of A
# The distance between rows, or columns, of A, B, C and D: lda, stride_b, pitchC.
LEADING = re.compile(r"(?:ld|stride|pitch)_?([abcd])|([abcd])_?(?:ld|stride|pitch)", re.IGNORECASE)
# A side of A, B or C: numARows, a_cols, hA, widthB.
_SIDE = r"(?P<side>h(?:eight)?|w(?:idth)?|rows?|cols?|columns?)"
SIDES = (
    re.compile(rf"(?:num_?)?(?P<matrix>[abc])_?{_SIDE}", re.IGNORECASE),
    re.compile(rf"(?:num_?)?{_SIDE}_?(?P<matrix>[abc])", re.IGNORECASE),
)
SIDE_ROLES = {  # of a matrix and whether it is its height
    ("A", True): "M", ("C", True): "M", ("B", False): "N", ("C", False): "N",
    ("A", False): "K", ("B", True): "K",
}  # fmt: skip

Argument = ArrayArgument | NumberArgument


@dataclass(frozen=True, slots=True)
class Shape:
    """What a launch is given, and what it is to compute."""

    arguments: tuple[Argument, ...]
    task: str = ""
    roles: tuple[tuple[str, str], ...] = ()


def recognise(kernel: tree.Kernel) -> Shape | None:
    """The task that a kernel's parameters and name tell, with sizes of SIZE; None for none."""
    return _product_of_structs(kernel) or _product(kernel) or _transposition(kernel)


def with_task(kernel: tree.Kernel, name: str) -> Shape:
    """The arguments for a task that is given: arrays and sizes in the order of the parameters.

    A size whose name is its role's comes first. Raises LaunchError where they are too few.
    """
    if name not in TASKS:
        raise LaunchError(f"{name!r} is not a task; the tasks are {list_names(list(TASKS))}.")
    task = TASKS[name]
    arrays, sizes = _arrays(kernel, len(task.arrays) - 1), _sizes(kernel)
    if arrays is None or not sizes:
        raise LaunchError(
            f"For {task.title} a kernel needs {len(task.arrays)} pointers to numbers, one of which "
            "it writes, and the sizes as whole numbers."
        )
    folded = {one.lower(): one for one in sizes}
    named = {role: folded[role.lower()] for role in task.sizes if role.lower() in folded}
    others = iter([one for one in sizes if one not in named.values()])
    meant = {role: named.get(role) or next(others, sizes[-1]) for role in task.sizes}
    inputs = [role for role in task.arrays if role not in task.results]
    by_role = dict(zip((*inputs, *task.results), arrays, strict=True))
    shapes = {
        by_role[role]: (substitute(rows, meant), substitute(columns, meant))
        for role, (rows, columns) in task.arrays.items()
    }
    results = () if task.in_place else [by_role[role] for role in task.results]
    roles = (*by_role.items(), *meant.items(), *_factors(kernel, task))
    arguments = arguments_of(kernel, shapes, tuple(meant.values()), results)
    return Shape(with_factors(arguments, roles), name, roles)


def with_factors(
    arguments: tuple[Argument, ...], roles: tuple[tuple[str, str], ...]
) -> tuple[Argument, ...]:
    """Arguments in which the factors of a task have values that show."""
    values = {what: FACTORS[role] for role, what in roles if role in FACTORS}
    return with_numbers(arguments, values)


def bare_name(name: str) -> str:
    """A parameter's name without what says where its array is: "a" of d_A and A_dev."""
    return BARE_NAME.sub("", name).lower()


def vector_length(kernel: tree.Kernel) -> int:
    """The elements that a kernel's longest access of memory takes; 1 without short vectors."""
    lengths = [
        one.ctype.length
        for one in expressions_within(kernel.body)
        if isinstance(one, tree.Load | tree.Dereference | tree.Index)
        and isinstance(one.ctype, Vector)
    ]
    return max(lengths, default=1)


def axes_used(kernel: tree.Kernel, name: str) -> set[str]:
    """The axes of threadIdx or blockIdx that a kernel uses."""
    return {
        expression.axis
        for expression in expressions_within(kernel.body)
        if isinstance(expression, tree.Builtin) and expression.name == name
    }


def is_whole(ctype: CType) -> bool:
    """Whether it is a type of whole numbers."""
    return isinstance(ctype, Scalar) and ctype.dtype.kind in "iu"


def _sizes(kernel: tree.Kernel) -> list[str]:
    """The parameters that may be sizes."""
    flags = find_flags(kernel)
    return [one.name for one in kernel.parameters
            if is_whole(one.ctype) and one.ctype.size > 1 and one.name not in flags]  # fmt: skip


def numbers_of(ctype: CType) -> Scalar | None:
    """The type of the numbers that a pointer's array holds; None for structs and pointers."""
    target = ctype.target if isinstance(ctype, Pointer) else None
    target = target.element if isinstance(target, Vector) else target
    return target if isinstance(target, Scalar) else None


def _arrays(kernel: tree.Kernel, inputs: int) -> list[str] | None:
    """The arrays that are read, in order, and after them the one that is written; else None."""
    read, results = _read_and_written(kernel)
    if not read or not results:  # nothing is stored, or a pointer copied: by custom it is the last
        pointers = read or results
        read, results = pointers[:-1], pointers[-1:]
    types = {numbers_of(one.ctype) for one in read}
    if len(results) != 1 or len(read) != inputs or len(types) != 1 or None in types:
        return None
    if numbers_of(results[0].ctype) is None:
        return None
    return [one.name for one in (*read, *results)]


def _read_and_written(kernel: tree.Kernel) -> tuple[list[tree.Variable], list[tree.Variable]]:
    """The pointers whose arrays are only read, and those through which something is stored."""
    pointers = [one for one in kernel.parameters if isinstance(one.ctype, Pointer)]
    written = written_parameters(kernel)
    return (
        [one for one in pointers if one.name not in written],
        [one for one in pointers if one.name in written],
    )


def _product(kernel: tree.Kernel) -> Shape | None:
    """The arguments of a matrix product, if the kernel's parameters are one's."""
    arrays = _arrays(kernel, 2) or _arrays_of_blas(kernel)
    if arrays is not None and [bare_name(one) for one in arrays[:2]] == ["b", "a"]:
        arrays[:2] = arrays[1], arrays[0]
    sizes = None if arrays is None else _product_sizes(kernel)
    if arrays is None or sizes is None:
        return None
    A, B, C, *start = arrays
    roles = (*zip("ABC", (A, B, C), strict=True), *zip("MNK", sizes, strict=True))
    starts = tuple((START, name) for name in start)
    return in_layout(kernel, PRODUCT, (*roles, *_factors(kernel, TASKS[PRODUCT]), *starts))


def without_flags(kernel: tree.Kernel, shape: Shape) -> Shape:
    """A shape whose arguments say no to all that a kernel asks them."""
    off = dict.fromkeys(find_flags(kernel), 0)
    return replace(shape, arguments=with_numbers(shape.arguments, off))


def other_products(kernel: tree.Kernel, shape: Shape) -> Iterator[Shape]:
    """The same product of matrices that may lie otherwise in memory, or whose sizes are others.

    Where warps multiply tiles, the types of the tiles tell how matrices lie. Else only all may lie
    column by column, and sizes with one name tell too little: on square matrices B times A is such,
    too. Three sizes without a tile's type may be named in any order, as A is m x n in some texts.
    """
    roles = dict(shape.roles)
    if shape.task != PRODUCT or "." in roles["A"]:  # a member of a struct
        return
    sizes = tuple(roles[role] for role in "MNK")
    if calls(kernel.body, FRAGMENT_FUNCTIONS):
        yield from (in_layout(kernel, name, shape.roles) for name in _layouts_of_tiles(kernel))
    elif len(set(sizes)) == len(sizes):
        yield in_layout(kernel, PRODUCT_BY_COLUMNS, shape.roles)
        for others in itertools.islice(itertools.permutations(sizes), 1, None):
            meant = tuple((roles | dict(zip("MNK", others, strict=True))).items())
            yield in_layout(kernel, PRODUCT, meant)


def in_layout(kernel: tree.Kernel, task: str, roles: tuple[tuple[str, str], ...]) -> Shape:
    """The arguments of a product whose arrays lie as a task has them; any other is like C."""
    meant = dict(roles)
    shapes = {
        meant[role]: (meant[rows], meant[columns])
        for role, (rows, columns) in TASKS[task].arrays.items()
    }
    others = (one.name for one in kernel.parameters if isinstance(one.ctype, Pointer))
    shapes = dict.fromkeys(others, shapes[meant["C"]]) | shapes
    sizes = tuple(meant[role] for role in "MNK")
    follows = _sides_that_follow(kernel) | _leading_dimensions(kernel, meant, shapes)
    return Shape(arguments_of(kernel, shapes, sizes, [meant["C"]], follows), task, roles)


def _layouts_of_tiles(kernel: tree.Kernel) -> Iterator[str]:
    """The products in whose layouts tiles are loaded and stored, beside that of rows alone."""
    columns = {Use.A: False, Use.B: False, Use.ACCUMULATOR: False}
    for call in calls_of(kernel.body, {"wmma::load_matrix_sync", "wmma::store_matrix_sync"}):
        fragment = parse_fragment(call.texts[0])
        if fragment is not None and call.texts[1] == "mem_col_major":
            columns[fragment.use] = True
    if columns[Use.B]:
        yield "product_of_rows"
    if columns[Use.A]:
        yield "product_of_columns"
    if columns[Use.ACCUMULATOR]:
        yield PRODUCT_BY_COLUMNS


def _leading_dimensions(
    kernel: tree.Kernel, roles: Mapping[str, str], shapes: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    """What lda, ldb and their kind are: the elements from one row, or column, to the next.

    Other names are strides as the kernel uses them, of arrays with rows of one length.
    """
    arrays = {"d": roles["C"], **{role.lower(): roles[role] for role in "ABC"}}
    arrays["c"] = roles.get(START, roles["C"])
    found = {}
    for name in _sizes(kernel):
        letter = LEADING.fullmatch(name)
        if letter is not None:
            found[name] = shapes[arrays[(letter[1] or letter[2]).lower()]][1]
    for name, stride in find_strides(kernel).items():
        sides = {shapes[one] for one in stride.arrays if one in shapes}
        columns = {side[1] for side in sides}
        if stride.room > ROW and len(sides) == 1:
            found[name] = " * ".join(*sides)
        elif stride.room == ROW and name not in found and len(columns) == 1:
            found[name] = columns.pop()
    return found


def _sides(kernel: tree.Kernel) -> dict[str, list[str]]:
    """The parameters that are sides of matrices by their names: those that are M, N and K."""
    found: dict[str, list[str]] = {"M": [], "N": [], "K": []}
    for name in _sizes(kernel):
        side = next((one for one in (each.fullmatch(name) for each in SIDES) if one), None)
        if side is not None:
            is_down = side["side"][0].lower() in "hr"
            found[SIDE_ROLES[side["matrix"].upper(), is_down]].append(name)
    return found


def _sides_that_follow(kernel: tree.Kernel) -> dict[str, str]:
    """Sides that are known before: numBRows is what numAColumns is."""
    return {name: names[0] for names in _sides(kernel).values() for name in names[1:]}


def _factors(kernel: tree.Kernel, task: Task) -> Iterator[tuple[str, str]]:
    """The roles of alpha and beta, with which a product is alpha A B + beta C; or a task's own."""
    floats = [one.name for one in kernel.parameters
              if isinstance(one.ctype, Scalar) and one.ctype.is_float]  # fmt: skip
    if task.has_factor:
        yield from ((FACTOR, one) for one in floats[:1])
    elif "C" in task.results:
        yield from ((one.lower(), one) for one in floats if one.lower() in FACTORS)


def _arrays_of_blas(kernel: tree.Kernel) -> list[str] | None:
    """A, B, the result and C of D = alpha A B + beta C; else None."""
    if BETA not in dict(_factors(kernel, TASKS[PRODUCT])):
        return None
    read, results = _read_and_written(kernel)
    if len(read) != 3 or len(results) != 1:
        return None
    A, B, C, D = (numbers_of(one.ctype) for one in (*read, *results))
    is_such = A is not None and A == B and D is not None and C == D
    return [read[0].name, read[1].name, results[0].name, read[2].name] if is_such else None


def _product_sizes(kernel: tree.Kernel) -> tuple[str, str, str] | None:
    """What M, N and K are, of the whole parameters and the macros; None where nothing is."""
    strides = find_strides(kernel)
    names = [name for name in _sizes(kernel)
             if name not in strides and not LEADING.fullmatch(name)]  # fmt: skip
    macros = macro_values(kernel.text)
    folded = {name.lower(): name for name in names}
    for triple in PRODUCT_SIZES:
        if all(one in folded for one in triple):
            M, N, K = (folded[one] for one in triple)
            return M, N, K
    sides = _sides(kernel)
    if sides["N"] and sides["K"]:
        N, K = sides["N"][0], sides["K"][0]
        return sides["M"][0] if sides["M"] else K, N, K
    if len(names) > 3 or not _multiplies(kernel):
        return None
    if len(names) == 3:
        return names[0], names[1], names[2]
    if len(names) == 2:
        first, second = names
        return {
            "M": (_of(macros, "M"), first, second),
            "N": (first, _of(macros, "N"), second),
            "K": (first, second, _of(macros, "K")),
            "": (first, second, second),
        }[next((one for one in "KNM" if one in macros and one.lower() not in folded), "")]
    if len(names) == 1:
        return names[0], names[0], names[0]
    found = {name.lower(): name for name in macros}
    if all(one in found for one in ("m", "n", "k")):
        return found["m"], found["n"], found["k"]
    square = next((found[one] for one in ("n", "width", "size") if one in found), None)
    return _tile_sizes(kernel) if square is None else (square, square, square)


def _tile_sizes(kernel: tree.Kernel) -> tuple[str, str, str] | None:
    """The sizes of the tile that a warp multiplies in one call; None where none does."""
    for call in calls_of(kernel.body, FRAGMENT_FUNCTIONS):
        fragment = parse_fragment(call.texts[0])
        if fragment is not None:
            m, n, k = map(str, fragment.shape)
            return m, n, k
    return None


def _of(macros: Mapping[str, int], name: str) -> str:
    return name if name in macros else ""


def _multiplies(kernel: tree.Kernel) -> bool:
    """Whether a kernel adds up products in a loop, and its name is no other operation's."""
    if PRODUCT_NAME.search(kernel.name) or calls(kernel.body, FRAGMENT_FUNCTIONS):
        return True
    if OTHER_NAME.search(kernel.name):
        return False
    return any(
        any(_is_product(term) for term in _terms_added(expression))
        for loop in walk(kernel.body)
        if isinstance(loop, tree.Loop)
        for expression in expressions_within(loop.body)
        if isinstance(expression, tree.Assign)
    )


def _terms_added(assignment: tree.Assign) -> Iterator[tree.Expression]:
    """What an assignment adds to something, term by term."""
    value = strip_casts(assignment.value)
    if assignment.operator == "+" or (not assignment.operator and _is_sum(value)):
        yield from _terms(value)


def _terms(expression: tree.Expression) -> Iterator[tree.Expression]:
    expression = strip_casts(expression)
    if isinstance(expression, tree.Binary) and expression.operator == "+":
        yield from _terms(expression.left)
        yield from _terms(expression.right)
    else:
        yield expression


def _is_sum(expression: tree.Expression) -> bool:
    return isinstance(expression, tree.Binary) and expression.operator == "+"


def _is_product(expression: tree.Expression) -> bool:
    """Whether it multiplies two floats, or what two arrays hold: no index, square or average."""
    if not isinstance(expression, tree.Binary) or expression.operator != "*":
        return False
    factors = (strip_casts(expression.left), strip_casts(expression.right))
    for one, other in (factors, factors[::-1]):
        if isinstance(one, tree.Literal):
            return _is_product(other)
    if any(isinstance(one, tree.Binary) and one.operator in "+-" for one in factors):
        return False
    loaded = [isinstance(one, tree.Load) and not in_register(one.lvalue) for one in factors]
    variables = [one.lvalue.variable for one in factors
                 if isinstance(one, tree.Load) and isinstance(one.lvalue, tree.Name)]  # fmt: skip
    is_square = len(variables) > len(set(variables))
    is_float = isinstance(expression.ctype, Scalar) and expression.ctype.is_float
    return not is_square and (is_float or all(loaded))


def _product_of_structs(kernel: tree.Kernel) -> Shape | None:
    """The arguments of a product of matrices that are structs with a width, a height and cells."""
    pointers = [one.name for one in kernel.parameters if isinstance(one.ctype, Pointer)]
    owners = [name.rpartition(".")[0] for name in pointers]
    names = {one.name for one in kernel.parameters}
    if len(set(owners)) != 3 or len(owners) != 3 or not all(owners):
        return None
    if any(f"{one}.{side}" not in names for one in owners for side in ("width", "height")):
        return None
    first, second, third = owners
    values = {
        f"{first}.width": str(SIZE), f"{first}.height": str(SIZE), f"{second}.width": str(SIZE),
        f"{second}.height": f"{first}.width", f"{third}.width": f"{second}.width",
        f"{third}.height": f"{first}.height",
        **{f"{one}.stride": f"{one}.width" for one in owners},
    }  # fmt: skip
    found: list[Argument] = []
    for parameter in kernel.parameters:
        if parameter.name in pointers:
            owner = owners[pointers.index(parameter.name)]
            found.append(ArrayArgument(parameter.name, f"{owner}.height", f"{owner}.width"))
        else:
            found.append(NumberArgument(parameter.name, values.get(parameter.name, "1")))
    roles = (*zip("ABC", pointers, strict=True), ("M", f"{first}.height"))
    return Shape(
        tuple(found), "product", (*roles, ("N", f"{second}.width"), ("K", f"{first}.width"))
    )


def _transposition(kernel: tree.Kernel) -> Shape | None:
    """The arguments of a transposition, if the kernel's name and parameters are one's."""
    arrays, sizes = _arrays(kernel, 1), _sizes(kernel)
    if arrays is None or not 0 < len(sizes) < 3 or "transpos" not in kernel.name.lower():
        return None
    folded = {name.lower(): name for name in sizes}
    rows, columns = sizes[0], sizes[-1]
    for first, second in TRANSPOSED_SIZES:
        if first in folded and second in folded:
            rows, columns = folded[first], folded[second]
    A, B = arrays
    return Shape(
        arguments_of(kernel, {A: (rows, columns), B: (columns, rows)}, (rows, columns), [B]),
        "transpose",
        (("A", A), ("B", B), ("M", rows), ("N", columns)),
    )


def arguments_of(
    kernel: tree.Kernel,
    shapes: Mapping[str, tuple[str, str]],
    sizes: Collection[str],
    results: Collection[str],
    follows: Mapping[str, str] = {},
) -> tuple[Argument, ...]:
    """Arrays of some shapes, sizes of SIZE, and for other numbers what leaves the rest alone.

    results are the arrays that hold zeros before, where the kernel adds to them; follows says of
    which parameters the value is that of another one.
    """
    found: list[Argument] = []
    factors = dict(_factors(kernel, TASKS[PRODUCT]))
    for parameter in kernel.parameters:
        name = parameter.name
        if name in shapes:
            rows, columns = shapes[name]
            if isinstance(parameter.ctype, Pointer):
                columns = in_vectors(parameter.ctype, columns)
            is_start = name in results and BETA not in factors and name in _added_to(kernel)
            contents = Contents.ZEROS if is_start else Contents.RANDOM
            found.append(ArrayArgument(name, rows, columns, contents))
        elif name in sizes:
            found.append(NumberArgument(name, str(SIZE)))
        else:
            is_float = isinstance(parameter.ctype, Scalar) and parameter.ctype.is_float
            usual = FACTORS[ALPHA] if is_float else "1"
            usual = next((FACTORS[role] for role, one in factors.items() if one == name), usual)
            found.append(NumberArgument(name, follows.get(name, usual)))
    return tuple(found)


def in_vectors(ctype: Pointer, cells: str) -> str:
    """A number of numbers as one of the short vectors that a pointer points to.

    >>> from simulator.language.ctype import FLOAT
    >>> [in_vectors(Pointer(Vector("float4", FLOAT, 4)), cells) for cells in ("n", "4 * n")]
    ['(n + 3) / 4', 'n']
    """
    if not isinstance(ctype.target, Vector) or ctype.target.length == 1:
        return cells
    length = ctype.target.length
    vectors = cells.removeprefix(f"{length} * ")
    if vectors != cells and vectors.isidentifier():
        return vectors
    return f"({cells} + {length - 1}) / {length}"


def atomic_parameters(kernel: tree.Kernel) -> set[str]:
    """The arrays that atomics change: counters, sums and locks, which begin with 0.

    All of whole numbers where a pointer was copied, as a function's parameter is.
    """
    targets = [root_variable(one.arguments[0]) for one in calls_of(kernel.body, ATOMIC_FUNCTIONS)]
    found = {target.name for target in targets if target is not None}
    if any(target is None or target.space is tree.MemorySpace.REGISTER for target in targets):
        found |= {
            one.name
            for one in kernel.parameters
            if (ctype := numbers_of(one.ctype)) is not None and is_whole(ctype)
        }
    return found


def byte_pitches(kernel: tree.Kernel) -> set[str]:
    """The parameters that say how many bytes lie between two rows, as cudaMallocPitch finds it.

    They multiply what is added to a pointer that was cast to bytes.
    """
    return {
        name
        for one in expressions_within(kernel.body)
        if isinstance(one, tree.Binary) and one.operator == "+" and _is_of_bytes(one)
        for name in _factors_of(one.right)
        if PITCH_NAME.search(name)
    }


def _is_of_bytes(pointer: tree.Binary) -> bool:
    """Whether bytes are added to a pointer to something larger."""
    before = strip_casts(pointer.left).ctype
    return (
        isinstance(pointer.ctype, Pointer)
        and size_of(pointer.ctype.target) == 1
        and isinstance(before, Pointer)
        and size_of(before.target) > 1
    )


def _factors_of(offset: tree.Expression) -> Iterator[str]:
    """The whole parameters that are a factor of a product in an offset."""
    for product in subexpressions(offset):
        if isinstance(product, tree.Binary) and product.operator == "*":
            for side in (product.left, product.right):
                for one in subexpressions(strip_casts(side)):
                    if (
                        isinstance(one, tree.Name)
                        and one.variable.space is tree.MemorySpace.PARAMETER
                    ):
                        yield one.variable.name


def _added_to(kernel: tree.Kernel) -> set[str]:
    """The parameters that are read, or added to in memory: what they hold before matters.

    All of them where a pointer that was computed is read through.
    """
    found = atomic_parameters(kernel)
    for one in expressions_within(kernel.body):
        match one:
            case tree.Load(lvalue=lvalue) if not in_register(lvalue):
                target: tree.Expression = lvalue
            case tree.Assign(lvalue=lvalue, operator=operator) if operator:
                target = lvalue
            case tree.Call(function="wmma::load_matrix_sync", arguments=(_, address, _)):
                target = address
            case _:
                continue
        variable = root_variable(target)
        if variable is not None and variable.space is tree.MemorySpace.PARAMETER:
            found.add(variable.name)
        elif variable is None or isinstance(variable.ctype, Pointer):
            found |= {parameter.name for parameter in kernel.parameters}
    return found
