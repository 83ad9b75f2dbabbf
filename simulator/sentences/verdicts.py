"""What a verdict says of a kernel: its sizes, its wrong cells, its costs, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.launch import format_cell
from simulator.machine.observer import AccessKind
from simulator.machine.schedule import Schedule
from simulator.number_format import format_number
from simulator.observers.hazards.findings import Number
from simulator.sentences.hazards import VERBS, barrier_between

# Sizes --------------------------------------------------------------------------------------------

RAN = "It ran to the end."
REFERENCE = "The result agrees with "
NO_TILE = "Not judged, because no GPU accepts such a tile: "


def size_text(found: Mapping[str, int]) -> str:
    """Sizes as a sentence has them: "M = 8, N = 8, K = 8"."""
    return ", ".join(f"{name} = {size}" for name, size in found.items()) or "its only size"


def joined(words: Sequence[str]) -> str:
    """Words as a sentence lists them: "M, N and K"."""
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def running(found: Mapping[str, int]) -> str:
    """Which size is run now."""
    return f"Running at {size_text(found)}."


def not_judged(seconds: float) -> str:
    """A size for which none of the seconds for all of them is left."""
    return f"Not judged: the {seconds:g} seconds for further sizes were used up."


def renamed(roles: str) -> str:
    """A product one of whose sizes the kernel calls what others call another."""
    return f"The kernel has other names for the sizes: {roles}. A is M x K, B is K x N."


def role(name: str, what: str) -> str:
    """What a task's size is called in the kernel."""
    return f"our {name} is its {what}"


# Results ------------------------------------------------------------------------------------------


def of_reference(name: str) -> str:
    """What is compared, where a function of the file's host code says what is right."""
    return f"{REFERENCE}{name}"


def right(title: str) -> str:
    """The results of one size are right."""
    return f"{title}." if title.startswith(REFERENCE) else f"{title} is right."


def right_by_luck(title: str, hazard: str) -> str:
    """The results of one size are right, since an access outside an array was dropped."""
    said = f"{hazard[0].upper()}{hazard[1:]}"
    return f"{right(title).removesuffix('.')} only because an access was dropped. {said}"


def with_fractions(sentence: str) -> str:
    """A wrong cell of arrays of fractions."""
    return f"With fractions of both signs {sentence}"


def as_computed_by(name: str) -> str:
    """Where the right value of a cell comes from."""
    return f"That is what {name} computes."


def holding(array: str, index: Sequence[int], value: Number) -> str:
    """A cell with its value: "A[1][2] = 3"."""
    return f"{format_cell(array, index)} = {_number(value)}"


def wrong_cell(
    place: str, value: object, expected: object, wrong: int, cells: int, order: str
) -> str:
    """The first wrong cell of an array, of which `wrong` of all cells are.

    The order of the warps is said unless it is ascending, which is tried first.
    """
    of_all = f"{wrong:,} of {cells:,} cells are wrong" if wrong > 1 else "It is the only wrong cell"
    in_order = "" if order == Schedule.ASCENDING else f", with the warps in {order} order"
    return (
        f"{place} is {format_number(value)} but should be {format_number(expected)}. "
        f"{of_all}{in_order}."
    )


# How a wrong cell came about ----------------------------------------------------------------------

NOT_STORED = "No thread stores it."


def stored(thread: str, block: str, line: int, others: int) -> str:
    """Who stored a wrong cell last, and after how many other threads."""
    after = f", after {others:,} other thread{'s' * (others > 1)}" if others else ""
    return f"Thread {thread} of block {block} stores it on line {line}{after}."


def last_reads(held: Sequence[str]) -> str:
    """The last values that the thread of a wrong cell read, each with its cell."""
    if not held:
        return "It reads nothing before that."
    return f"The last values that it reads: {', '.join(held)}."


def wrong_factor(k: int, terms: int, held: str, line: int, needed: str) -> str:
    """The first factor of a sum, from 0, that is not the one that is needed."""
    products = f"product {k + 1} of {terms:,}" if terms > 1 else "the only product of its sum"
    return f"For {products} it reads {held} on line {line}, but needs {needed}."


