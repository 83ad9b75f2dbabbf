"""What is said of hazards: what was done, by which threads, to which cell, on which lines; advice.

The observers of hazards say it, so this rests on the machine alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.language.tree import Barrier, MemorySpace
from simulator.launch import Dim3, Launch, format_cell, format_index
from simulator.machine.buffers import is_null
from simulator.machine.observer import AccessKind, Fault, FaultReason, Stop, WarpFault
from simulator.machine.observer import WarpFaultReason as Reason
from simulator.machine.schedule import Schedule
from simulator.number_format import format_number

# What to do about each kind of hazard, where nothing more is known.
FIX_STOP = "Fix what ends the launch"
KEEP_INSIDE = "Keep every access inside its array"
ALIGN = "Align the wide access"
REACH_BARRIER = "Let all threads of a block reach the barrier"
WAIT_BETWEEN = "Let the threads wait for each other between these accesses"
NAME_CALLERS = "In the mask, name the lanes that make the call"
READ_FROM_CALLERS = "Read only from lanes that take part"
SET_FIRST = "Set a value before it is read"

VERBS: Mapping[AccessKind, str] = {
    AccessKind.LOAD: "reads",
    AccessKind.STORE: "writes",
    AccessKind.ATOMIC: "writes",
}
# Why the order of a race's two accesses is not certain.
OF_BLOCKS = "; blocks run in no fixed order"
OF_COPY = "; the copy has not been waited for"
OF_BLOCK_ATOMICS = "; an atomic with _block in its name is not atomic for other blocks"
ORDERS: Mapping[str, str] = {
    Schedule.ASCENDING: "the warps in ascending order",
    Schedule.DESCENDING: "the warps in descending order",
}


def race(
    kinds: tuple[AccessKind, AccessKind],
    lines: Sequence[int],
    cell: str,
    places: tuple[tuple[Dim3, Dim3], tuple[Dim3 | None, Dim3 | None]],
    launch: Launch,
    is_first: bool,
    between: str,
) -> str:
    """A race on a cell ("As[0][1]").

    kinds and lines, one or two, are in the order of RACES; between is why that order is not
    certain. places are block and thread of an access and of the other one; is_first: that access is
    the first of the two.
    """
    (block, one), (other_block, another) = places
    own_block = f" of block {format_index(block, launch.grid)}"
    thread = f"thread {format_index(one, launch.block)}"
    other = "another block"
    if other_block == block:
        other = f"thread {format_index(another, launch.block)}"
    elif other_block is not None:
        other = f"a thread of block {format_index(other_block, launch.grid)}"
    first, second = (thread, other) if is_first else (other, thread)
    if is_first or other_block == block:
        first += own_block
    else:
        second += own_block
    return (
        f"line {lines[0]}: {first} {VERBS[kinds[0]]} {cell}, and {second} {VERBS[kinds[1]]} it on "
        f"line {lines[-1]}{between}."
    )


def of_threads(within_warp: bool) -> str:
    """Why the order of two accesses of one block is not certain."""
    return f", with no {barrier_between(within_warp)} between them"


def barrier_between(within_warp: bool) -> str:
    """The least barrier that orders two accesses of one block."""
    return f"{'__syncwarp' if within_warp else '__syncthreads'}()"


def fault(found: Fault, lane: int) -> str:
    """An access outside its array, or at a wrong multiple, by one lane of a group."""
    buffer, offset = found.buffer, int(found.offsets[lane])
    who = _thread(found.lvalue.span.line, *found.group.thread_of(lane), found.group.launch)
    does, size = f"{who} {VERBS[found.kind]}", buffer.element.size
    if found.reason is FaultReason.MISALIGNED:
        return (
            f"{does} {found.width} bytes of {buffer.name} at byte {offset}, which is not a "
            f"multiple of {found.width}; the access is dropped."
        )
    if is_null(buffer, offset):
        said = f"{does} what a null pointer (nullptr) points to; the access is dropped."
    else:
        declared = format_cell(buffer.name, buffer.shape)
        first, last = offset // size, (offset + found.width - 1) // size
        elements = f"element {first}"
        if last > first:
            elements = f"elements {first} {'to' if last > first + 1 else 'and'} {last}"
        said = (
            f"{does} {elements} of {buffer.name}, an array of {buffer.size // size} "
            f"({buffer.element} {declared}); the access is dropped."
        )
    if buffer.dynamic:
        said += (
            f" The launch gives {buffer.size:,} bytes of dynamic shared memory: give what "
            f"{buffer.name} needs as the third value of <<<grid, block, bytes>>>, which is "
            "--shared in a terminal."
        )
    return said


def warp_fault(found: WarpFault, lane: int) -> str:
    """A warp function whose result is undefined for one lane of a group."""
    group, function, other = found.group, found.call.function, found.others[lane]
    who = _thread(found.call.span.line, *group.thread_of(lane), group.launch)
    match found.reason:
        case Reason.UNNAMED_LANE:
            number = group.warp_lanes[lane]
            return f"{who} calls {function} with a mask that does not name it, lane {number}."
        case Reason.MISSING_LANE:
            return (
                f"{who} waits in {function} for lane {other}, which its mask names but which does "
                f"not call {function} with the same mask: the result is undefined. Call it where "
                "all lanes of the mask arrive, or name only those that do."
            )
        case Reason.ABSENT_SOURCE:
            return (
                f"{who} takes the value of lane {other} with {function}, and that lane does not "
                "take part: the value is undefined."
            )


def stop(found: Stop, lane: int) -> str:
    """A thread that ends the launch: its assert fails, or it comes to a trap."""
    call, group = found.call, found.group
    who = _thread(call.span.line, *group.thread_of(lane), group.launch)
    if call.function == "assert":
        return f"{who} fails assert({next(iter(call.texts), '')}), which ends the launch."
    return f"{who} reaches {call.function}(), which ends the launch."


def unset_variable(line: int, block: Dim3, thread: Dim3, launch: Launch, name: str) -> str:
    """A variable that is read before it has a value."""
    return f"{_thread(line, block, thread, launch)} reads {name}, which has no value yet."


def unset_copy(line: int, block: Dim3, thread: Dim3, launch: Launch, name: str) -> str:
    """A note on a variable that is copied before it has a value."""
    who = _thread(line, block, thread, launch)
    return f"{who} copies {name}, which has no value yet; nothing depends on it so far."


def unset_cell(
    line: int, block: Dim3, thread: Dim3, launch: Launch, cell: str, space: MemorySpace
) -> str:
    """A cell of an array that is read before it was written."""
    who = _thread(line, block, thread, launch)
    return f"{who} reads {cell}, a {space} cell that has no value yet."


def partial_barrier(
    barrier: Barrier, block: Dim3, missing: Dim3, launch: Launch, arrived: int
) -> str:
    """A barrier that only `arrived` of a block's threads reach, and not the thread `missing`."""
    return (
        f"line {barrier.span.line}: {barrier.function}() is reached by only {arrived} of the "
        f"{launch.threads} threads of block {format_index(block, launch.grid)}; thread "
        f"{format_index(missing, launch.block)} does not reach it."
    )


