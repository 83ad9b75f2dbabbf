"""What a worker finds out for the section: a view's kernel, compiled or as it was recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compiler import compile as compiler
from compiler import recorded
from compiler.changes import changes
from compiler.difference import Figure, differences
from compiler.find import find_machine_code
from compiler.hints import Launched, hinted_sources, same_lines
from compiler.iteration import iterations
from compiler.occupancy import CardOccupancy, card_occupancy
from compiler.terminal import heading, loop_sentences, occupancy_sentence
from compiler.toolchain import ToolchainError, find_toolchain
from gpu.trace.phases import capitalized
from simulator import Kernel, SourceError, compile_kernel
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
    occupancy: CardOccupancy | None = None


@dataclass(frozen=True, slots=True)
class LinePair:
    """A line of two builds; None where only the other one has instructions of it."""

    first: LineRows | None
    second: LineRows | None
    is_in_both: bool  # whether both sources have the line

    @property
    def sides(self) -> tuple[LineRows | None, LineRows | None]:
        """The line of the first build and of the second."""
        return self.first, self.second

    @property
    def is_changed(self) -> bool:
        """Whether its instructions differ, apart from registers and their order."""
        return _counts(self.first) != _counts(self.second)


@dataclass(frozen=True, slots=True)
class Compared:
    """Two builds beside each other, or why there are none."""

    problem: str  # then all below is empty
    says: str = ""  # a sentence: what was asked of the compiler
    names: tuple[str, str] = ("", "")  # heads of the two columns
    figures: tuple[Figure, ...] = ()
    pairs: tuple[LinePair, ...] = ()


def find_architectures(view: View) -> tuple[str, ...]:
    """For what a view's kernel may be compiled; without a compiler, for what it was recorded.

    The view is a recording_key. Raises SourceError and LaunchError.
    """
    text = load_kernel(view).text
    if _has_compiler():
        return compiler.ARCHITECTURES
    return tuple(one for one in recorded.ARCHITECTURES if recorded.recorded(text, one))


def find_hints(view: View, architecture: str) -> tuple[tuple[str, str], ...]:
    """What may be asked of the compiler for a view's kernel: keys with their labels.

    Without a compiler, what was recorded. The view is a recording_key. Raises SourceError and
    LaunchError.
    """
    has_compiler = _has_compiler()
    return tuple(
        (one.key, one.label)
        for one, text in hinted_sources(load_kernel(view), _launched(view, architecture)).items()
        if has_compiler or recorded.recorded(text, architecture)
    )


def find_compiled(view: View, architecture: str) -> Compiled:
    """What the compiler makes of a view's kernel, for "sm_90" for example.

    The view is a recording_key. Its kernel is compiled only once the simulator has taken it, under
    the limits of a worker. Raises SourceError and LaunchError where it has not.
    """
    kernel, launched = load_kernel(view), _launched(view, architecture)
    say("The compiler is making machine code.")
    try:
        code = find_machine_code(kernel.text, kernel.name, architecture)
    except (SourceError, ToolchainError) as error:
        return Compiled(str(error))
    found = card_occupancy(code, launched.threads, launched.dynamic_bytes)
    loops = [capitalized(one) for one in loop_sentences(iterations(code))]
    return Compiled(
        "", line_rows(code, changes(code, kernel), kernel.text),
        tuple(f"{one}." for one in (heading(code), occupancy_sentence(found), *loops)), found,
    )  # fmt: skip


def find_compared(view: View, architecture: str, other: str) -> Compared:
    """What the compiler makes of a view's kernel, beside what it makes of it otherwise.

    other is another architecture or a hint's key. The rest is as of find_compiled.
    """
    kernel, launched = load_kernel(view), _launched(view, architecture)
    if other in compiler.ARCHITECTURES:
        says = "The same code for another GPU: other instructions, registers and latencies."
        return _compare(
            (kernel, launched), (kernel.text, _launched(view, other)), says, (architecture, other)
        )
    asked = {one.key: (one, text) for one, text in hinted_sources(kernel, launched).items()}
    if other not in asked:
        return Compared("This would change nothing in this kernel.")
    hint, text = asked[other]
    return _compare((kernel, launched), (text, launched), hint.says, ("As it is", hint.label))


def find_both(view: View, second: View, architecture: str) -> Compared:
    """What the compiler makes of the kernels of two views; see find_compared."""
    kernel, other = load_kernel(view), load_kernel(second)
    return _compare(
        (kernel, _launched(view, architecture)), (other.text, _launched(second, architecture)),
        "The kernels of both scenes, each as it is launched. Lines that are the same or alike are "
        "beside each other.", (kernel.name, other.name), other,
    )  # fmt: skip


def _compare(
    first: tuple[Kernel, Launched], second: tuple[str, Launched], says: str, names: tuple[str, str],
    other: Kernel | None = None,
) -> Compared:  # fmt: skip
    """Compile a kernel and a text: of `other`, or of the same kernel edited."""
    (kernel, launched), (text, otherwise) = first, second
    name = kernel.name if other is None else other.name
    say("The compiler is making machine code of both.")
    try:
        left = find_machine_code(kernel.text, kernel.name, launched.architecture)
        right = find_machine_code(text, name, otherwise.architecture)
        edited = kernel if text == kernel.text else other or compile_kernel(text, name)
    except (SourceError, ToolchainError) as error:
        return Compared(str(error))
    return Compared(
        "", says, names, differences(left, right, launched, otherwise),
        tuple(
            _pairs(
                line_rows(left, changes(left, kernel), kernel.text),
                line_rows(right, changes(right, edited), text),
                same_lines(kernel.text, text),
            )
        ),
    )  # fmt: skip


def _pairs(
    first: Sequence[LineRows], second: Sequence[LineRows], same: Mapping[int, int]
) -> Iterator[LinePair]:
    """The lines of two builds in the order of the first text."""
    places: dict[tuple[bool, int, int], list[LineRows | None]] = {}
    for side, lines in enumerate((first, second)):
        last = 0  # the line of the first text that the last one was
        for rows in lines:
            line = same.get(rows.line) if side and rows.line is not None else rows.line
            last = line or last
            new = rows.line or 0 if line is None else 0  # its place among those that it has not
            places.setdefault((rows.line is None, last, new), [None, None])[side] = rows
    both = set(same.values())
    for (is_none, line, new), (left, right) in sorted(places.items(), key=lambda one: one[0]):
        yield LinePair(left, right, is_none or (not new and (line in both or left is None)))


def _counts(rows: LineRows | None) -> Mapping[str, int]:
    return {} if rows is None else {one.opcode: one.count for one in rows.opcodes}


def _launched(view: View, architecture: str) -> Launched:
    """How a view launches its kernel."""
    user_kernel = view.user_kernel
    launch = (
        presets.launch(view)
        if user_kernel is None
        else build_without_arrays(load_kernel(view), user_kernel.form)
    )
    return Launched(math.prod(launch.block), launch.shared_bytes, architecture)


def _has_compiler() -> bool:
    try:
        find_toolchain()
    except ToolchainError:
        return False
    return True
