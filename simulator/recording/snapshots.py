"""What the arrays of a memory hold after each store: held as what has changed, read as arrays."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from simulator.language.ctype import Array

MOST_CHANGES = 64  # reading an array makes no more of them: it would take long
LATEST = 16  # arrays that were read last and stay: steps in sequence have the same ones
EMPTY = sys.getsizeof(np.zeros(0))  # bytes of an array without elements


@dataclass(slots=True, eq=False)
class _Run:
    """An array's contents at one time, and what each store after it has changed."""

    whole: Array
    # Cells of the flat array, int [n] or a slice, and what they hold from then on, [n].
    changes: list[tuple[Array | slice, Array]] = field(default_factory=list)
    bytes: int = 0  # of the changes


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """An array's contents at one time."""

    run: _Run
    count: int  # of the run's changes, those that were made by then

    def array(self) -> Array:
        """The contents, in the array's shape, which must not be written."""
        return _contents(self.run, self.count) if self.count else self.run.whole


@functools.lru_cache(maxsize=LATEST)
def _contents(run: _Run, count: int) -> Array:
    whole = run.whole.copy()
    flat = whole.reshape(-1)
    for cells, values in run.changes[:count]:
        flat[cells] = values
    whole.flags.writeable = False
    return whole


class Contents(Mapping[str, Array]):
    """What the arrays of a memory hold at one time, by name.

    An array is composed when it is asked for: asked again later, it may be another object.
    """

    __slots__ = ("_snapshots",)

    def __init__(self, snapshots: Mapping[str, Snapshot]) -> None:
        self._snapshots = snapshots

    def __getitem__(self, name: str) -> Array:
        """An array in its shape, which must not be written."""
        return self._snapshots[name].array()

    def __contains__(self, name: object) -> bool:
        """Whether there is an array of that name; it is not composed."""
        return name in self._snapshots

    def __iter__(self) -> Iterator[str]:
        """The arrays' names."""
        return iter(self._snapshots)

    def __len__(self) -> int:
        """How many arrays there are."""
        return len(self._snapshots)


class Memory:
    """The arrays of a memory while they change."""

    def __init__(self) -> None:
        self.bytes = 0  # of its snapshots
        self._latest: dict[str, Array] = {}
        self._snapshots: dict[str, Snapshot] = {}
        self._contents: Contents | None = Contents({})

    def contents(self) -> Contents:
        """What the arrays hold now; the same object until they change."""
        if self._contents is None:
            held = dict(self._snapshots)
            self._contents = Contents(held)
            self.bytes += sys.getsizeof(held) + sys.getsizeof(self._contents)
        return self._contents

    def update(self, name: str, whole: Array) -> None:
        """Take a snapshot of an array; whole is what it holds now, and is not written again."""
        before = self._latest.get(name)
        self._latest[name] = whole
        if before is not None:
            cells = np.flatnonzero(_bits(whole) != _bits(before))
            if not cells.size or self._change(name, whole, cells):
                return
        self._keep(name, Snapshot(_Run(whole), 0), sys.getsizeof(whole))

    def mark(self, name: str, cells: Array | slice, shape: tuple[int, ...]) -> None:
        """Set cells of the flat array, bool in its shape, which is made if there is none."""
        before = self._latest.get(name)
        if before is not None and before.reshape(-1)[cells].all():
            return
        whole = np.zeros(shape, np.bool_) if before is None else before.copy()
        whole.reshape(-1)[cells] = True
        self.update(name, whole)

    def _change(self, name: str, whole: Array, cells: Array) -> bool:
        """Take a snapshot as what has changed, unless the whole array takes no more."""
        run = self._snapshots[name].run
        first, last = int(cells[0]), int(cells[-1]) + 1
        at = slice(first, last) if last - first == cells.size else cells.astype(np.int32)
        values = whole.reshape(-1)[cells]
        change = at, values
        size = sum(map(sys.getsizeof, (at, values, change)))
        if len(run.changes) == MOST_CHANGES or run.bytes + size > run.whole.nbytes + EMPTY:
            return False
        run.changes.append(change)
        run.bytes += size
        self._keep(name, Snapshot(run, len(run.changes)), size)
        return True

    def _keep(self, name: str, snapshot: Snapshot, size: int) -> None:
        self._snapshots[name] = snapshot
        self._contents = None
        self.bytes += size + sys.getsizeof(snapshot)


def _bits(array: Array) -> Array:
    """An array's elements, flat, as whole numbers of their size: what differs in a bit differs."""
    return array.reshape(-1).view(f"u{array.itemsize}")
