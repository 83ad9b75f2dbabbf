"""Hints to the compiler: edits of a kernel's source that change no result.

The machine code of the edited source is beside that of the text itself.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compiler.occupancy import capability
from simulator import compile_kernel
from simulator.catalogue import whole_catalogue
from simulator.frontend.lexer import blank_comments
from simulator.language.ctype import Pointer
from simulator.language.tree import Kernel, Loop, Statement
from simulator.language.visit import inner_statements
from simulator.machine.occupancy import CAPABILITIES, resident_blocks

PRAGMA = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+(?:GCC[ \t]+)?unroll\b")
WORD = re.compile(r"\w")
BEFORE = re.compile(r"^\s+(?=.*\w)")  # what a line with words is indented by
ALIKE = 0.5  # of lines, as difflib measures it: half of their letters, in their order
FOR = re.compile(r"([ \t]*)for\b")
TILES = re.compile(r"__shared__ (?!volatile\b)")
BOUNDS = re.compile(r"__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*")
GLOBAL = re.compile(r"__global__\b")
RECORDED = ("naive", "tiled", "transposed", "registers", "vectors")  # with all hints


@dataclass(frozen=True, slots=True)
class Launched:
    """How a kernel is launched, as far as the compiler may know it."""

    threads: int  # of a block
    dynamic_bytes: int  # of shared memory that the launch gives each block
    architecture: str  # for which it is compiled


@dataclass(frozen=True, slots=True)
class Hint:
    """An edit as a reader sees it, and the function that applies it."""

    key: str
    label: str  # Markdown
    says: str  # a sentence: what it asks of the compiler
    # The kernel's source edited; None where there is nothing to edit.
    apply: Callable[[Kernel, Launched], str | None]


def hinted_sources(kernel: Kernel, launched: Launched) -> Mapping[Hint, str]:
    """The edits that change a kernel's source, each with the text that it makes."""
    edited = {one: one.apply(kernel, launched) for one in HINTS}
    return {one: text for one, text in edited.items() if text is not None}


def hinted_catalogue(architecture: str) -> Iterator[tuple[str, str]]:
    """What is recorded: the names of kernels of the catalogue, and their edited sources.

    Each kernel is as its first view shows it, and as its macros are in its file.
    """
    for name in RECORDED:
        entry = whole_catalogue()[name]
        for setting in (entry.settings()[0], {}):
            kernel = compile_kernel(entry.source(**setting), entry.kernel)
            threads = math.prod(entry.shape(1, 1, **setting)[1])
            launched = Launched(threads, entry.shared_bytes(**setting), architecture)
            for text in hinted_sources(kernel, launched).values():
                yield entry.kernel, text


