"""Recorded traces: what `python -m gpu record` wrote of the GPU's clock."""

from __future__ import annotations

import functools
import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Any, overload

import msgspec

from gpu import recorded
from gpu.cuda.device import Device
from gpu.json_data import decode
from gpu.trace.trace import Block, Interval, Level, Trace, trace_from
from simulator.broken_file import Broken, BrokenFileError

FOLDER = recorded.FOLDER / "traces"
SUFFIX = ".json.xz"  # packed: every block of every kernel has its place and time in it


@dataclass(frozen=True, slots=True)
class RecordedTraces:
    """The traces of one GPU on one day."""

    file: str  # its name, without a folder
    when: datetime  # UTC
    device: Device
    traces: Sequence[Trace]

    @property
    def outlines(self) -> tuple[Trace, ...]:
        """The traces without their blocks, which take long to unpack."""
        packed = self.traces
        if isinstance(packed, PackedTraces):
            return packed.outlines
        return tuple(replace(one, blocks=()) for one in packed)

    def find(
        self, kernel: str, size: tuple[int, int, int], level: Level = Level.PHASES
    ) -> Trace | None:
        """The trace of a kernel, as gpu.candidate.choose takes it; None without one."""
        wanted = (kernel, size, level)
        found = (
            number
            for number, one in enumerate(self.outlines)
            if (one.kernel, one.size, one.level) == wanted
        )
        number = next(found, None)
        return None if number is None else self.traces[number]


@dataclass(frozen=True, slots=True)
class Columns:
    """All blocks of a trace as a file has them: in columns of small numbers, which pack well."""

    x: tuple[int, ...]  # of each block
    y: tuple[int, ...]
    multiprocessor: tuple[int, ...]
    start: tuple[int, ...]  # nanoseconds since the block before it began
    life: tuple[int, ...]  # nanoseconds
    whole: tuple[int, ...]  # the numbers of the blocks that were traced whole
    warps: tuple[int, ...]  # how many intervals there are of each warp, block after block
    phase: tuple[int, ...]  # of each interval
    tile: tuple[int, ...]
    gap: tuple[int, ...]  # cycles since the warp's interval before it
    cycles: tuple[int, ...]


def _columns(blocks: Sequence[Block]) -> Columns:
    whole = [number for number, block in enumerate(blocks) if block.warps]
    warps = [warp for number in whole for warp in blocks[number].warps]
    intervals = [one for warp in warps for one in warp]
    starts = [block.start for block in blocks]
    before = [end for warp in warps for end in (0, *(one.end for one in warp))[: len(warp)]]
    return Columns(
        x=tuple(block.x for block in blocks),
        y=tuple(block.y for block in blocks),
        multiprocessor=tuple(block.multiprocessor for block in blocks),
        start=tuple(now - before for before, now in pairwise((0, *starts))),
        life=tuple(block.end - block.start for block in blocks),
        whole=tuple(whole),
        warps=tuple(map(len, warps)),
        phase=tuple(one.phase for one in intervals),
        tile=tuple(one.tile for one in intervals),
        gap=tuple(one.begin - end for one, end in zip(intervals, before, strict=True)),
        cycles=tuple(one.end - one.begin for one in intervals),
    )


def _blocks(columns: Columns) -> tuple[Block, ...]:
    """The blocks of columns, which fit each other."""
    rows = zip(columns.phase, columns.tile, columns.gap, columns.cycles, strict=True)
    warps = []
    for count in columns.warps:
        warp, at = list[Interval](), 0
        for phase, tile, gap, cycles in islice(rows, count):
            begin, at = at + gap, at + gap + cycles
            warp.append(Interval(phase, tile, begin, at))
        warps.append(tuple(warp))
    each = len(warps) // max(1, len(columns.whole))
    traced = {
        number: tuple(warps[place * each : (place + 1) * each])
        for place, number in enumerate(columns.whole)
    }
    starts = accumulate(columns.start)
    return tuple(
        Block(x, y, multiprocessor, start, start + life, traced.get(number, ()))
        for number, (x, y, multiprocessor, start, life) in enumerate(
            zip(columns.x, columns.y, columns.multiprocessor, starts, columns.life, strict=True)
        )
    )