def absent_block(line: int, block: Dim3, launch: Launch) -> str:
    """A block that ends while others wait for it at a barrier of the grid."""
    return (
        f"line {line}: block {format_index(block, launch.grid)} ends without reaching the grid's "
        "sync(), where other blocks wait for it."
    )


def ended_threads(barrier: Barrier, block: Dim3, launch: Launch, ended: int) -> str:
    """A note on a barrier that `ended` of a block's threads do not reach: they end without it."""
    pronoun = "it" if ended == 1 else "them"
    return (
        f"line {barrier.span.line}: {ended} of the {launch.threads} threads of block "
        f"{format_index(block, launch.grid)} end{'s' * (ended == 1)} without reaching this "
        f"{barrier.function}(). A GPU does not wait for {pronoun}, but CUDA requires that all "
        "threads reach a barrier or none."
    )


def same_value(
    lines: tuple[int, int], cell: str, places: Sequence[tuple[Dim3, Dim3]], launch: Launch
) -> str:
    """A note on two threads, each by block and thread, that store the same value in one cell.

    lines, which may be one, are in ascending order.
    """
    numbers = " and ".join(map(str, dict.fromkeys(lines)))
    who = " and ".join(
        f"thread {format_index(thread, launch.block)} of block {format_index(block, launch.grid)}"
        for block, thread in places
    )
    return (
        f"{'line' if lines[0] == lines[1] else 'lines'} {numbers}: {who} store the same value in "
        f"{cell}. Which of them is first is not certain, but the result is the same."
    )


def first_hazards(count: int) -> str:
    """A note on a report that has only the first of its hazards."""
    return f"Of the hazards the first {count} are shown."


def other_read(
    thread: str, cell: str, value: float | str, reference: float | str, line: int
) -> str:
    """What a thread reads in a cell in one order of the warps, and in the reference order."""
    return (
        f"thread {thread} reads {_number(value)} from {cell} instead of {_number(reference)} on "
        f"line {line}"
    )


def other_result(cell: str, value: float | str, reference: float | str) -> str:
    """How a cell ends in one order of the warps, and in the reference order."""
    return f"{cell} becomes {_number(value)} instead of {_number(reference)}"


def witness(order: str, against: str, differences: Sequence[str], is_one_chain: bool = True) -> str:
    """What is different with one order of the warps or blocks from another.

    is_one_chain: the second of two differences is a direct effect of the first.
    """
    said = ORDERS.get(order, order)
    if order.startswith(Schedule.RANDOM):
        said = f"the warps in random order (seed {order.rpartition(' ')[2]})"
    other = "" if against == Schedule.LOCKSTEP else " rather than the other way round"
    link = ", and " if is_one_chain else "; among the results, "
    return f"With {said}{other}, {link.join(differences)}."


def _thread(line: int, block: Dim3, thread: Dim3, launch: Launch) -> str:
    """Line, thread and block, with which a sentence begins."""
    return (
        f"line {line}: thread {format_index(thread, launch.block)} of block "
        f"{format_index(block, launch.grid)}"
    )


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else format_number(value, minus="-")
