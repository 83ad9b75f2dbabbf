"""How a kernel is launched: grid, block and arguments, and a check that a GPU accepts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.language.ctype import OF_DTYPE, Array, ArrayOf, Pointer, Scalar, Struct, Void, parts
from simulator.language.errors import MAX_NAMES, LaunchError, list_names
from simulator.language.tree import GlobalVariable, Kernel, MemorySpace

Dim3 = tuple[int, int, int]  # x, y, z

WARP_SIZE = 32  # lanes
MAX_THREADS = 1024  # of a block (CUDA C++ Programming Guide, table of technical specifications)
MAX_BLOCK: Dim3 = (1024, 1024, 64)  # threads (the same table)
MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)  # blocks (the same table)
MAX_SHARED_BYTES = 227 * 1024  # of a block of compute capability 9.0, the largest there is
MAX_GRID_THREADS = 2**26  # of a simulated launch: four for each element of a 4096 x 4096 matrix
MAX_NUMBERS = 4_096  # of an array within a structured type that are compared
BUDGET_BYTES = 256 * 2**20  # the host memory that a simulated launch's arrays may take


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel.

    An argument for a pointer is a NumPy array of any shape, taken row by row, and never written:
    the simulator works on a copy. An argument for a scalar is a number. One for a struct is a
    mapping from its members to theirs, or a scalar of a structured type; for a pointer to structs
    it is an array of a structured type with C's layout, as np.dtype(..., align=True) has. For a
    pointer to pointers it is an array of two or more dimensions, to whose rows they point, or zeros
    of uint64, which are null. A __device__ or __constant__ variable may have one, too: an array of
    as many elements, or a number; a pointer what it points to.
    """

    grid: Dim3  # blocks
    block: Dim3  # threads
    arguments: Mapping[str, Any]  # by the name of the parameter or variable
    shared_bytes: int = 0  # of dynamic shared memory, for an extern __shared__ array

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def warps(self) -> int:
        """Warps of a block; the last may be partial."""
        return -(-self.threads // WARP_SIZE)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]


def dim3(*sizes: int) -> Dim3:
    """One to three sizes as x, y, z; missing ones are 1.

    >>> dim3(32, 8)
    (32, 8, 1)
    """
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return (int(x), int(y), int(z))


def unravel(number: Any, sizes: Dim3) -> tuple[Any, Any, Any]:
    """The x, y, z of a linear thread or block number, or of an array of them, of any shape.

    sizes are the block's or the grid's; x changes fastest.

    >>> unravel(37, (16, 16, 1))
    (5, 2, 0)
    """
    return number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1])


def ravel(index: Dim3, sizes: Dim3) -> int:
    """The linear number of a thread or block at x, y, z: the inverse of unravel.

    >>> ravel((5, 2, 0), (16, 16, 1))
    37
    """
    return index[0] + sizes[0] * (index[1] + sizes[1] * index[2])


def format_index(index: Dim3 | None, sizes: Dim3) -> str:
    """A thread or block as every text has it: its x and y, and z where the block or grid has depth.

    sizes are the block's or the grid's. An unknown one is "(?)".

    >>> format_index((5, 2, 0), (16, 16, 1)), format_index((1, 0, 0), (4, 2, 2))
    ('(5, 2)', '(1, 0, 0)')
    """
    if index is None:
        return "(?)"
    return f"({', '.join(map(str, index[: 3 if sizes[2] > 1 else 2]))})"


def format_cell(array: str, index: Iterable[object]) -> str:
    """A cell of an array as C writes it.

    >>> format_cell("As", (0, 1))
    'As[0][1]'
    """
    return array + "".join(f"[{one}]" for one in index)


