"""A whole launch, simulated: its counters, its hazards and the arrays it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from simulator.language.ctype import Array
from simulator.language.errors import LaunchError, shorten
from simulator.language.functions import CLOCKS, FENCES
from simulator.language.tree import Kernel
from simulator.language.visit import calls
from simulator.language.waiting import locks
from simulator.launch import Launch, flatten_arguments, unset_constants
from simulator.machine.budget import DEFAULT_SECONDS, Progress
from simulator.machine.machine import Machine
from simulator.machine.schedule import Schedule
from simulator.observers.counters import Counters
from simulator.observers.hazards import readers
from simulator.observers.hazards.findings import Findings, Hazard
from simulator.observers.hazards.observers import hazard_observers
from simulator.observers.hazards.shadow import CELL_BYTES
from simulator.observers.hazards.witness import find_witnesses
from simulator.observers.printed import Printed, PrintedLine
from simulator.observers.written_parameters import written_parameters

MEMORY_BYTES = 700 * 2**20  # of a whole simulated launch
COPIES = 3  # of every array: the caller's, that which the kernel works on, and the result


@dataclass(frozen=True, slots=True)
class Report:
    """What a launch did."""

    counters: Mapping[str, int]  # observers.counters.FIELDS, summed over the warps of the grid
    lines: Mapping[int, Mapping[str, int]]  # by line of the text: FIELDS and IDEAL_FIELDS
    hazards: tuple[Hazard, ...]  # in the order in which they were first seen
    seconds: float  # of the simulation itself, without the search for witnesses
    arrays: Mapping[str, Array]  # the arrays in global memory afterwards, by name
    printed: tuple[PrintedLine, ...] = ()  # the first lines, by block, thread and time
    more_printed: int = 0  # calls of printf by a thread beyond those lines
    notes: tuple[str, ...] = ()  # sentences on what may be wrong and is no hazard


def simulate(
    kernel: Kernel,
    launch: Launch,
    schedule: Schedule = Schedule.ASCENDING,
    seed: int = 0,
    seconds: float = DEFAULT_SECONDS,
    on_progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Run every block of a launch, and report its counters and hazards.

    schedule is the order of a block's warps, one of machine.SCHEDULES; seed is what
    Schedule.RANDOM draws from; seconds is the longest that the run may take; on_progress, if
    given, is called about once a second. Raises
    LaunchError for a launch that no GPU takes, SourceError for what cannot be executed, such as
    an endless loop.

    >>> import numpy as np
    >>> from simulator import Launch, compile_kernel, simulate
    >>> kernel = compile_kernel('''
    ... __global__ void reverse(float* x) {
    ...     float value = x[63 - threadIdx.x];
    ...     x[threadIdx.x] = value;
    ... }''', "reverse")
    >>> launch = Launch((1, 1, 1), (64, 1, 1), {"x": np.arange(64, dtype=np.float32)})
    >>> report = simulate(kernel, launch)
    >>> report.counters["global_load_requests"], report.counters["global_load_sectors"]
    (2, 8)
    >>> [(str(hazard.kind), hazard.lines) for hazard in report.hazards]
    [('write-after-read', (3, 4))]
    """
    check_memory(kernel, launch)
    counters, findings, printed = Counters(), Findings(), Printed()
    observers = [counters, *hazard_observers(findings), printed]
    machine = Machine(kernel, launch, observers, schedule, seed, seconds, on_progress)
    machine.run()
    report = build_report(kernel, launch, machine, counters, findings)
    return replace(report, printed=printed.lines(launch), more_printed=printed.more)


def build_report(
    kernel: Kernel, launch: Launch, machine: Machine, counters: Counters, findings: Findings
) -> Report:
    """The report of a launch that is over, without what it printed; witnesses are looked for.

    machine has the arrays as they are now, and the seconds that the launch took.
    """
    return Report(
        counters=counters.totals,
        lines=counters.lines,
        hazards=find_witnesses(kernel, launch, tuple(findings.hazards.values())),
        seconds=machine.seconds,
        arrays=machine.results(),
        notes=(
            *map(shorten, unset_constants(kernel, launch)), *_clock_note(kernel),
            *_shared_note(kernel), *_lock_note(kernel, launch),
            *findings.all_notes(),
        ),
    )  # fmt: skip


def _shared_note(kernel: Kernel) -> tuple[str, ...]:
    """A sentence on dynamic shared arrays that begin at one address."""
    names = list(dict.fromkeys(one.name for one in kernel.shared if one.dynamic))
    if len(names) < 2:
        return ()
    return (
        f"{' and '.join(names)} are extern __shared__, and all of these begin at one address: what "
        "is stored in one is stored in the others. Declare one, and let pointers into it stand for "
        "the others.",
    )


def _lock_note(kernel: Kernel, launch: Launch) -> tuple[str, ...]:
    """A sentence on a lock that threads of a warp may wait for while another of them holds it."""
    lock = next(locks(kernel.body), None)
    if lock is None or launch.threads == 1:
        return ()
    return (
        f"Line {lock.span.line} waits for a lock. Where another thread of the same warp holds it, "
        "this never ended before Volta (compute capability 7.0), since a warp's threads went on "
        "together; since then each goes on by itself. If one thread of a block takes the lock for "
        "all of them, the loop ends on every GPU, and sooner.",
    )


def _clock_note(kernel: Kernel) -> tuple[str, ...]:
    """A sentence on what clocks count, for a kernel that reads one."""
    if not calls(kernel.body, CLOCKS):
        return ()
    return (
        "clock() and clock64() count the steps that a thread has executed here, statements and "
        "tests of loops: they say nothing about the time on a GPU, and __nanosleep() takes no "
        "time.",
    )


def check_memory(kernel: Kernel, launch: Launch) -> None:
    """Raise LaunchError where the arrays and the shadows of those written take too much memory."""
    arguments = flatten_arguments(kernel, launch.arguments)
    arrays = {known.variable.name: known.first for known in kernel.globals}
    arrays |= {n: a for n, a in arguments.items() if isinstance(a, np.ndarray)}
    written = sum(arrays[name].size for name in written_parameters(kernel) if name in arrays)
    cell_bytes = CELL_BYTES + (readers.CELL_BYTES if calls(kernel.body, FENCES) else 0)
    needed = COPIES * sum(array.nbytes for array in arrays.values()) + cell_bytes * written
    if needed > MEMORY_BYTES:
        raise LaunchError(
            f"Watching this launch takes about {needed / 2**20:,.0f} MiB, "
            f"{cell_bytes * written / 2**20:,.0f} of them for the {written:,} elements that the "
            f"kernel may write; the simulator takes up to {MEMORY_BYTES / 2**20:,.0f} MiB. "
            "Choose smaller matrices."
        )
