"""Launches from a form: its expressions get values, its arrays contents."""

from __future__ import annotations

import functools
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.frontend.conditions import COMPILER_MACROS
from simulator.frontend.device_code import SourceFile
from simulator.frontend.expression_values import Evaluator
from simulator.frontend.toplevel import Declaration
from simulator.language.ctype import (
    FLOAT,
    Array,
    ArrayOf,
    CType,
    Pointer,
    Scalar,
    Struct,
    Vector,
    Void,
    convert,
    struct_array,
)
from simulator.language.errors import LaunchError, shorten
from simulator.language.number_types import numbers_held
from simulator.language.tree import Kernel
from simulator.launch import BUDGET_BYTES, Dim3, Launch
from simulator.size_expression import WORD, evaluate
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument, Sizes3

CONSTANT_WORDS = frozenset({"const", "constexpr"})
WHOLE_WORDS = frozenset(
    {"int", "unsigned", "long", "short", "char", "size_t", "uint", "signed", "static", "inline"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)
QUARTERS = 4  # of one: what fractions are counted in
LARGEST_RANDOM = 9  # of the whole numbers that arrays hold


def macro_values(text: str) -> dict[str, int]:
    """The whole numbers that a file names: by #define, or by a constant outside its functions.

    >>> macro_values("#define TILE 16\\nconst int EACH = TILE / 4;")
    {'TILE': 16, 'EACH': 4}
    """
    return dict(_macro_values(text))


@functools.lru_cache(16)
def _macro_values(text: str) -> Mapping[str, int]:
    source = SourceFile(text)
    found: dict[str, int] = {}
    evaluator = Evaluator(found.get, source.macros)
    for name, macro in source.macros.items():
        value = evaluator.evaluate(macro.body) if macro.parameters is None else None
        if isinstance(value, int) and name not in COMPILER_MACROS:
            found[name] = int(value)
    for declaration in source.declarations:
        for name, tokens in _constants(source, declaration):
            value = evaluator.evaluate(tokens)
            if isinstance(value, int):
                found[name] = int(value)
    return found


def _constants(source: SourceFile, declaration: Declaration) -> Iterator[tuple[str, list[str]]]:
    """The constants of whole types that a declaration has, each with its value's tokens."""
    tokens = source.top.tokens[declaration.first : declaration.last]
    texts = [token.text for token in tokens]
    if declaration.is_function or declaration.is_type or not CONSTANT_WORDS & set(texts):
        return
    type_words = texts[: texts.index("=")] if "=" in texts else []
    if not set(type_words[:-1]) <= CONSTANT_WORDS | WHOLE_WORDS | {"__device__", "__constant__"}:
        return
    part: list[str] = []
    depth = 0
    for text in [*texts[len(type_words) - 1 :], ","]:
        depth += (text in ("(", "{")) - (text in (")", "}"))
        if text in (",", ";") and not depth:
            if part[1:2] == ["="] and re.fullmatch(r"\w+", part[0]):
                yield part[0], part[2:]
            part = []
        else:
            part.append(text)


def known_values(
    kernel: Kernel, form: LaunchForm, numbers: Mapping[str, int | float] = {}
) -> dict[str, int]:
    """The whole numbers that a form's expressions may name: macros, and the whole parameters.

    numbers override the form's, by name of the parameter. Raises LaunchError.
    """
    return _values(kernel, form, numbers)[0]


def build_launch(
    kernel: Kernel, form: LaunchForm, numbers: Mapping[str, int | float] = {}
) -> Launch:
    """The launch that a form describes.

    numbers override its numbers, by name of the parameter. Random contents are the same for the
    same sizes and name. Raises LaunchError, which names the field that is wrong.
    """
    launch = build_without_arrays(kernel, form, numbers)
    known = known_values(kernel, form, numbers)
    types = {parameter.name: parameter.ctype for parameter in kernel.parameters}
    arguments: dict[str, Any] = {}
    used_bytes = 0
    for given in form.arguments:
        if isinstance(given, NumberArgument):
            arguments[given.name] = launch.arguments[given.name]
            continue
        ctype = types.get(given.name)
        if not isinstance(ctype, Pointer):
            raise LaunchError(f"{given.name} is not a pointer parameter of {kernel.name}.")
        arguments[given.name] = _array(given, ctype, known, used_bytes)
        used_bytes += arguments[given.name].nbytes
    return replace(launch, arguments=arguments)


def arrays_by_role(
    kernel: Kernel, form: LaunchForm, launch: Launch, roles: Iterable[str]
) -> dict[str, Array]:
    """The numbers that a launch's arrays hold, by what they are in the form's task."""
    names = dict(form.roles)
    types = {parameter.name: parameter.ctype for parameter in kernel.parameters}
    found = {}
    for role in roles:
        ctype = types[names[role]]
        element = ctype.target if isinstance(ctype, Pointer) else ctype
        found[role] = numbers_held(element, np.asarray(launch.arguments[names[role]]))
    return found


def check_names(kernel: Kernel) -> None:
    """Raise LaunchError where a parameter has no name: a form's fields are named after them."""
    for number, parameter in enumerate(kernel.parameters, 1):
        if not parameter.name:
            raise LaunchError(
                f"Parameter {number} of {kernel.name} has no name: give it one, to launch it."
            )


def build_without_arrays(
    kernel: Kernel, form: LaunchForm, numbers: Mapping[str, int | float] = {}
) -> Launch:
    """The launch that a form describes, as build_launch, with its scalars alone."""
    known, scalars = _values(kernel, form, numbers)
    shared_bytes = _field("The bytes of shared memory", form.shared_bytes, known)
    grid = _sizes("grid", form.grid, known)
    return Launch(grid, _sizes("block", form.block, known), scalars, shared_bytes)


def _values(
    kernel: Kernel, form: LaunchForm, numbers: Mapping[str, int | float]
) -> tuple[dict[str, int], dict[str, int | float]]:
    """What expressions may name, and the number of each scalar parameter."""
    types = {parameter.name: parameter.ctype for parameter in kernel.parameters}
    check_names(kernel)
    known = macro_values(kernel.text)
    scalars: dict[str, int | float] = {}
    for given in sorted(form.numbers, key=lambda one: bool(WORD.search(one.value))):
        ctype = types.get(given.name)
        if ctype is not None and not isinstance(ctype, Scalar | Pointer):
            raise LaunchError(
                f"{given.name} is {ctype}, for which a form has no value: take its parts as "
                "parameters."
            )
        if not isinstance(ctype, Scalar):
            raise LaunchError(
                f"{given.name} is not a number among the parameters of {kernel.name}."
            )
        if given.name in numbers:
            scalars[given.name] = numbers[given.name]
        elif ctype.is_float:
            scalars[given.name] = _real(given, known)
        else:
            scalars[given.name] = _field(given.name, given.value, known)
        if not ctype.is_float:
            known[given.name] = int(scalars[given.name])
    return known, scalars


def _real(given: NumberArgument, known: Mapping[str, int]) -> float:
    """The value of a float parameter: a number, or an expression of whole ones."""
    try:
        return float(given.value.strip().rstrip("fF"))
    except ValueError:
        return float(_field(given.name, given.value, known))


def _field(what: str, expression: str, known: Mapping[str, int]) -> int:
    """The value of a field's expression; an error begins with what the field is."""
    try:
        return evaluate(expression, known)
    except LaunchError as error:
        raise LaunchError(f"{what}, {shorten(expression)!r}: {error}") from None


def _sizes(what: str, sizes: Sizes3, known: Mapping[str, int]) -> Dim3:
    x, y, z = (
        _field(f"The {what}'s {axis}", size, known) for axis, size in zip("xyz", sizes, strict=True)
    )
    return (x, y, z)


def _array(
    given: ArrayArgument, ctype: Pointer, known: Mapping[str, int], used_bytes: int
) -> Array:
    """An array [rows, columns] of a parameter's type, or [columns] where its rows are "1".

    Of a pointer to short vectors or structs the columns are these; used_bytes is what the arrays
    before it take.
    """
    rows = _field(f"{given.name}'s rows", given.rows, known)
    columns = _field(f"{given.name}'s columns", given.columns, known)
    for what, size in (("rows", rows), ("columns", columns)):
        if size < 1:
            raise LaunchError(f"{given.name} has {size:,} {what}; give 1 or more.")
    target = _element(ctype)
    if isinstance(target, Vector):
        columns *= target.length
    element = target.element if isinstance(target, Vector) else target
    needed = rows * columns * element.size
    if used_bytes + needed > BUDGET_BYTES:
        raise LaunchError(
            f"{given.name} has {rows:,} x {columns:,} elements, which take "
            f"{needed / 2**20:,.0f} MiB; the arrays of a launch may take "
            f"{BUDGET_BYTES / 2**20:,.0f} MiB together. Make it smaller."
        )
    shape = (columns,) if given.rows.strip() == "1" and not _has_rows(ctype) else (rows, columns)
    seed = zlib.crc32(f"{given.name} {rows} {columns}".encode())
    return _filled(element, shape, given.contents, np.random.default_rng(seed))


def _has_rows(ctype: Pointer) -> bool:
    return isinstance(ctype.target, Pointer)


def _element(ctype: Pointer) -> Scalar | Vector | Struct:
    """What the cells of a pointer's array are; of a void* floats."""
    target: CType = ctype.target
    while isinstance(target, Pointer | ArrayOf):
        target = target.target if isinstance(target, Pointer) else target.element
    return FLOAT if isinstance(target, Void) else target


def _filled(
    element: Scalar | Struct,
    shape: tuple[int, ...],
    contents: Contents,
    random: np.random.Generator,
) -> Array:
    """An array of numbers, or of structs, each of whose numbers is filled alike."""
    if isinstance(element, Struct):
        return struct_array(element, shape, lambda kind, n: _filled(kind, n, contents, random))
    numbers = convert(_numbers(element, shape, contents, random), element)
    return np.asarray(element.cells_of(numbers))


def _numbers(
    element: Scalar, shape: tuple[int, ...], contents: Contents, random: np.random.Generator
) -> Array:
    match contents:
        case Contents.ZEROS:
            return np.zeros(shape, element.dtype)
        case Contents.ONES:
            return np.ones(shape, element.dtype)
        case Contents.COUNTING:
            with np.errstate(over="ignore"):
                return np.arange(1, math.prod(shape) + 1).astype(element.dtype).reshape(shape)
        case Contents.SHUFFLED:
            return random.permutation(math.prod(shape)).astype(element.dtype).reshape(shape)
        case Contents.RISING:
            return np.arange(math.prod(shape)).astype(element.dtype).reshape(shape)
        case Contents.FRACTIONS if element.is_float:
            top = 2 * QUARTERS
            quarters = random.integers(-top, top + 1, shape, np.int32).astype(element.dtype)
            fractions: Array = quarters / element.dtype.type(QUARTERS)
            return fractions
        case Contents.FRACTIONS if element.dtype.kind == "i":
            limit = LARGEST_RANDOM
            return random.integers(-limit, limit + 1, shape, np.int32).astype(element.dtype)
        case Contents.RANDOM | Contents.FRACTIONS:
            top = 1 if element.dtype.kind == "b" else LARGEST_RANDOM
            return random.integers(0, top + 1, shape, np.int32).astype(element.dtype)
