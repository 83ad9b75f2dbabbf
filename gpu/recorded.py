"""Recorded comparisons: what `python -m gpu record` wrote on a GPU, for where there is none."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from gpu.bits import BitVerdict
from gpu.comparison import Comparison
from gpu.cuda.device import Device
from gpu.cuda.microbenchmarks.limits import Limits, limits_from
from gpu.json_data import decode
from gpu.shapes.plan import Table
from gpu.shapes.shape import Shape, Shapes
from simulator.broken_file import Broken, BrokenFileError, log, read_text
from simulator.language.errors import LaunchError

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "recorded"
FORMAT = 1
PAST_L1 = "-Xptxas=-dlcm=cg"  # of nvcc: what is loaded from global memory is not kept in L1
NONE_CAME = "No recorded run came with this copy of Tilewise."
PATH = re.compile(r"(?:'s|Its) (?P<path>[\w.\[\]]+)")  # in a sentence of decode
KEY = re.compile(r"(?P<name>\w+)(?:\[(?P<index>\d+)\])?")
Run = TypeVar("Run")


@dataclass(frozen=True, slots=True)
class RecordingFile:
    """A recording's file as JSON, without the optional keys of Limits."""

    comparisons: tuple[Comparison, ...]  # at least one
    bits: tuple[BitVerdict, ...] = ()  # empty in a recording made before they were measured
    shapes: tuple[Shape, ...] = ()  # empty in a recording made before shapes were
    shape_table: Table | None = None  # what their kernels were chosen by
    without_l1: Comparison | None = None  # kernels as usual, and with loads past the L1 cache


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun(RecordingFile):
    """Comparisons measured on one device on one day."""

    file: str  # its name, without a folder
    when: datetime  # UTC
    device: Device
    limits: Limits | None  # None in a recording made before they were measured

    @property
    def sizes(self) -> tuple[tuple[int, int, int], ...]:
        """M, N, K of each comparison."""
        return tuple(comparison.size for comparison in self.comparisons)

    @property
    def shapes_run(self) -> Shapes | None:
        """The run over shapes, with the table that chose their kernels."""
        return Shapes(self.device, self.shape_table, self.shapes) if self.shape_table else None


@dataclass(frozen=True, slots=True)
class Dated:
    """What every recording's file has beside its format, as JSON."""

    recorded: str  # ISO 8601, with a time zone


@dataclass(frozen=True, slots=True)
class Recordings:
    """The recordings of a folder."""

    runs: tuple[RecordedRun, ...]  # newest first
    problems: tuple[Broken, ...]  # files that cannot be read


def slug(name: str) -> str:
    """A GPU's name as a file's: "NVIDIA H200" becomes "nvidia-h200"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "gpu"


def write(
    comparisons: Sequence[Comparison],
    folder: Path,
    when: datetime,
    limits: Limits | None = None,
    bits: Sequence[BitVerdict] = (),
    shapes: Shapes | None = None,
    without_l1: Comparison | None = None,
) -> Path:
    """Write a recording of at least one comparison; its path.

    It has the keys `ceilings`, `latency`, `bits`, `shapes`, `shape_table` and `without_l1` if
    these were measured.
    """
    device = comparisons[0].device
    recording: dict[str, Any] = {
        "device": comparisons[0].to_json()["device"],
        "comparisons": [comparison.to_json() for comparison in comparisons],
    }
    if limits:
        recording |= dataclasses.asdict(limits)
    if bits:
        recording["bits"] = [dataclasses.asdict(verdict) for verdict in bits]
    if shapes:
        run = shapes.to_json()
        recording |= {"shapes": run["shapes"], "shape_table": run["table"]}
    if without_l1:
        recording["without_l1"] = without_l1.to_json()
    return write_file(recording, folder / f"{slug(device.name)}.json", when)


def beside(earlier: Sequence[Comparison], later: Comparison) -> list[Comparison]:
    """The earlier comparisons with a later one, instead of what they have of its size and kernels.

    A ratio belongs to the run that it was measured in: cuBLAS's row is the later one's where no
    kernel of its precision is an earlier one's.
    """
    same = next((comparison for comparison in earlier if comparison.size == later.size), None)
    if same is None:
        return [*earlier, later]
    again = {kernel.name: kernel for kernel in later.kernels}
    kept = {
        kernel.element
        for kernel in same.kernels
        if kernel.source is not None and kernel.name not in again
    }
    rows = [
        kernel
        if kernel.source is None and kernel.element in kept
        else again.get(kernel.name, kernel)
        for kernel in same.kernels
    ]
    known = {kernel.name for kernel in rows}
    rows += [kernel for kernel in later.kernels if kernel.name not in known]
    rows.sort(key=lambda kernel: kernel.source is None)  # cuBLAS last
    merged = dataclasses.replace(same, kernels=tuple(rows))
    return [merged if comparison is same else comparison for comparison in earlier]


def write_file(recording: Mapping[str, Any], path: Path, when: datetime) -> Path:
    """Write a recording's keys, with its format and date before them; the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    dated = with_date(recording, when)
    path.write_text(json.dumps(dated, indent=1) + "\n", encoding="utf-8")
    return path