def same_lines(before: str, after: str) -> Mapping[int, int]:
    """For each line of a source the line of another that it is, from 1, in their order.

    Those are the same apart from indentation, or else those between them that are alike; a line
    that is like none is left out.
    """
    old, new = ([BEFORE.sub("", line) for line in text.split("\n")] for text in (before, after))
    found = {}
    # A brace may be any: its indentation says which, and its neighbours.
    matcher = difflib.SequenceMatcher(lambda line: not WORD.search(line), old, new, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        pairs = [(n, n) for n in range(j_end - j)]
        if kind != "equal":
            pairs = _alike(old[i:i_end], new[j:j_end])
        found.update({j + line + 1: i + earlier + 1 for earlier, line in pairs})
    return found


def _alike(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Which lines are alike, from 0: pairs in their order that together are the most so."""
    best: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])] * (len(new) + 1)
    for i, line in enumerate(old):
        found = best[:1]
        for j, other in enumerate(new):
            matcher = difflib.SequenceMatcher(None, line, other, autojunk=False)
            ratio = matcher.ratio() if matcher.quick_ratio() >= ALIKE else 0.0
            score, pairs = best[j]
            paired = (score + ratio, [*pairs, (i, j)]) if ratio >= ALIKE else best[j]
            found.append(max(paired, found[j], best[j + 1], key=lambda one: one[0]))
        best = found
    return best[-1][1]


def _unroll(times: int) -> Callable[[Kernel, Launched], str | None]:
    """Ask that the source's innermost loops are unrolled so many times."""

    def apply(kernel: Kernel, _: Launched) -> str | None:
        lines = kernel.text.split("\n")
        code = blank_comments(kernel.text).split("\n")
        pragma = f"#pragma unroll {times}"
        loops = {one.span.line for one in _innermost_loops(kernel.body)}
        for line in sorted(loops, reverse=True):
            begins = FOR.match(code[line - 1]) if line <= len(code) else None
            if begins is None:
                continue
            if line > 1 and PRAGMA.match(code[line - 2]):
                lines[line - 2] = begins[1] + pragma
            else:
                lines.insert(line - 1, begins[1] + pragma)
        return _changed(kernel.text, "\n".join(lines))

    return apply


def _innermost_loops(statement: Statement) -> Iterator[Loop]:
    """The loops in which there is no other."""
    found = [loop for inner in inner_statements(statement) for loop in _innermost_loops(inner)]
    yield from found
    if isinstance(statement, Loop) and not found:
        yield statement


def _restrict(kernel: Kernel, _: Launched) -> str | None:
    """Say of each pointer among the parameters that nothing else points there."""
    header = _header(kernel)
    text, begin, end = kernel.text, header.start, header.stop
    parameters = text[begin:end]
    if "__restrict" in parameters:
        return None
    for one in kernel.parameters:
        if isinstance(one.ctype, Pointer):
            parameters = re.sub(rf"\*\s*(?={one.name}\b)", "* __restrict__ ", parameters)
    return _changed(text, text[:begin] + parameters + text[end:])


def _volatile(kernel: Kernel, _: Launched) -> str | None:
    """Have shared memory read and written wherever the source does."""
    code = blank_comments(kernel.text)
    if not kernel.shared or "reinterpret_cast" in code:
        return None
    pieces, copied = [], 0
    for match in TILES.finditer(code):  # has the length of the text
        pieces += [kernel.text[copied : match.end()], "volatile "]
        copied = match.end()
    return _changed(kernel.text, "".join((*pieces, kernel.text[copied:])))


def _launch_bounds(kernel: Kernel, launched: Launched) -> str | None:
    """Ask for as many blocks at once as there is room for apart from registers."""
    on = CAPABILITIES[capability(launched.architecture)]
    shared = kernel.static_shared_bytes + launched.dynamic_bytes
    blocks, _ = resident_blocks(launched.threads, shared, None, on)
    text, begin = kernel.text, _header(kernel).start
    declared = list(GLOBAL.finditer(blank_comments(text), 0, begin))
    if not declared or not blocks:
        return None
    at = declared[-1].end()
    bounds = f" __launch_bounds__({launched.threads}, {blocks}) "
    rest = BOUNDS.sub("", text[at:begin]).lstrip(" ")
    return _changed(text, text[:at] + bounds + rest + text[begin:])


def _header(kernel: Kernel) -> slice:
    """Where a kernel's parameters are in its text; an empty slice where a macro declares them."""
    code = blank_comments(kernel.text)
    for match in re.finditer(rf"\b{re.escape(kernel.name.split('::')[-1])}\s*\(", code):
        end = match.end()
        open_brackets = 1
        while open_brackets and end < len(code):
            open_brackets += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        if code[end:].lstrip().startswith("{"):
            return slice(match.end(), end)
    return slice(0, 0)


def _changed(before: str, after: str) -> str | None:
    return None if after == before else after


HINTS = (
    Hint(
        "unroll-1", "Innermost loops with `#pragma unroll 1`",
        "Each innermost loop stays a loop: its counter and its branch are paid for in every "
        "iteration.",
        _unroll(1),
    ),
    Hint(
        "unroll-8", "Innermost loops with `#pragma unroll 8`",
        "Eight iterations are written out one after another: one branch for all of them, and "
        "neighbouring loads may merge.",
        _unroll(8),
    ),
    Hint(
        "restrict", "Pointers with `__restrict__`",
        "No other pointer leads to the same cells: loads may move before stores and may use the "
        "read-only path.",
        _restrict,
    ),
    Hint(
        "volatile", "Shared memory `volatile`",
        "Every read and write of shared memory stays as it is written: none is merged, kept in a "
        "register or left out.",
        _volatile,
    ),
    Hint(
        "launch-bounds", "Room for more blocks by `__launch_bounds__`",
        "As many blocks at once as threads and shared memory allow: the compiler must make do with "
        "the registers that are then left for each thread, and what they cannot hold goes to local "
        "memory.",
        _launch_bounds,
    ),
)  # fmt: skip
