"""The command lines that follow from the launches in a file's host code."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from itertools import islice

from simulator.frontend.host.launches import HostArgument, HostLaunch
from simulator.language.ctype import ArrayOf, CType, Pointer, Scalar, Struct, Vector
from simulator.language.errors import SourceError
from simulator.language.number_types import NUMBER_TYPES
from simulator.language.tree import Kernel
from simulator.launch import Dim3


def kernel_name(launch: HostLaunch) -> str:
    """The kernel's name with its template's arguments, as --kernel takes it."""
    return launch.kernel + (f"<{', '.join(launch.template)}>" if launch.template else "")


def command(
    file: str, launch: HostLaunch, kernel: Kernel | SourceError, options: Sequence[str] = ()
) -> str:
    """A launch as a command line, after a comment that says where it is and what to fill in.

    kernel is the compiled kernel, whose parameters' types the arguments get, or why it does not
    compile. options are further ones of the command line, such as -D.
    """
    words = ["python", "-m", "simulator", file, "--kernel", kernel_name(launch), *options]
    missing: list[str] = []
    for option, size in (("--grid", launch.grid), ("--block", launch.block)):
        words += (option, "X,Y,Z" if size is None else sizes(size))
        if size is None:
            missing.append(f"X,Y,Z of {option}")
    if launch.shared is None:
        missing.append("BYTES of --shared")
    if launch.shared != 0:
        words += ("--shared", "BYTES" if launch.shared is None else str(launch.shared))
    lines = [f"# line {launch.line}"]
    if isinstance(kernel, SourceError):
        words.append("ARGS")
        lines.append(f"# The kernel does not compile: {kernel.errors[0]}")
    else:
        fewer = len(kernel.counts) - len(launch.arguments)  # as of a pack, args...
        passed = (*launch.arguments, *[HostArgument("…", None, None)] * fewer)
        parameters = iter(kernel.parameters)
        for count, given in zip(kernel.counts, passed, strict=False):
            for parameter in islice(parameters, count):
                is_member = "." in parameter.name  # of the struct given
                value = HostArgument(given.text, None, None) if is_member else given
                word = argument(parameter.ctype, value)
                words.append(word)
                if word.endswith(("N", "=VALUE")):
                    what = "number of elements" if word.endswith("N") else "value"
                    missing.append(f"the {what} of {parameter.name} ({given.text})")
    if missing:
        lines.append(f"# Not known without running the host code, fill in: {', '.join(missing)}.")
    return "\n".join([*lines, shlex.join(words)])


def sizes(size: Dim3) -> str:
    """A grid or block as the command line takes it.

    >>> sizes((32, 8, 1))
    '32,8'
    """
    x, y, z = size
    return ",".join(map(str, (x, y, z) if z > 1 else (x, y) if y > 1 else (x,)))


def argument(ctype: CType, given: HostArgument) -> str:
    """An ARG of a parameter's type: f32:N or struct:N with a number of elements, i32=VALUE."""
    target = ctype.target if isinstance(ctype, Pointer) else ctype
    factor = 1
    is_table = isinstance(target, Pointer)  # of pointers, which point to the rows of an array
    while isinstance(target, ArrayOf | Vector | Pointer):
        factor *= target.length if isinstance(target, Vector) else 1
        target = target.target if isinstance(target, Pointer) else target.element
    name = "struct" if isinstance(target, Struct) else "?"
    if isinstance(target, Scalar):
        name = f"{target.dtype.kind}{8 * target.dtype.itemsize}"
        if target.encoding is not None:
            name = next(one.argument for one in NUMBER_TYPES.values() if one.ctype == target)
    name = {"b8": "u8"}.get(name, name)
    if is_table:
        return f"{name}:NxN"
    if isinstance(ctype, Pointer):
        return f"{name}:{given.elements * factor if given.elements else 'N'}"
    value = given.value
    is_float = isinstance(target, Scalar) and target.is_float
    if value is not None and not is_float:
        value = int(value)
    return f"{name}={'VALUE' if value is None else value}"


def distinct(launches: Iterable[HostLaunch], name: str | None) -> list[HostLaunch]:
    """The launches of a kernel, or of all without a name; each kind of launch once."""
    asked = None if name is None else name.split("<")[0].split("(")[0].split("::")[-1]
    seen: dict[tuple[object, ...], HostLaunch] = {}
    for one in launches:
        if asked in (None, one.kernel):
            known = tuple((given.value, given.elements) for given in one.arguments)
            seen.setdefault((kernel_name(one), one.grid, one.block, one.shared, known), one)
    return list(seen.values())