def check(kernel: Kernel, launch: Launch) -> dict[str, Any]:
    """The arguments by name, each an array or a NumPy scalar of its C type.

    Those of __device__ and __constant__ variables are arrays; what is not given has the text's
    first values, or zeros.

    A contiguous array is the caller's, not a copy, and must not be written. Raises LaunchError
    for a launch that no GPU accepts, or that the simulator has no memory for.
    """
    for name, what, sizes, limits in (
        ("grid", "blocks", launch.grid, MAX_GRID),
        ("block", "threads", launch.block, MAX_BLOCK),
    ):
        for axis, size, limit in zip("xyz", sizes, limits, strict=True):
            if not 1 <= size <= limit:
                raise LaunchError(
                    f"The {name} has {size:,} {what} in {axis}; a GPU allows 1 to {limit:,}."
                )
    if launch.threads > MAX_THREADS:
        raise LaunchError(
            f"A block of {' x '.join(map(str, launch.block))} has {launch.threads:,} threads; "
            f"a GPU takes at most {MAX_THREADS:,}. Make the block smaller."
        )
    if launch.blocks * launch.threads > MAX_GRID_THREADS:
        raise LaunchError(
            f"The grid has {launch.blocks:,} blocks of {launch.threads:,} threads; the simulator "
            f"takes up to {MAX_GRID_THREADS:,} threads in all. Make the grid smaller."
        )
    shared = kernel.static_shared_bytes + launch.shared_bytes
    if launch.shared_bytes < 0:
        raise LaunchError(
            f"A launch gives {launch.shared_bytes:,} bytes of shared memory; give 0 or more."
        )
    if shared > MAX_SHARED_BYTES:
        raise LaunchError(
            f"The kernel asks for {shared:,} bytes of shared memory a block; "
            f"the largest that a GPU has is {MAX_SHARED_BYTES:,}. Use smaller tiles."
        )
    return _arguments(kernel, launch.arguments)


def _arguments(kernel: Kernel, values: Mapping[str, Any]) -> dict[str, Any]:
    """The launch's values as arrays and NumPy scalars of the parameters' types."""
    values = flatten_arguments(kernel, values)
    names = [parameter.name for parameter in kernel.parameters]
    variables = [known.variable.name for known in kernel.globals]
    for name in variables:
        if name in names:
            raise LaunchError(
                f"{name} is the name of a parameter and of a variable outside the kernel; give "
                "one of them another."
            )
    missing = [name for name in names if name not in values]
    extra = [name for name in values if name not in names and name not in variables]
    if missing or extra:
        raise LaunchError(
            f"Kernel {kernel.name} takes the parameters {list_names(names) or '(none)'}; "
            + "; ".join(
                clause
                for clause in (
                    f"missing: {list_names(missing)}" if missing else "",
                    f"not among them: {list_names(extra)}" if extra else "",
                )
                if clause
            )
            + "."
        )
    arguments: dict[str, Any] = {}
    total = 0
    for parameter in kernel.parameters:
        value = values[parameter.name]
        match parameter.ctype:
            case Pointer():
                arguments[parameter.name] = _array(parameter.name, parameter.ctype, value)
                total += arguments[parameter.name].nbytes
            case Scalar():
                arguments[parameter.name] = _scalar(parameter.name, parameter.ctype, value)
            case other:
                raise LaunchError(
                    f"Parameter {parameter.name} has type {other}; "
                    "a launch takes pointers and numbers."
                )
    for known in kernel.globals:
        if _holds_pointers(known):
            array = _pointed(known, values.get(known.variable.name))
            if array is None:
                continue
        else:
            array = _variable(known, values)
        arguments[known.variable.name] = array
        total += array.nbytes
    if total > BUDGET_BYTES:
        raise LaunchError(
            f"The arrays take {total / 2**20:,.0f} MiB; the simulator takes up to "
            f"{BUDGET_BYTES / 2**20:,.0f} MiB. Choose smaller matrices."
        )
    return arguments


