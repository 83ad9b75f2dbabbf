"""The changes of a kernel that a verdict proposes: each in the imperative, and why.

The reason is "" where the sentence says it.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulator.sentences.verdicts import joined

Words = tuple[str, str]


def use_atomic(change: str, line: int) -> Words:
    """An atomic where threads add to one cell."""
    return f"Use `{change};` on line {line}.", (
        "Threads that add to one cell at once lose each other's sums."
    )


def add_barrier(call: str, line: int, is_loop: bool, race: tuple[int, int] | None) -> Words:
    """A barrier after a line, or after the loop of one; race has the lines of its accesses."""
    why = ""
    if race is not None:
        first, second = race
        there = f"at line {second}" if first != second else "at it again"
        why = f"Otherwise a thread may be {there} before another is done with line {first}."
    return f"Add `{call}();` after {'the loop of ' * is_loop}line {line}.", why


def start(name: str, line: int) -> Words:
    """A value for a variable that has none."""
    return f"Set {name} to 0 on line {line}.", "It is read before it has a value."


def round_up(change: str, size: str, tile: str, line: int) -> Words:
    """A quotient of a size that is rounded up."""
    return f"Round up on line {line}: `{change}`.", (
        f"`{size} / {tile}` leaves out the last part where {tile} does not divide {size}."
    )


def round_up_warps(change: str, line: int) -> Words:
    """A number of warps that is rounded up."""
    return f"Round up on line {line}: `{change}`.", (
        "The last warp of a block may have fewer than 32 threads."
    )


def write_guard(change: str, was: str, line: int, *, is_same_size: bool) -> Words:
    """Another size, or another comparison, in a guard.

    >>> write_guard("i < n", "i <= n", 3, is_same_size=True)[1]
    'The present guard is off by one.'
    """
    return f"Write `{change}` instead of `{was}` on line {line}.", (
        "The present guard is off by one."
        if is_same_size
        else "The present guard checks another edge."
    )


def write_size(size: str, was: str, whole: str, line: int) -> Words:
    """Another size in an index; whole is "" for one of several lines."""
    place = f" in `{whole}`" if whole else ""
    return f"Write {size} instead of {was}{place} on line {line}.", (
        f"{was} is the length of another array's rows."
    )


def swap_axes(names: Sequence[str], lines: Sequence[int]) -> Words:
    """x for y and y for x in indices of threads and blocks.

    >>> swap_axes(["threadIdx", "blockIdx", "blockDim"], [4, 5])[0]
    'Swap x and y of threadIdx, blockIdx and blockDim on lines 4 and 5.'
    """
    return f"Swap x and y of {joined(names)} on {_numbered(lines)}.", (
        "The indices of rows and columns are swapped."
    )


def write_axis(change: str, was: str, line: int) -> Words:
    """An index along the other axis."""
    return f"Write `{change}` instead of `{was}` on line {line}.", (
        f"`{was}` is the index along the other axis."
    )


def widen(left: str, right: str, line: int, passes_at: tuple[str, int] | None) -> Words:
    """A product with 64 bits; passes_at is the value of a factor from which an int is too small."""
    at = f", at {passes_at[0]} = {passes_at[1]:,}" if passes_at else ""
    return f"Write `(long long){left} * {right}` on line {line}.", (
        f"`{left} * {right}` exceeds 2^31 - 1, the largest int{at}."
    )


def guard(condition: str, lines: Sequence[int]) -> Words:
    """Conditions around the accesses that leave their arrays."""
    return f"Guard {_numbered(lines)}: `{condition}`.", ("Beyond the edge there are no cells.")


def _numbered(lines: Sequence[int]) -> str:
    return f"line{'s' * (len(lines) > 1)} {joined([str(line) for line in lines])}"