class PackedTraces(Sequence[Trace]):
    """Traces of which each has its blocks unpacked once it is asked for, and then kept."""

    def __init__(self, outlines: tuple[Trace, ...], columns: tuple[Columns, ...]) -> None:
        """The traces without blocks, and the blocks of each. ValueError where columns misfit."""
        self.outlines = outlines
        self._columns = columns
        self._whole: dict[int, Trace] = {}
        for one in columns:
            _check(one)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.outlines)

    @overload
    def __getitem__(self, index: int) -> Trace: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Trace, ...]: ...
    def __getitem__(self, index: int | slice) -> Trace | tuple[Trace, ...]:
        """One of them with its blocks, or some."""
        if isinstance(index, slice):
            return tuple(self[number] for number in range(*index.indices(len(self))))
        number = range(len(self))[index]
        if number not in self._whole:
            outline = self.outlines[number]
            self._whole[number] = replace(outline, blocks=_blocks(self._columns[number]))
        return self._whole[number]


def _check(columns: Columns) -> None:
    """ValueError where columns do not fit each other."""
    blocks = (columns.x, columns.y, columns.multiprocessor, columns.start, columns.life)
    intervals = (columns.phase, columns.tile, columns.gap, columns.cycles)
    lengths = {len(column) for column in blocks}, {len(column) for column in intervals}
    if len(lengths[0]) > 1 or lengths[1] != {sum(columns.warps)}:
        raise ValueError("A trace's columns of blocks are not of one length.")


@dataclass(frozen=True, slots=True)
class TracesFile:
    """A file of traces as JSON, without its format and date."""

    device: Device
    traces: tuple[dict[str, Any], ...]  # each a Trace's object, but for its blocks, which are
    # Columns


def write(traces: Sequence[Trace], device: Device, folder: Path, when: datetime) -> Path:
    """Write traces of a device; the path, which names the device."""
    kept = tuple(
        replace(trace, blocks=()).to_json()
        | {"blocks": msgspec.to_builtins(_columns(trace.blocks))}
        for trace in traces
    )
    file: dict[str, Any] = msgspec.to_builtins(TracesFile(device, kept))
    compact = json.dumps(recorded.with_date(file, when), separators=(",", ":"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recorded.slug(device.name)}{SUFFIX}"
    path.write_bytes(lzma.compress(compact.encode(), preset=9 | lzma.PRESET_EXTREME))
    return path


def read(path: Path) -> RecordedTraces:
    """One file of traces. BrokenFileError where it is not one."""
    try:
        text = lzma.decompress(path.read_bytes()).decode()
    except (OSError, ValueError, lzma.LZMAError) as error:
        broken = Broken(path.name, 1, f"It cannot be unpacked: {error}.")
        raise BrokenFileError(broken) from None

    def parse(found: dict[str, Any], when: datetime) -> RecordedTraces:
        file = decode(TracesFile, found, "The recording")
        columns = [decode(Columns, one.get("blocks"), "A trace's blocks") for one in file.traces]
        outlines = [trace_from(one | {"blocks": []}) for one in file.traces]
        traces = PackedTraces(tuple(outlines), tuple(columns))
        return RecordedTraces(path.name, when, file.device, traces)

    return recorded.parse_text(path.name, text, parse)


def same_device(folder: Path, device: Device) -> tuple[Trace, ...]:
    """The folder's traces of a device with the same name and driver.

    BrokenFileError where the device's file holds none.
    """
    path = folder / f"{recorded.slug(device.name)}{SUFFIX}"
    run = read(path) if path.exists() else None
    return () if run is None or not recorded.is_same(run.device, device) else tuple(run.traces)


def recorded_traces(folder: Path | None = None) -> tuple[RecordedTraces, ...]:
    """Every file of traces in the folder, else in FOLDER, newest first; none that is broken."""
    return _read_folder(folder or FOLDER)


def traces_of_one_gpu_first() -> tuple[RecordedTraces, ...]:
    """Every file of traces in FOLDER: of the GPU of the newest comparisons first, then the newest.

    So the clock, the times and the counters that are shown together are of one GPU.
    """
    compared = next((run.device.name for run in recorded.recordings().runs), "")
    return tuple(sorted(recorded_traces(), key=lambda run: run.device.name != compared))


@functools.cache
def _read_folder(folder: Path) -> tuple[RecordedTraces, ...]:
    runs, _ = recorded.read_folder(folder, read, SUFFIX)
    return tuple(sorted(runs, key=lambda run: run.when, reverse=True))
