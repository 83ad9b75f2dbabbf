"""Recorded traces: what `python -m gpu record` wrote of the GPU's clock."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from gpu import recorded
from gpu.device import Device
from gpu.json_data import decode
from gpu.trace.trace import Level, Trace
from simulator.broken_file import Broken, BrokenFileError, log

FOLDER = recorded.FOLDER / "traces"
SUFFIX = ".json.gz"  # compressed: every block of every kernel has its place and time in it


@dataclass(frozen=True, slots=True)
class RecordedTraces:
    """The traces of one GPU on one day."""

    file: str  # its name, without a folder
    when: datetime  # UTC
    device: Device
    traces: tuple[Trace, ...]

    def find(
        self, kernel: str, size: tuple[int, int, int], level: Level = Level.PHASES
    ) -> Trace | None:
        """The trace of a kernel, as gpu.candidate.choose takes it; None without one."""
        wanted = (kernel, size, level)
        found = (one for one in self.traces if (one.kernel, one.size, one.level) == wanted)
        return next(found, None)


@dataclass(frozen=True, slots=True)
class TracesFile:
    """A file of traces as it stands in JSON, without its format and date."""

    device: Device
    traces: tuple[Trace, ...]


def write(traces: Sequence[Trace], device: Device, folder: Path, when: datetime) -> Path:
    """Write traces of a device; the path, which names the device."""
    file: dict[str, Any] = msgspec.to_builtins(TracesFile(device, tuple(traces)))
    compact = json.dumps(recorded.with_date(file, when), separators=(",", ":"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recorded.slug(device.name)}{SUFFIX}"
    path.write_bytes(gzip.compress(compact.encode(), mtime=0))  # the same bytes each time
    return path


def read(path: Path) -> RecordedTraces:
    """One file of traces. BrokenFileError where it is not one."""
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, ValueError) as error:
        broken = Broken(path.name, 1, f"It cannot be unpacked: {error}.")
        raise BrokenFileError(broken) from None

    def parse(found: dict[str, Any], when: datetime) -> RecordedTraces:
        file = decode(TracesFile, found, "The recording")
        return RecordedTraces(path.name, when, file.device, file.traces)

    return recorded.parse_text(path.name, text, parse)


def same_device(folder: Path, device: Device) -> tuple[Trace, ...]:
    """The folder's traces of a device with the same name and driver.

    BrokenFileError where the device's file holds none.
    """
    path = folder / f"{recorded.slug(device.name)}{SUFFIX}"
    if not path.exists():
        return ()
    run = read(path)
    found = run.device.name, run.device.driver
    return run.traces if found == (device.name, device.driver) else ()


def recorded_traces(folder: Path | None = None) -> tuple[RecordedTraces, ...]:
    """Every file of traces in the folder, else in FOLDER, newest first; none that is broken."""
    return _read_folder(folder or FOLDER)


@functools.cache
def _read_folder(folder: Path) -> tuple[RecordedTraces, ...]:
    runs = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            runs.append(read(path))
        except BrokenFileError as error:
            log(error.broken)
    return tuple(sorted(runs, key=lambda run: run.when, reverse=True))
