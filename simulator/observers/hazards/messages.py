"""The sentences about hazards: what was done, by which threads, to which cell, on which lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulator.language.tree import Barrier, MemorySpace
from simulator.launch import Dim3, Launch, format_index
from simulator.machine.buffers import Buffer, is_null
from simulator.machine.observer import Fault, FaultReason, Stop, WarpFault
from simulator.machine.schedule import Schedule
from simulator.number_format import format_number
from simulator.observers.hazards.findings import Example, Witness
from simulator.observers.hazards.hazard_kind import FAULTS, THREAD, VERBS, HazardKind

SCHEDULE_PHRASES: Mapping[str, str] = {
    Schedule.ASCENDING: "the warps in ascending order",
    Schedule.DESCENDING: "the warps in descending order",
}


def race_message(
    kind: HazardKind,
    lines: tuple[int, ...],
    cell: str,
    example: Example,
    launch: Launch,
    example_is_first: bool,
    during_copy: bool = False,
    of_one_block: bool = False,
) -> str:
    """A race on a cell ("As[0][1]").

    lines are one or two, in the order of RACES. example_is_first: example.thread makes the first of
    the two accesses. during_copy: the first is an asynchronous copy that is not yet waited for.
    of_one_block: both are atomics of two blocks, one of them for the threads of its block alone.
    """
    own_block = f" of block {format_index(example.block, launch.grid)}"
    thread = f"thread {format_index(example.thread, launch.block)}"
    if example.other_block == example.block:
        other = f"thread {format_index(example.other_thread, launch.block)}"
        call = "__syncwarp" if example.within_warp else "__syncthreads"
        between = f", with no {call}() between them"
    else:
        other = "another block"
        if example.other_block is not None:
            other = f"a thread of block {format_index(example.other_block, launch.grid)}"
        between = "; blocks run in no fixed order"
    if during_copy:
        between = "; the copy has not been waited for"
    if of_one_block:
        between = "; an atomic with _block in its name is not atomic for other blocks"
    first, second = (thread, other) if example_is_first else (other, thread)
    if example_is_first or example.other_block == example.block:
        first += own_block
    else:
        second += own_block
    return kind.sentence(
        line=lines[0], first=first, cell=cell, second_line=lines[-1], second=second,
        between=between,
    )  # fmt: skip


def fault_message(fault: Fault, lane: int) -> str:
    """An access outside its array, or at a wrong multiple, by one lane of a group."""
    kind, buffer, offset = FAULTS[fault.reason], fault.buffer, int(fault.offsets[lane])
    size = buffer.element.size
    is_outside = fault.reason is FaultReason.OUT_OF_BOUNDS
    message = kind.sentence(
        "null" if is_outside and is_null(buffer, offset) else fault.reason,
        **_place(fault.lvalue.span.line, *fault.group.thread_of(lane), fault.group.launch),
        verb=VERBS[fault.kind],
        element=offset // size,
        array=buffer.name,
        count=buffer.size // size,
        ctype=buffer.element,
        shape="".join(f"[{n}]" for n in buffer.shape),
        width=fault.width,
        offset=offset,
    )
    if is_outside and buffer.dynamic:
        message += kind.sentence("dynamic", size=buffer.size, array=buffer.name)
    return message


def warp_fault_message(fault: WarpFault, lane: int) -> str:
    """A warp function whose result is undefined for one lane of a group."""
    group = fault.group
    return FAULTS[fault.reason].sentence(
        fault.reason,
        **_place(fault.call.span.line, *group.thread_of(lane), group.launch),
        function=fault.call.function,
        lane=group.warp_lanes[lane],
        other=fault.others[lane],
    )


def stop_message(kind: HazardKind, stop: Stop, lane: int) -> str:
    """A thread that ends the launch: its assert fails, or it comes to a trap."""
    call, group = stop.call, stop.group
    return kind.sentence(
        **_place(call.span.line, *group.thread_of(lane), group.launch),
        function=call.function,
        condition=next(iter(call.texts), ""),
    )


def unset_variable_message(line: int, block: Dim3, thread: Dim3, launch: Launch, name: str) -> str:
    """A variable that is read before it has a value."""
    place = _place(line, block, thread, launch)
    return HazardKind.UNINITIALIZED_READ.sentence("variable", **place, variable=name)


def unset_cell_message(
    line: int, block: Dim3, thread: Dim3, launch: Launch, cell: str, space: MemorySpace
) -> str:
    """A cell of an array that is read before it was written."""
    place = _place(line, block, thread, launch)
    return HazardKind.UNINITIALIZED_READ.sentence("cell", **place, cell=cell, space=space)


def partial_barrier_message(
    barrier: Barrier, block: Dim3, missing: Dim3, launch: Launch, arrived: int
) -> str:
    """A barrier that only `arrived` of a block's threads reach, and not the thread `missing`."""
    return HazardKind.DIVERGENT_BARRIER.sentence(
        **_place(barrier.span.line, block, missing, launch),
        function=barrier.function,
        arrived=arrived,
        threads=launch.threads,
    )


