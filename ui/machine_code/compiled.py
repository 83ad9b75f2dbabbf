"""What a worker finds out for the section: a view's kernel, compiled or as it was recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass

from compiler import compile as compiler
from compiler import recorded
from compiler.changes import changes
from compiler.find import find_machine_code
from compiler.iteration import iterations
from compiler.occupancy import card_occupancy
from compiler.terminal import heading, loop_sentence, occupancy_sentence
from compiler.toolchain import ToolchainError, find_toolchain
from simulator import SourceError
from simulator.verdict.launches import build_without_arrays
from ui.jobs.job_progress import say
from ui.machine_code.rows import LineRows, line_rows
from ui.run.compute import load_kernel
from ui.view import presets
from ui.view.view_url import View


@dataclass(frozen=True, slots=True)
class Compiled:
    """A kernel's machine code for one architecture, or why there is none."""

    problem: str  # why there is no machine code, a sentence; then all below is empty
    lines: tuple[LineRows, ...] = ()
    # Sentences: by which compiler and what it takes, how full it makes a card, and what an
    # iteration of each innermost loop takes.
    facts: tuple[str, ...] = ()


def find_architectures(view: View) -> tuple[str, ...]:
    """For what a view's kernel may be compiled; without a compiler, for what it was recorded.

    The view is a recording_key. Raises SourceError and LaunchError.
    """
    text = load_kernel(view).text
    try:
        find_toolchain()
    except ToolchainError:
        return tuple(one for one in recorded.ARCHITECTURES if recorded.recorded(text, one))
    return compiler.ARCHITECTURES


def find_compiled(view: View, architecture: str) -> Compiled:
    """What the compiler makes of a view's kernel, for "sm_90" for example.

    The view is a recording_key. Its kernel is compiled only once the simulator has taken it, under
    the limits of a worker. Raises SourceError and LaunchError where it has not.
    """
    kernel = load_kernel(view)
    user_kernel = view.user_kernel
    launch = (
        presets.launch(view)
        if user_kernel is None
        else build_without_arrays(kernel, user_kernel.form)
    )
    say("The compiler makes machine code of it.")
    try:
        code = find_machine_code(kernel.text, kernel.name, architecture)
    except (SourceError, ToolchainError) as error:
        return Compiled(str(error))
    found = card_occupancy(code, math.prod(launch.block), launch.shared_bytes)
    loops = [_capitalized(loop_sentence(one)) for one in iterations(code)]
    return Compiled(
        "", line_rows(code, changes(code, kernel), kernel.text),
        tuple(f"{one}." for one in (heading(code), occupancy_sentence(found), *loops)),
    )  # fmt: skip


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]
