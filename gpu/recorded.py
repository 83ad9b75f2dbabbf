"""Recorded comparisons: what `python -m gpu record` wrote on a GPU, for where there is none."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gpu.bits import BitVerdict
from gpu.device import Device
from gpu.json_data import decode
from gpu.microbenchmarks.limits import Limits, limits_from
from gpu.result import Comparison

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "recorded"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """Comparisons measured on one device on one day."""

    file: str  # its name, without a folder
    when: datetime  # UTC
    device: Device
    comparisons: tuple[Comparison, ...]  # at least one
    limits: Limits | None = None  # None in a recording made before they were measured
    bits: tuple[BitVerdict, ...] = ()  # empty in a recording made before they were measured

    @property
    def sizes(self) -> tuple[tuple[int, int, int], ...]:
        """M, N, K of each comparison."""
        return tuple(comparison.size for comparison in self.comparisons)


@dataclass(frozen=True, slots=True)
class RecordingFile:
    """A recording's file as it stands in JSON, without the optional keys of Limits."""

    recorded: str  # ISO 8601, with a time zone
    comparisons: tuple[Comparison, ...]
    bits: tuple[BitVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Recordings:
    """The recordings of a folder."""

    runs: tuple[RecordedRun, ...]  # newest first
    problems: tuple[str, ...]  # a sentence for each file that cannot be read


def slug(name: str) -> str:
    """A GPU's name as a file's: "NVIDIA H200" becomes "nvidia-h200"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "gpu"


def write(
    comparisons: Sequence[Comparison],
    folder: Path,
    when: datetime,
    limits: Limits | None = None,
    bits: Sequence[BitVerdict] = (),
) -> Path:
    """Write a recording of at least one comparison; its path.

    It has the keys `ceilings`, `latency` and `bits` if these were measured.
    """
    device = comparisons[0].device
    recording: dict[str, Any] = {
        "format": FORMAT,
        "recorded": when.astimezone(UTC).isoformat(timespec="seconds"),
        "device": comparisons[0].to_json()["device"],
        "comparisons": [comparison.to_json() for comparison in comparisons],
    }
    if limits:
        recording |= dataclasses.asdict(limits)
    if bits:
        recording["bits"] = [dataclasses.asdict(verdict) for verdict in bits]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{slug(device.name)}.json"
    path.write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")
    return path


def read(path: Path) -> RecordedRun:
    """One recording. ValueError, a sentence, where the file is not one."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path.name} cannot be read: {error}.") from None
    try:
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError(f"It is no recording of format {FORMAT}.")
        file = decode(RecordingFile, found, "The recording")
        if not file.comparisons:
            raise ValueError("It holds no comparisons.")
        when = datetime.fromisoformat(file.recorded)
        if when.tzinfo is None:
            raise ValueError("Its date has no time zone.")
        limits = limits_from(found) if "ceilings" in found or "latency" in found else None
    except ValueError as error:
        raise ValueError(f"{path.name} is not a recording: {error}") from None
    device = file.comparisons[0].device
    return RecordedRun(path.name, when, device, file.comparisons, limits, file.bits)


def recordings(folder: Path = FOLDER) -> Recordings:
    """Every recording in the folder, newest first."""
    runs, problems = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            runs.append(read(path))
        except ValueError as error:
            problems.append(str(error))
    return Recordings(tuple(sorted(runs, key=lambda run: run.when, reverse=True)), tuple(problems))
