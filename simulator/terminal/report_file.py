"""A verdict as an HTML file with its scene, which the pages' code draws."""

from __future__ import annotations

import importlib

from simulator.output_file import opened_output
from simulator.terminal.options import UsageError
from simulator.terminal.verdict_run import Judged
from simulator.verdict.form import UserKernel

# By its name, for nothing in the simulator may import what rests on it.
WRITER = "ui.user_kernel.report_page"


def check_writer() -> None:
    """Raise UsageError without the packages that draw a report."""
    try:
        importlib.import_module(WRITER)
    except ImportError as error:
        raise UsageError(
            f"--report draws a scene, for which {error.name or 'a package'} is missing: run it in "
            "Tilewise's folder, with the packages of requirements.txt installed."
        ) from None


def write_report(file: str, judged: Judged) -> None:
    """Write a verdict's page. Raises LaunchError where that cannot be written."""
    user_kernel = UserKernel(judged.text, judged.kernel, judged.form)
    title = "" if judged.exercise is None else judged.exercise.title
    pieces = importlib.import_module(WRITER).write_report(
        user_kernel, judged.verdict, title, judged.result
    )
    with opened_output(file) as out:
        out.writelines(piece.encode(errors="replace") for piece in pieces)
