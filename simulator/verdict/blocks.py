"""What threads a block of a kernel may have, from its text alone."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping

from simulator.language.ctype import ArrayOf
from simulator.language.errors import LaunchError
from simulator.language.functions import FRAGMENT_FUNCTIONS
from simulator.language.tree import Kernel
from simulator.language.visit import calls
from simulator.launch import MAX_THREADS
from simulator.size_expression import LONGEST, evaluate
from simulator.verdict.form import Sizes3
from simulator.verdict.launches import macro_values
from simulator.verdict.parameters import axes_used

SIDE = 16  # threads of a block in x and in y, where nothing says more
THREADS = 256  # threads of a block in x alone, where nothing says more
OTHER_SIDES = ((SIDE, SIDE), (32, 32), (32, 8), (8, 8), (32, 16), (32, 4))
WHOLE_WARPS = (32, 128, 64, 256)  # threads, where warps multiply tiles
SEVERAL_WARPS = (128, 256, 64, 32)  # threads, where each warp has a number
WARP_NUMBER = re.compile(r"threadIdx\.x\s*(?:/\s*(?:32|warpSize|WARP_SIZE)|>>\s*5)\b")
CUB_BLOCK = re.compile(r"cub::Block(?:Reduce|Scan)<.*?, (\d+)")
WARP_SIDES = ((32, 4), (128, 4), (32, 1))  # threads in x and in y, of the same
MAX_BLOCKS = 30  # the most to propose
MAX_SIDES = 10  # macros and sides of shared arrays of which blocks are composed
LONGEST_NAME = LONGEST // 5  # letters of a macro: a block's expression names up to four
DEPTH_NAME = re.compile(r"depth|^bk$|^k$|stage", re.IGNORECASE)
SIDE_NAME = re.compile(r"tile|block|side|^t[sw]?$|^b[sw]?$", re.IGNORECASE)


def likely_blocks(kernel: Kernel) -> list[Sizes3]:
    """The blocks that a kernel may be written for, likeliest first; at least one."""
    macros = macro_values(kernel.text)
    found: list[Sizes3] = []
    for block in _blocks(kernel, macros):
        threads = math.prod(evaluate(size, macros) for size in block)
        if 0 < threads <= MAX_THREADS and block not in found:
            found.append(block)
        if len(found) == MAX_BLOCKS:
            break
    return found


def _blocks(kernel: Kernel, macros: Mapping[str, int]) -> Iterator[Sizes3]:
    sides = _sides(kernel, macros)
    bounds = _launch_bounds(kernel, macros) or _cub_threads(kernel)
    by_tiles = calls(kernel.body, FRAGMENT_FUNCTIONS)
    if not by_tiles and not axes_used(kernel, "threadIdx") | axes_used(kernel, "blockDim"):
        yield "1", "1", "1"  # all threads of a block would do the same
    if not axes_used(kernel, "threadIdx") & {"y", "z"}:
        if bounds:
            yield bounds, "1", "1"
        threads = [name for name in macros if re.search(r"thread|block", name, re.IGNORECASE)]
        yield from ((name, "1", "1") for name in threads)
        if by_tiles:
            text = kernel.text.split("\n")[kernel.body.span.line - 1 : kernel.body.span.end_line]
            has_warps = WARP_NUMBER.search("\n".join(text)) is not None
            # Else all of a block's warps would do the same.
            yield from ((str(threads), "1", "1")
                        for threads in (SEVERAL_WARPS if has_warps else WHOLE_WARPS))  # fmt: skip
        yield from ((side, "1", "1") for side in _long_sides(kernel))
        if not sides:
            yield str(THREADS), "1", "1"
        for first, second in itertools.combinations_with_replacement(sides, 2):
            yield f"{first} * {second}", "1", "1"
        for first, second in itertools.combinations(sides, 2):
            for each in itertools.combinations_with_replacement(sides, 2):
                whole = evaluate(f"({first}) * ({second})", macros)
                if whole % evaluate(f"({each[0]}) * ({each[1]})", macros) == 0:
                    yield f"{first} * {second} / ({each[0]} * {each[1]})", "1", "1"
        yield from ((side, "1", "1") for side in sides)
        yield from ((str(threads), "1", "1") for threads in (THREADS, 1024, 512, 128, 64, 32))
        return
    if by_tiles:
        yield from ((str(x), str(y), "1") for x, y in WARP_SIDES)
    quotients = [
        f"{first} / {second}"
        for first, second in itertools.permutations(sides, 2)
        if _divides(macros, second, first)
    ]
    if bounds:
        side = math.isqrt(evaluate(bounds, macros))
        alike = [one for one in (*sides, *quotients) if evaluate(one, macros) == side]
        if side * side == evaluate(bounds, macros):
            yield from ((one, one, "1") for one in (*alike, str(side)))
    yield from ((one, one, "1") for one in sides if SIDE_NAME.search(one) or one.isdigit())
    if not any(SIDE_NAME.search(one) or one.isdigit() for one in sides):
        yield str(SIDE), str(SIDE), "1"
    yield from ((one, one, "1") for one in quotients)
    yield from ((x, y, "1") for x in sides for y in quotients if y.startswith(f"{x} /"))
    yield from ((x, y, "1") for y in sides for x in quotients if x.startswith(f"{y} /"))
    yield from ((x, y, "1") for x, y in itertools.product(sides, repeat=2))
    yield from ((str(x), str(y), "1") for x, y in OTHER_SIDES)


def _long_sides(kernel: Kernel) -> list[str]:
    """The sides of shared arrays that have room for a line of threads, or for one of each warp."""
    shapes = [one.ctype.shape for one in kernel.shared if isinstance(one.ctype, ArrayOf)]
    sides = dict.fromkeys(side for shape in shapes if len(shape) == 1 for side in shape)
    lines = [side for side in sides if 64 < side <= MAX_THREADS]
    warps = [32 * side for side in sides if 1 < side < 32]
    return [str(threads) for threads in (*lines, *warps) if threads % 32 == 0]


def _divides(macros: Mapping[str, int], part: str, whole: str) -> bool:
    small, large = evaluate(part, macros), evaluate(whole, macros)
    return small < large and large % small == 0


def _sides(kernel: Kernel, macros: Mapping[str, int]) -> list[str]:
    """Macros that the kernel's source uses, and the sides of shared arrays without such a name."""
    body = kernel.text.split("\n")[kernel.body.span.line - 1 : kernel.body.span.end_line]
    words = set(re.findall(r"\w+", "\n".join(body)))
    names = [
        name for name, value in macros.items()
        if name in words and len(name) <= LONGEST_NAME and 1 < value <= MAX_THREADS
    ]  # fmt: skip
    names.sort(key=lambda name: (not SIDE_NAME.search(name), bool(DEPTH_NAME.search(name))))
    values = {macros[name] for name in names}
    shapes = [one.ctype.shape for one in kernel.shared if isinstance(one.ctype, ArrayOf)]
    numbers = dict.fromkeys(side for shape in shapes for side in shape)
    sides = [str(side) for side in numbers if 3 < side <= 64 and side not in values]
    return [*names, *sides][:MAX_SIDES]


def _cub_threads(kernel: Kernel) -> str:
    """The threads for which the kernel reduces or scans a block by CUB; "" without."""
    for array in kernel.shared:
        if isinstance(array.ctype, ArrayOf):
            found = CUB_BLOCK.match(str(array.ctype.innermost))
            if found is not None:
                return found[1]
    return ""


def _launch_bounds(kernel: Kernel, macros: Mapping[str, int]) -> str:
    """The threads that the kernel's __launch_bounds__ names; "" without."""
    head = re.search(
        rf"__launch_bounds__\s*\(([^;{{}}]*?)\)\s*(?:void\s+)?{re.escape(kernel.name)}\s*\(",
        kernel.text,
    )
    if head is None:
        return ""
    try:
        text = re.split(r",(?![^(]*\))", head[1])[0].strip()
        return text if 0 < evaluate(text, macros) <= MAX_THREADS else ""
    except LaunchError:
        return ""
