"""Runs of a kernel whose arrays have room for anything: which cells it touches, and what it stores.

Nothing is known yet of how large the arrays are to be, nor of the grid. Sizes get different values,
so that what follows from one of them can be distinguished from what follows from another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simulator.language.ctype import Array, Pointer, Scalar, Vector
from simulator.language.errors import LaunchError, SourceError
from simulator.language.tree import Kernel, MemorySpace
from simulator.launch import Dim3, Launch
from simulator.machine.machine import Machine
from simulator.machine.observer import Access, AccessKind, Fault, Observer
from simulator.machine.schedule import Schedule
from simulator.verdict.form import ArrayArgument, Contents, LaunchForm, NumberArgument
from simulator.verdict.launches import build_launch
from simulator.verdict.parameters import atomic_parameters, byte_pitches, is_whole, numbers_of
from simulator.verdict.strides import find_flags, find_strides

ROOM = 2**21  # elements of each array
PITCH = 6144  # bytes from row to row, where they are passed: all rows that are tried have room
FLOATS = ("2", "3", "1")  # values of the first, second and any other float parameter
COUNTED = re.compile(r"batch|heads|planes|channels", re.IGNORECASE)  # each is a block's, or more
# Two values of what is small by its name: neighbourhoods, bins, matrices in a batch.
SMALL = (
    (re.compile(r"radius|halo", re.IGNORECASE), (2, 3)),
    (re.compile(r"mask|filter|^k(ernel)?_?(size|w|h|width|height|len(gth)?)$|taps|^window$",
                re.IGNORECASE), (3, 5)),
    (re.compile(r"bins|levels|buckets|classes", re.IGNORECASE), (10, 16)),
    (re.compile(r"^pad(ding)?$|^pool(_?size)?$|dilation", re.IGNORECASE), (2, 3)),
    (COUNTED, (2, 3)),
)  # fmt: skip
SECONDS = 6.0  # of a processor, for one run
BLOCK_SECONDS = 2.5  # for single blocks; most take a tenth of one

Sizes = Mapping[str, int]


class MayNeverEndError(Exception):
    """A run that used its time up in a loop that no counter seems to end: no other will end."""


def run_to_end(machine: Machine, blocks: Sequence[int] | None) -> None:
    """Run some blocks, by their linear numbers, or all.

    Raises LaunchError, SourceError, MayNeverEndError.
    """
    try:
        machine.run(None if blocks is None else np.array(blocks))
    except SourceError as error:
        if error.may_never_end:
            raise MayNeverEndError from error
        raise


class Touches(Observer):
    """Which cells of global memory a run touches."""

    def __init__(self, has_marks: bool = False) -> None:
        self._has_marks = has_marks
        self.first: dict[str, int] = {}  # by array, the lowest cell that is loaded or stored
        self.first_stored: dict[str, int] = {}  # by array, the lowest cell that is stored
        self.cells: dict[str, int] = {}  # by array, one more than the highest cell
        self.stored: set[str] = set()  # the arrays that are stored to
        self.loaded: set[str] = set()
        self.has_faults = False  # whether an access was below its array, or beyond its room
        self.marks: dict[str, Array] = {}  # by array, which of its cells are touched

    def on_fault(self, fault: Fault) -> None:
        """Note it."""
        self.has_faults = True

    def on_access(self, access: Access) -> None:
        """Keep how far it reaches."""
        name = access.buffer.name
        if access.buffer.space is not MemorySpace.GLOBAL:
            return
        cells = access.cells()[0]
        self.first[name] = min(self.first.get(name, ROOM), int(cells.min()))
        self.cells[name] = max(self.cells.get(name, 0), int(cells.max()) + 1)
        if self._has_marks:
            self.marks.setdefault(name, np.zeros(access.buffer.size, bool))[cells] = True
        if access.kind is not AccessKind.STORE:
            self.loaded.add(name)
        if access.kind is not AccessKind.LOAD:
            self.stored.add(name)
            self.first_stored[name] = min(self.first_stored.get(name, ROOM), int(cells.min()))


@dataclass(frozen=True, slots=True)
class Run:
    """What one launch did."""

    launch: Launch
    touches: Touches
    results: Mapping[str, Array]  # of a whole launch; of single blocks what was there before


@dataclass(slots=True)
class Experiment:
    """A kernel, a block, and arrays with room; raises LaunchError where it takes others."""

    kernel: Kernel
    block: tuple[str, str, str]
    shared_bytes: str
    contents: Contents = Contents.FRACTIONS
    # Parameters whose numbers, and whose arrays' first cells, are known.
    given: Mapping[str, Any] = field(default_factory=dict)
    # What is drawn in the first run, by parameter; given by experiments with other blocks.
    arrays: dict[str, Array] = field(default_factory=dict)
    sizes: list[str] = field(default_factory=list)  # the parameters that may be sizes
    # Strides, each with the elements that it has: room for all rows, where nothing says more.
    strides: dict[str, int] = field(default_factory=dict)
    has_faults: bool = False  # whether any run had an access outside of all room
    _numbers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the parameters; LaunchError for one that gets no array of numbers."""
        floats, pitches = iter(FLOATS), byte_pitches(self.kernel)
        strides, flags = find_strides(self.kernel), find_flags(self.kernel)
        for one in self.kernel.parameters:
            if one.name in self.given and isinstance(one.ctype, Scalar):
                number = self.given[one.name]
                self._numbers[one.name] = str(int(number) if is_whole(one.ctype) else number)
            elif one.name in pitches:
                self._numbers[one.name] = str(PITCH)
            elif one.name in strides:
                self.strides[one.name] = strides[one.name].room
            elif is_whole(one.ctype) and one.ctype.size > 1 and one.name not in flags:
                self.sizes.append(one.name)
            elif isinstance(one.ctype, Scalar):
                self._numbers[one.name] = next(floats, FLOATS[-1]) if one.ctype.is_float else "1"
            elif numbers_of(one.ctype) is None:
                raise LaunchError(f"{one.name} is not an array of numbers.")

    def form(self, sizes: Sizes, grid: Dim3) -> LaunchForm:
        """The form of a launch with room."""
        atomic = atomic_parameters(self.kernel)
        known = {**self._numbers, **self.strides, **sizes}
        return LaunchForm(
            grid=(str(grid[0]), str(grid[1]), str(grid[2])),
            block=self.block,
            shared_bytes=self.shared_bytes,
            arguments=tuple(
                ArrayArgument(one.name, "1", str(ROOM // _length(one.ctype)),
                              Contents.ZEROS if one.name in atomic else self.contents)
                if isinstance(one.ctype, Pointer)
                else NumberArgument(one.name, str(known.get(one.name)))
                for one in self.kernel.parameters
            ),
        )  # fmt: skip

    def run(
        self, sizes: Sizes, grid: Dim3, blocks: Sequence[int] | None = None, has_marks: bool = False
    ) -> Run:
        """Run some blocks of a grid, by their linear numbers, or all; LaunchError, SourceError.

        has_marks is whether to note each cell that is touched.
        """
        form = self.form(sizes, grid)
        if not self.arrays:
            launch = build_launch(self.kernel, form)
            self.arrays.update((one.name, launch.arguments[one.name]) for one in form.arrays)
            for name, array in self.arrays.items():
                first = np.asarray(self.given.get(name, ())).reshape(-1)
                array.reshape(-1)[: first.size] = first
        bare = build_launch(self.kernel, replace(form, arguments=tuple(form.numbers)))
        launch = replace(bare, arguments={**bare.arguments, **self.arrays})
        touches = Touches(has_marks)
        seconds = SECONDS if blocks is None else BLOCK_SECONDS
        machine = Machine(self.kernel, launch, [touches], Schedule.LOCKSTEP, seconds=seconds)
        run_to_end(machine, blocks)
        self.has_faults = self.has_faults or touches.has_faults
        results = machine.results(touches.stored) if blocks is None else {}
        return Run(launch, touches, {**self.arrays, **results})

    def try_run(self, sizes: Sizes, grid: Dim3, has_marks: bool = False) -> Run | None:
        """As run; None where it is refused."""
        try:
            return self.run(sizes, grid, None, has_marks)
        except (LaunchError, SourceError):
            return None


def small_value(name: str, number: int = 0) -> int | None:
    """The first or second value of a size that is small by its name; None for any other."""
    return next((few[number] for pattern, few in SMALL if pattern.search(name)), None)


def _length(ctype: Pointer) -> int:
    return ctype.target.length if isinstance(ctype.target, Vector) else 1