def few_products(count: int, terms: int) -> str:
    """A sum with fewer products than it should have."""
    products = f"{f'{count:,}' if count else 'no'} product{'s' * (count != 1)}"
    return f"It adds {products} instead of {terms:,}."


def many_products(terms: int, first: str, second: str, line: int) -> str:
    """A sum with more products than it should have, and the factors of one of these."""
    products = f"{terms:,} products" if terms > 1 else "one product"
    more = f"after that it reads {first} and {second} on line {line}"
    return f"It adds more than the {products} of this sum: {more}."


def right_factors(terms: int) -> str:
    """A wrong sum whose factors are all right."""
    return (
        f"It reads the right {f'{terms:,} pairs of factors' if terms > 1 else 'factors'}: look at "
        "how it adds them, and at what its sum starts with."
    )


# What it costs ------------------------------------------------------------------------------------

MENDS = {
    "threads": "It has no room for the threads of another block.",
    "blocks": "It can hold no more blocks, however small they are: give each more threads.",
    "shared memory": "Shared memory is what runs out: smaller tiles leave room for more.",
    "registers": "Registers are what runs out: fewer values per thread leave room for more.",
}
UNKNOWN = (
    " (Registers are not counted: only NVIDIA's compiler knows how many the kernel needs. `pip "
    "install -r requirements-compiler.txt` adds it.)"
)
COALESCE = "Let neighbouring threads take neighbouring elements."


def occupancy(
    blocks: int, warps: int, warps_at_most: int, limit: str, registers: int | None
) -> str:
    """How many blocks a multiprocessor holds at once, and what allows no more."""
    source = f" with {registers} registers a thread" if registers else ""
    return (
        f"A multiprocessor holds {blocks} block{'s' * (blocks != 1)} at once, {warps} of "
        f"{warps_at_most} warps{source}. {MENDS[limit]}{'' if registers else UNKNOWN}"
    )


def bank_conflicts(kind: AccessKind, line: int, array: str, taken: float, enough: float) -> str:
    """A line that takes more wavefronts a request than are enough."""
    return (
        f"Line {line} {VERBS[kind]} {array} with bank conflicts: {taken:g} wavefronts a request "
        f"where {enough:g} would be enough."
    )


def scattered(
    kind: AccessKind, line: int, array: str, stride: int, taken: float, enough: float
) -> str:
    """A line that takes more sectors a request than are enough; 0 bytes for no stride."""
    does = f"Line {line} {VERBS[kind]} {array}"
    if stride:
        verb = VERBS[kind].removesuffix("s")
        does = f"On line {line} neighbouring threads {verb} {array} {stride:,} bytes apart"
    return f"{does}: {taken:g} sectors a request where {enough:g} would be enough."


def pad(array: str) -> str:
    """What to do about bank conflicts."""
    return f"Pad the rows of {array}, or swap its indices."


def low_intensity(own: float, tiled: float) -> str:
    """Values come from global memory more often than in the tiled kernel."""
    return (
        f"It moves {own:.2g} bytes of global memory for each operation, the tiled kernel "
        f"{tiled:.2g}: share tiles of A and B in shared memory."
    )


# What to do next ----------------------------------------------------------------------------------

UNCHECKED = "It runs without hazards. Say what it should compute, and its results will be compared."


def filled_by_places(name: str, is_shuffled: bool, arrays: Sequence[str]) -> str:
    """Why an array holds no random digits: its values pick the cells of others."""
    held = "the numbers from 0 on, each once" if is_shuffled else "0, 1, 2, …"
    return f"{name} was filled with {held}, since its values are indices into {joined(arrays)}."