def ended_threads_note(barrier: Barrier, block: Dim3, launch: Launch, ended: int) -> str:
    """A barrier that `ended` of a block's threads do not reach: they end without it."""
    return (
        f"line {barrier.span.line}: {ended} of the {launch.threads} threads of block "
        f"{format_index(block, launch.grid)} end without this {barrier.function}(). A GPU does not "
        "wait for them, but CUDA requires that all threads reach a barrier or none."
    )


def unset_copy_note(line: int, block: Dim3, thread: Dim3, launch: Launch, name: str) -> str:
    """A variable that is copied before it has a value."""
    subject = THREAD.format(**_place(line, block, thread, launch))
    return f"{subject} copies {name}, which has no value yet; nothing depends on it so far."


def same_value_note(
    lines: tuple[int, int], cell: str, places: Sequence[tuple[Dim3, Dim3]], launch: Launch
) -> str:
    """Two threads, each by block and thread, that store the same value in one cell."""
    numbers = " and ".join(str(line) for line in sorted(set(lines)))
    threads = " and ".join(
        f"{format_index(thread, launch.block)} of block {format_index(block, launch.grid)}"
        for block, thread in places
    )
    return (
        f"{'line' if lines[0] == lines[1] else 'lines'} {numbers}: threads {threads} store the "
        f"same value in {cell} in no certain order; the value is the same whichever is last."
    )


def witness_sentence(witness: Witness, launch: Launch, read_line: int | None) -> str:
    """What a witness of a launch shows; read_line is the line of its read, if it has one."""
    order = SCHEDULE_PHRASES.get(witness.order, witness.order)
    if witness.order.startswith(Schedule.RANDOM):
        seed = witness.order.rpartition(" ")[2]
        order = f"the warps in random order (seed {seed})"
    differences = []
    if witness.thread is not None:
        differences.append(
            f"thread {format_index(witness.thread, launch.block)} reads {_format(witness.read)} "
            f"instead of {_format(witness.read_against)} at line {read_line}"
        )
    if witness.output is not None:
        differences.append(
            f"{witness.output} becomes {_format(witness.value)} instead of "
            f"{_format(witness.value_against)}"
        )
    end = "" if witness.against == Schedule.LOCKSTEP else ", which it has in the opposite order"
    return f"With {order}, {', and '.join(differences)}{end}."


def format_cell(buffer: Buffer, index: tuple[int, ...]) -> str:
    """A cell as C writes it: As[0][1], or particles[3].mass."""
    *whole, last = index
    if buffer.members and last < len(buffer.members):
        return buffer.name + "".join(f"[{i}]" for i in whole) + buffer.members[last]
    return buffer.name + "".join(f"[{i}]" for i in index)


def _place(line: int, block: Dim3, thread: Dim3, launch: Launch) -> dict[str, object]:
    """Line, thread and block, as THREAD writes them."""
    return {
        "line": line,
        "thread": format_index(thread, launch.block),
        "block": format_index(block, launch.grid),
    }


def _format(value: float | str | None) -> str:
    return value if isinstance(value, str) else format_number(value, minus="-")