def with_date(recording: Mapping[str, Any], when: datetime) -> dict[str, Any]:
    """A recording's keys, with the format and the date before them."""
    recorded = when.astimezone(UTC).isoformat(timespec="seconds")
    return {"format": FORMAT, "recorded": recorded, **recording}


def parse_text(name: str, text: str, parse: Callable[[dict[str, Any], datetime], Run]) -> Run:
    """The same of the text of a file of that name."""
    try:
        found: Any = json.loads(text)
    except json.JSONDecodeError as error:
        broken = Broken(name, error.lineno, f"This is not JSON: {error.msg}.")
        raise BrokenFileError(broken) from None
    try:
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"It is not a recording of format {FORMAT}.")
        when = datetime.fromisoformat(decode(Dated, found, "The recording").recorded)
        if when.tzinfo is None:
            raise ValueError("Its date has no time zone.")
        return parse(found, when)
    except ValueError as error:
        line = json_line(text, str(error))
        raise BrokenFileError(Broken(name, line, str(error))) from None


def json_line(text: str, sentence: str) -> int:
    """The line, in JSON as write_file writes it, of the path that a sentence of `decode` names.

    An item of a list is found by its key that the path names next.

    >>> json_line('{"a": [\\n {"b": 1},\\n {"b": ""}]}', "The file's a[1].b is wrong.")
    3
    """
    named = PATH.search(sentence)
    start, count = 0, 1
    for key in KEY.finditer(named["path"] if named else ""):
        found = [one.start() for one in re.finditer(rf'"{key["name"]}":', text[start:])][:count]
        if len(found) < count:
            break
        start += found[-1]
        count = int(key["index"] or 0) + 1
    return text.count("\n", 0, start) + 1


def read_folder(
    folder: Path, read: Callable[[Path], Run], suffix: str = ".json"
) -> tuple[tuple[Run, ...], tuple[Broken, ...]]:
    """What `read` makes of each recording in the folder, and which it cannot read."""
    runs, problems = [], []
    for path in sorted(folder.glob(f"*{suffix}")):
        try:
            runs.append(read(path))
        except BrokenFileError as error:
            log(error.broken)
            problems.append(error.broken)
    return tuple(runs), tuple(problems)


def read(path: Path) -> RecordedRun:
    """One recording. BrokenFileError where the file is not one."""
    return _read_text(path.name, read_text(path))


@functools.lru_cache(8)  # the parts of a page ask for the same files
def _read_text(name: str, text: str) -> RecordedRun:
    """The recording that a file of that name holds."""

    def parse(found: dict[str, Any], when: datetime) -> RecordedRun:
        file = decode(RecordingFile, found, "The recording")
        if not file.comparisons:
            raise ValueError("It has no comparisons.")
        limits = limits_from(found) if "ceilings" in found or "latency" in found else None
        device = file.comparisons[0].device
        return RecordedRun(
            file.comparisons, file.bits, file.shapes, file.shape_table, file.without_l1,
            file=name, when=when, device=device, limits=limits,
        )  # fmt: skip

    return parse_text(name, text, parse)


def newest() -> RecordedRun:
    """The newest recording in FOLDER. LaunchError, a sentence, where there is none."""
    found = recordings()
    for run in found.runs:
        return run
    raise none_came(found.problems)


def none_came(problems: Sequence[Broken]) -> LaunchError:
    """Why there is no recording."""
    return BrokenFileError(problems[0]) if problems else LaunchError(NONE_CAME)


def same_device(folder: Path, device: Device) -> RecordedRun | None:
    """The folder's recording of a device with the same name and driver, if it has one.

    BrokenFileError where the device's file is no recording.
    """
    path = folder / f"{slug(device.name)}.json"
    run = read(path) if path.exists() else None
    return run if run is not None and is_same(run.device, device) else None


def is_same(one: Device, other: Device) -> bool:
    """Whether two devices have the same name and driver."""
    return (one.name, one.driver) == (other.name, other.driver)


def recordings(folder: Path | None = None) -> Recordings:
    """Every recording in the folder, else in FOLDER, newest first."""
    runs, problems = read_folder(folder or FOLDER, read)
    return Recordings(tuple(sorted(runs, key=lambda run: run.when, reverse=True)), problems)