def places_drawn(line: int, array: str, sources: Sequence[str]) -> str:
    """A kernel with hazards that its inputs may cause: which cell is accessed was drawn."""
    held = f"what {joined(sources)} {'holds' if len(sources) == 1 else 'hold'}"
    return (
        f"The values of {joined(sources)} decide which cell of {array} is accessed on line {line}, "
        f"and here {joined(sources)} {'was' if len(sources) == 1 else 'were'} filled at random, "
        "so collisions, or accesses outside the array, say nothing about the kernel. Choose "
        f"{held} under Launch."
    )


def does_not_run(why: str) -> str:
    """No launch came to its end."""
    return f"It does not run: {why}"


def right_at(title: str, count: int, skipped: int, advice: str) -> str:
    """A kernel that is right at some sizes, and what to do about its costs."""
    where = f"{count} sizes" if count > 1 else "one size"
    where += f" ({skipped} more could not be judged)" if skipped else ""
    return f"{title}: right at {where}{f'. {advice}' if advice else ', no hazards.'}"


def wrong_at(is_stopped: bool, found: Mapping[str, int], why: str) -> str:
    """The size at which a kernel is wrong, as the end of a sentence."""
    return f"{'stopped' if is_stopped else 'wrong'} at {size_text(found)}: {why}" if found else why


def wrong_everywhere(where: str) -> str:
    """A kernel that is right at no size, which wrong_at says of one."""
    return where[0].upper() + where[1:]


def right_with_digits(why: str) -> str:
    """A kernel that is wrong only where its arrays hold fractions."""
    return f"Right where its arrays hold digits. {why}"


def wrong_where_ragged(names: Sequence[str], why: str) -> str:
    """A kernel that is wrong only at sizes that its tile does not divide."""
    return f"Right where its tile divides {joined(names)}; {why}"


def wrong_at_some(right: int, of: int, why: str) -> str:
    """A kernel that is right at some sizes, and wrong at others."""
    return f"Right at {right} of {of} sizes; {why}"


def too_large(factor: str, other: str, size: int, line: int, first: int) -> str:
    """A product of an index that passes the largest int, from the value `first` of a factor on."""
    return (
        f"In the file's own launch {other} is {size:,}: there {factor} * {other} on line {line} "
        f"exceeds 2^31 - 1, the largest int, at {factor} = {first:,}. Use size_t for it."
    )


def narrow(name: str, ctype: str, line: int, most: int) -> str:
    """A variable that grows with the blocks and whose type holds no more than so much."""
    return (
        f"line {line}: {name} is of type {ctype}, which holds at most {most:,}: where more blocks "
        f"make {name} larger it starts again, and the result is wrong. Declare {name} as an int."
    )


GUARD_EDGE = "Guard the edge, where the tile does not divide the size"
ONE_WRITER = "Let one thread write this cell, or combine the threads' values with an atomic"
SEPARATE_BLOCKS = "Let the blocks write to another array, or do the next step in a second launch"


def put_barrier(first: int, second: int, within_warp: bool, in_loop: bool) -> str:
    """What to do about a race in shared memory, by the lines of its accesses.

    in_loop: whether a loop may come back to the line, where both are on one.

    >>> put_barrier(7, 7, False, False)
    'Put a __syncthreads() between the read and the write on line 7'
    """
    barrier = barrier_between(within_warp)
    if first > second:
        return f"Put a {barrier} after line {first}, before line {second} comes again"
    if first != second:
        return f"Put a {barrier} between lines {first} and {second}"
    if in_loop:
        return (
            f"Put a {barrier} between the two accesses on line {first}: at the end of the loop's "
            "body, or between the line's read and its write"
        )
    return f"Put a {barrier} between the read and the write on line {first}"


def wait_for_copy(copies: int, accesses: int) -> str:
    """What to do about an access to what is still copied, by the lines of both."""
    return (
        f"Wait for the copy of line {copies} before line {accesses}, with __pipeline_wait_prior() "
        "and then a __syncthreads()"
    )


def hazard(advice: str, message: str, found: Mapping[str, int]) -> str:
    """What to do about a hazard, and at which size it shows, if it has one."""
    return f"{advice}. {seen_at(f'{message[0].upper()}{message[1:]}', found)}"


