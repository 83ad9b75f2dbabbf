"""A kernel's code with reads of the GPU's clock in it, made from the kernel's own."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpu.trace.places import Place, Places, Read, find_places, own_statements
from gpu.trace.trace import Level
from simulator.frontend.outline import Outline, OutlinedFunction, outline

CLOCK = Path(__file__).with_name("clock.cuh")
TRACE = "tilewise_trace"
PARAMETER = f"TilewiseTrace& {TRACE}"


@dataclass(frozen=True, slots=True)
class Instrumented:
    """A kernel's code with reads of the clock, and the phases that they begin."""

    original: str  # the kernel's code, with its macros set
    text: str  # the same with reads
    places: tuple[Place, ...]
    notes: tuple[str, ...]  # sentences on waits that have no read

    def diff(self) -> str:
        """What the reads change, as a unified diff; what they call is left out."""
        before = self.original.split("\n")
        after = self.text.removeprefix(clock_code()).split("\n")
        lines = ["--- kernel", "+++ traced"]
        for group in difflib.SequenceMatcher(
            None, before, after, autojunk=False
        ).get_grouped_opcodes():
            (_, a, _, b, _), (_, _, a_end, _, b_end) = group[0], group[-1]
            lines.append(f"@@ -{a + 1},{a_end - a} +{b + 1},{b_end - b} @@")
            for what, a, a_end, b, b_end in group:
                same = what == "equal"
                lines += [f"{' ' if same else '-'}{line}" for line in before[a:a_end]]
                lines += [] if same else [f"+{line}" for line in after[b:b_end]]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Insertion:
    """Code that is put before a character."""

    position: int
    code: str


def clock_code() -> str:
    """The code that reads the clock, which comes before the kernel's."""
    return CLOCK.read_text(encoding="utf-8")


def instrument(
    text: str, kernel: str, defines: Mapping[str, str], level: Level = Level.PHASES
) -> Instrumented:
    """The code of a kernel with reads of the clock at a level.

    Raises SourceError where clang cannot read the kernel.
    """
    outlined = outline(text, kernel, defines)
    places = find_places(outlined, level)
    insertions = sorted(
        _Writer(outlined, places).insertions(), key=lambda insertion: insertion.position
    )
    written, done = [], 0
    for insertion in insertions:
        written += [outlined.text[done : insertion.position], insertion.code]
        done = insertion.position
    return Instrumented(
        outlined.text,
        clock_code() + "".join((*written, outlined.text[done:])),
        places.places,
        places.notes,
    )


class _Writer:
    """Writes a kernel's reads."""

    def __init__(self, outlined: Outline, places: Places) -> None:
        self._outline, self._places = outlined, places
        self._lines = outlined.text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def insertions(self) -> Iterator[Insertion]:
        """All that the code gets, in the order in which it comes at one place."""
        body = self._outline.kernel.body
        brace = self._position(body.span.line, body.span.column)
        yield Insertion(brace + 1, f"\n    TilewiseTrace {TRACE}(0);")
        functions = [self._outline.functions[key] for key in self._places.functions]
        for function in functions:
            behind = self._position(*function.behind_parameters)
            yield Insertion(behind, f", {PARAMETER}")
        for function in (self._outline.kernel, *functions):
            yield from self._arguments(function)
        for braced in self._places.braces:
            yield Insertion(self._position(braced.span.line, braced.span.column), "{ ")
        yield from map(self._read, self._places.reads)
        for braced in self._places.braces:
            yield Insertion(self._position(braced.span.end_line, braced.span.end_column), " }")

    def _arguments(self, function: OutlinedFunction) -> Iterator[Insertion]:
        for statement in own_statements(function.body):
            for call in statement.calls:
                if call.function in self._places.functions:
                    comma = ", " if call.has_arguments else ""
                    yield Insertion(self._position(*call.closing), f"{comma}{TRACE}")

    def _read(self, read: Read) -> Insertion:
        place = self._places.places[read.place]
        call = "each" if read.of_iteration else "begin_tile" if read.begins_tile else "enter"
        position = self._position(read.line, read.column)
        start = self._starts[read.line - 1]
        indent = self._outline.text[start:position]
        in_braces = {(body.span.line, body.span.column) for body in self._places.braces}
        if indent.strip() or (read.line, read.column) in in_braces:
            return Insertion(position, f"{TRACE}.{call}({place.number}); ")
        if self._lines[read.line - 1].strip() == "}":
            indent += "    "
        return Insertion(start, f"{indent}{TRACE}.{call}({place.number}); // {place.name}\n")

    def _position(self, line: int, column: int) -> int:
        """The character at a line and a column, which counts bytes."""
        before = self._lines[line - 1].encode()[: column - 1].decode(errors="replace")
        return self._starts[line - 1] + len(before)
