"""Recorded scalings: what `python -m gpu scale --record` wrote on a host with several GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gpu import recorded
from gpu.json_data import decode
from gpu.scale.scaling import Scaling
from simulator.broken_file import Broken, read_text

FOLDER = recorded.FOLDER / "scale"


@dataclass(frozen=True, slots=True)
class RecordedScaling:
    """One product over the GPUs of one host on one day."""

    file: str  # its name, without a folder
    when: datetime  # UTC
    scaling: Scaling


@dataclass(frozen=True, slots=True)
class ScalingFile:
    """A recorded scaling's file as JSON, without its date."""

    scaling: Scaling


def write(scaling: Scaling, folder: Path, when: datetime) -> Path:
    """Write a recording; its path, which names the GPUs and how many there are."""
    name = f"{recorded.slug(scaling.device.name)}-x{len(scaling.devices)}.json"
    return recorded.write_file({"scaling": scaling.to_json()}, folder / name, when)


def read(path: Path) -> RecordedScaling:
    """One recording. BrokenFileError where the file is not one."""

    def parse(found: dict[str, Any], when: datetime) -> RecordedScaling:
        scaling = decode(ScalingFile, found, "The recording").scaling
        return RecordedScaling(path.name, when, scaling)

    return recorded.parse_text(path.name, read_text(path), parse)


def scalings(folder: Path | None = None) -> tuple[tuple[RecordedScaling, ...], tuple[Broken, ...]]:
    """Every recording in the folder, else in FOLDER, of the most GPUs first, and each fault."""
    runs, problems = recorded.read_folder(folder or FOLDER, read)
    return tuple(sorted(runs, key=lambda run: -len(run.scaling.devices))), problems


def widest() -> RecordedScaling:
    """The recording over the most GPUs. LaunchError, a sentence, where there is none."""
    runs, problems = scalings()
    for run in runs:
        return run
    raise recorded.none_came(problems)