def seen_at(message: str, found: Mapping[str, int]) -> str:
    """What a launch showed, with its size, if it has one."""
    return f"{message} Seen at {size_text(found)}." if found else message


def computes_instead(title: str, task: str) -> str:
    """A wrong product that is another one."""
    return (
        f"It computes {title}: choose that under Launch, or with --task {task}, if that is meant."
    )


def asks_for_cells(arrays: Sequence[str]) -> str:
    """A question about the arrays whose size nothing tells."""
    is_one = len(arrays) == 1
    return (
        f"How many cells {f'does {arrays[0]}' if is_one else f'do {joined(arrays)}'} have? The "
        f"code does not say, so {'it' if is_one else 'each'} has as many here as the kernel "
        "touches. Give the number, and accesses "
        "beyond it will be reported."
    )


# The sizes to which it is limited -----------------------------------------------------------------

SQUARE = "Right where its grid is square, which the order of its blocks requires."


def whole_tiles(
    tiles: Mapping[str, int],
    lines: Sequence[int],
    rounded: Sequence[tuple[int, str]] = (),
    is_padded: bool = False,
) -> str:
    """A kernel that is right where its tiles divide its sizes, and what any size needs.

    That is a guard for lines, quotients (each by line and text) rounded up, and, where is_padded,
    0 in a shared tile past the edges.
    """
    by_tile: dict[int, list[str]] = {}
    for name, tile in tiles.items():
        by_tile.setdefault(tile, []).append(name)
    divides = ", and ".join(f"{tile} divides {joined(names)}" for tile, names in by_tile.items())
    needs = [f"round {quotient} up on line {line}" for line, quotient in rounded]
    guarded = f"line{'s' * (len(lines) > 1)} {joined([str(line) for line in lines])}"
    needs.append(f"guard {guarded if lines else 'its accesses'}")
    if is_padded:
        needs.append("let a tile hold 0 past the edges")
    before = ", ".join(needs[:-1]) + (", and " if len(needs) > 2 else " and ")
    return f"Right where {divides}. For other sizes {before if len(needs) > 1 else ''}{needs[-1]}."


def whole_vectors(length: int, flags: Sequence[str]) -> str:
    """A kernel that takes several elements at a time, which must divide its sizes.

    flags are those of its parameters that are on: one may choose that.
    """
    right = f"ight where {length} divides its sizes: it processes {length} elements at a time."
    return f"With {joined(flags)} on, r{right}" if flags else f"R{right}"


def one_block(block: Sequence[str], found: Mapping[str, int], axes: Sequence[str]) -> str:
    """A kernel that is right as far as the threads of one block go, and a size beyond them.

    axes are those on which blockIdx is all that its indices need, none where that is not enough.
    """
    threads = " x ".join(side for side in block if side != "1")
    indices = [f"blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}" for axis in axes]
    use = f" For larger sizes use {joined(indices)}." if indices else ""
    return (
        f"Right as long as one block of {threads} threads is enough, wrong at {size_text(found)}: "
        f"without blockIdx more blocks would do the same again.{use}"
    )


# What it seems to be ------------------------------------------------------------------------------

CHOOSE = "Choose what it should compute, and its results will be compared."


def would_compute(title: str, change: str) -> str:
    """A change with which a kernel computes what its name says."""
    return (
        f"If it should compute {title}: {change[0].lower()}{change[1:]} With this change it does."
    )


def holds(title: str) -> str:
    """A task that explains the results of the one launch that was made."""
    return f"It runs without hazards, and here {title} holds. {CHOOSE}"


def is_most_like(titles: Sequence[str]) -> str:
    """One or two tasks that a kernel nearly computes; it may well be meant to compute another."""
    differ = f"differ from {'it' if len(titles) == 1 else 'both'}"
    return (
        f"It runs without hazards. Its results are most like {' or '.join(titles)}, but {differ}, "
        f"as they should if it computes something else. {CHOOSE}"
    )


def _number(value: Number) -> str:
    return value if isinstance(value, str) else format_number(value)