def flatten_arguments(kernel: Kernel, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the kernel's parameters, those of a struct by its members.

    A struct is given as a mapping from its members to their values, or as a NumPy scalar of a
    structured type: {"A": {"width": 4, "elements": array}} gives "A.width" and "A.elements".
    """
    names = {parameter.name for parameter in kernel.parameters}
    names |= {known.variable.name for known in kernel.globals}
    flat: dict[str, Any] = {}
    pending = list(values.items())[::-1]
    while pending:
        name, value = pending.pop()
        if name in names:
            flat[name] = value
        elif isinstance(value, Mapping):
            pending += [(f"{name}.{key}", inner) for key, inner in value.items()][::-1]
        elif getattr(value, "dtype", None) is not None and value.dtype.names and not value.ndim:
            pending += [(f"{name}.{key}", value[key]) for key in value.dtype.names][::-1]
        elif f"{name}[0]" in names and np.ndim(value):
            pending += [(f"{name}[{i}]", inner) for i, inner in enumerate(value)][::-1]
        else:
            flat[name] = value
    return flat


def _struct_array(name: str, ctype: Pointer, struct: Struct, value: Any) -> Array:
    """An argument's array, if its elements lie as the struct's."""
    numbers = [(part.offset, part.scalar.cell_dtype) for part in parts(struct)]
    if isinstance(value, np.ndarray):
        if value.dtype.names is None:
            plain = value.dtype == struct.cell.cell_dtype
            packed = len(numbers) * struct.cell.size == struct.size
            if plain and packed and value.nbytes % struct.size == 0:
                return np.ascontiguousarray(value)
        elif _dtype_numbers(value.dtype) == numbers and value.dtype.itemsize == struct.size:
            return np.ascontiguousarray(value)
    fields = ", ".join(
        f"{part.scalar.cell_dtype} at byte {part.offset} ({part.name[1:]})"
        for part in parts(struct)[:MAX_NAMES]
    )
    raise LaunchError(
        f"Parameter {name} is {ctype}: give an array of a structured type of {struct.size} bytes "
        f"with {fields}, as np.dtype([...], align=True) makes it."
    )


def _dtype_numbers(dtype: np.dtype[Any], offset: int = 0) -> list[tuple[int, np.dtype[Any]]]:
    """The offset and type of each number in a structured type of NumPy."""
    if dtype.names is not None:
        assert dtype.fields is not None
        found = []
        for name in dtype.names:
            inner, at = dtype.fields[name][:2]
            found += _dtype_numbers(inner, offset + at)
        return sorted(found, key=lambda number: number[0])
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        count = int(np.prod(shape, dtype=np.int64))
        found = []
        for i in range(min(count, MAX_NUMBERS)):
            found += _dtype_numbers(inner, offset + i * inner.itemsize)
        return found
    return [(offset, dtype)]


def _array(name: str, ctype: Pointer, value: Any) -> Array:
    target = ctype.target
    if isinstance(target, Pointer) and not isinstance(target.target, Pointer):
        return _rows(name, ctype, target, value)
    if isinstance(target, Struct):
        return _struct_array(name, ctype, target, value)
    if isinstance(target, Void):
        if not isinstance(value, np.ndarray) or value.dtype not in OF_DTYPE:
            raise LaunchError(f"Parameter {name} is {ctype}: give an array of numbers of any type.")
        return np.ascontiguousarray(value)
    element = getattr(target, "element", target)
    if not isinstance(element, Scalar):
        raise LaunchError(
            f"Parameter {name} is {ctype}; a launch takes pointers to numbers. Give one array that "
            "holds all rows, and let the kernel count where each begins."
        )
    if not isinstance(value, np.ndarray):
        raise LaunchError(f"Parameter {name} is {ctype}: give an array, not {value!r}.")
    if value.dtype != element.cell_dtype:
        raise LaunchError(
            f"Parameter {name} is {ctype}: its array must hold {element.cell_dtype}, not "
            f"{value.dtype}."
        )
    return np.ascontiguousarray(value)


def _rows(name: str, ctype: Pointer, row: Pointer, value: Any) -> Array:
    """The array of which each of several pointers points to a row."""
    is_table = isinstance(value, np.ndarray) and value.dtype == np.uint64 and value.ndim == 1
    if is_table and not value.any():
        return np.ascontiguousarray(value)  # null pointers
    if np.ndim(value) < 2 or not np.size(value):
        raise LaunchError(
            f"Parameter {name} is {ctype}: give an array of two dimensions, whose rows the "
            "pointers point to, or zeros of uint64, which are null pointers."
        )
    return _array(name, row, value)


def _variable(known: GlobalVariable, values: Mapping[str, Any]) -> Array:
    """The cells of a __device__ or __constant__ variable: the launch's, or the text's."""
    name, first, ctype = known.variable.name, known.first, known.variable.ctype
    assert isinstance(ctype, ArrayOf)
    if name not in values:
        return np.asarray(first)
    value = values[name]
    if isinstance(ctype.innermost, Struct) and isinstance(value, Mapping):
        return _struct_variable(known, ctype.innermost, value)
    if not known.is_array and isinstance(ctype.innermost, Scalar):
        single = value.reshape(()) if isinstance(value, np.ndarray) and value.size == 1 else value
        return np.full(1, _scalar(name, ctype.innermost, single))
    kind = f"{ctype if known.is_array else ctype.innermost}"
    if isinstance(ctype.innermost, Struct):
        given = _struct_array(name, Pointer(ctype.innermost), ctype.innermost, np.asarray(value))
        if given.nbytes != first.nbytes:
            raise LaunchError(
                f"{name} is {kind} and takes {first.nbytes:,} bytes; the array has "
                f"{given.nbytes:,}."
            )
        return given
    if not isinstance(value, np.ndarray):
        raise LaunchError(f"{name} is {kind}: give an array, not {value!r}.")
    if value.dtype != first.dtype:
        raise LaunchError(
            f"{name} is {kind}: its array must hold {first.dtype}, not {value.dtype}."
        )
    if value.size != first.size:
        raise LaunchError(
            f"{name} is {kind} and holds {first.size:,} numbers; the array has {value.size:,}."
        )
    return np.ascontiguousarray(value).reshape(first.shape)


def _holds_pointers(known: GlobalVariable) -> bool:
    ctype = known.variable.ctype
    return isinstance(ctype, ArrayOf) and isinstance(ctype.innermost, Pointer)


def _pointed(known: GlobalVariable, value: Any) -> Array | None:
    """What a __device__ or __constant__ pointer points to, or an array's pointers to its rows.

    None where the launch gives nothing: they are null then.
    """
    name, ctype = known.variable.name, known.variable.ctype
    assert isinstance(ctype, ArrayOf)
    assert isinstance(ctype.innermost, Pointer)
    if value is None:
        return None
    if not known.is_array:
        return _array(name, ctype.innermost, value)
    rows = _rows(name, Pointer(ctype.innermost), ctype.innermost, value)
    if len(rows) != known.first.size:
        raise LaunchError(
            f"{name} is {ctype} and holds {known.first.size:,} pointers; the array has "
            f"{len(rows):,} rows."
        )
    return rows


def _struct_variable(known: GlobalVariable, struct: Struct, value: Mapping[str, Any]) -> Array:
    """The cells of a struct that a launch sets by a mapping from members to their values."""
    record: Array = np.array(known.first)
    for member, inner in value.items():
        try:
            record[member] = inner
        except (ValueError, TypeError, IndexError, KeyError):
            names = list_names([field.name for field in struct.fields])
            raise LaunchError(
                f"{known.variable.name} is {struct}: {inner!r} is not a value of a member "
                f"{member!r}; it has {names}."
            ) from None
    return record


def unset_constants(kernel: Kernel, launch: Launch) -> tuple[str, ...]:
    """A sentence for each __constant__ variable that neither the text nor the launch sets."""
    return tuple(
        f"{known.variable.name} is __constant__ and was never set: it is read as zeros. Host code "
        "sets it with cudaMemcpyToSymbol; here the launch sets it, by its name."
        for known in kernel.globals
        if known.space is MemorySpace.CONSTANT
        and not known.has_first
        and known.variable.name not in launch.arguments
    )


def _scalar(name: str, ctype: Scalar, value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim:
        raise LaunchError(f"Parameter {name} is {ctype}: give a number, not an array.")
    number = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    if isinstance(number, (bool, int)) or (isinstance(number, float) and ctype.is_float):
        try:
            with np.errstate(over="ignore"):  # too large a float is infinite, as in C
                if ctype.encoding is not None:
                    return ctype.encoding.round(np.float64(number))
                return ctype.dtype.type(number)
        except OverflowError:
            raise LaunchError(f"Parameter {name} is {ctype}: {number} does not fit.") from None
    raise LaunchError(f"Parameter {name} is {ctype}: {number!r} is not a value of that type.")
