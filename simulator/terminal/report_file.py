"""A verdict as an HTML file with its scene, which the pages' code draws."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from simulator.language.errors import LaunchError
from simulator.terminal.options import UsageError
from simulator.terminal.verdict_run import Judged
from simulator.verdict.form import OwnKernel

# By its name, for nothing in the simulator may import what rests on it.
WRITER = "ui.report_page"


def check_report(file: str) -> None:
    """Raise UsageError for a name under which no file can be written, or without what draws it."""
    if not file:
        raise UsageError("--report needs the name of a file, such as OUT.html.")
    if Path(file).is_dir():
        raise UsageError(f"--report {file} is a folder: give a file in it, such as OUT.html.")
    try:
        importlib.import_module(WRITER)
    except ImportError as error:
        raise UsageError(
            f"--report draws a scene, and {error.name or 'a package'} is missing for that: run it "
            "in Tilewise's folder, with the packages of requirements.txt installed."
        ) from None


def write_report(file: str, judged: Judged) -> None:
    """Write a verdict's page. Raises LaunchError where that cannot be written."""
    own = OwnKernel(judged.text, judged.kernel, judged.form)
    title = "" if judged.exercise is None else judged.exercise.title
    pieces = importlib.import_module(WRITER).write_report(own, judged.verdict, title, judged.result)
    path = Path(file).resolve()
    part = path.with_name(f".{path.name[:40]}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", errors="replace") as out:
            out.writelines(pieces)
        part.replace(path)
    except OSError as error:
        raise LaunchError(f"{file} cannot be written: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)
