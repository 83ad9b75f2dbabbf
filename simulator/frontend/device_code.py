"""A file's device code: its kernel and what that uses, with host code and #include blanked.

Both compilers get this text. Its lines and columns are the file's, so that all that is said about
it is about the text on the screen.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from simulator.frontend.conditions import Decided, preprocess
from simulator.frontend.expression_values import Definition
from simulator.frontend.includes import HEADER, INCLUDE, Files, Piece
from simulator.frontend.lexer import blank_comments
from simulator.frontend.lexer import tokens as split_tokens
from simulator.frontend.scanner import Token, TokenKind, blank
from simulator.frontend.toplevel import TYPE_WORDS, Declaration, TopLevel
from simulator.language.errors import Span, list_names

# Others change nothing here, ask for files, or hide macros from the check of their size.
KEPT_PRAGMA = re.compile(r"(?:#|%:)\s*pragma\s+(?!(?:once|GCC|clang|STDC|push_macro|pop_macro)\b)"
                         r"(?:unroll|nounroll|pack)\b")  # fmt: skip
PRAGMA = re.compile(r"(?:#|%:)\s*pragma\b")
DEFINE = re.compile(r"(?:#|%:)\s*define\s+([^\W\d]\w*)(.*)", re.DOTALL)
USING = re.compile(r"(?:#|%:)\s*(?:(?:el)?if|pragma)")  # directives that use macros and constants
NOT_FOR_KERNELS = re.compile(r"##|%:%:|_Pragma|__has_include|__has_embed")
HOST_LIBRARIES = frozenset({"std", "thrust", "cv", "chrono", "boost", "Eigen"})
CONSTANT_WORDS = frozenset({"const", "constexpr", "static_assert"})
MAX_RANGES = 4  # of lines, in a note
MAX_WORDS = 12  # a declaration's first words, which tell what it is
BLANK, SEMICOLON = 1, 2  # what a character of the file becomes


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """What is left of a file for a compiler, and what was skipped."""

    text: str  # with the lines and columns of the file; included ones where they are included
    lines: tuple[int, ...]  # for each line, that of the file's text; none where all are the same
    notes: tuple[str, ...]  # sentences: which headers and which host code were skipped
    host: Mapping[str, HostDeclaration]  # what was skipped, by name
    headers: Mapping[str, int]  # what is included and not here, with the line that includes it
    kept: tuple[Kept, ...]  # besides the kernel

    def line(self, number: int) -> int:
        """The line of the file that a line of this code is; lines beyond it keep their number."""
        return original_line(self.lines, number)

    def kept_at(self, line: int) -> Kept | None:
        """The innermost of what is kept beside the kernel that a line is part of."""
        found = [one for one in self.kept if one.first_line <= line <= one.last_line]
        return max(found, key=lambda one: one.first_line, default=None)


def original_line(lines: Sequence[int], number: int) -> int:
    """The line of source that a line of its device code is, by DeviceCode.lines."""
    if not lines:
        return number
    return lines[number - 1] if number <= len(lines) else max(lines) + number - len(lines)


@dataclass(frozen=True, slots=True)
class HostDeclaration:
    """A declaration of host code that was skipped."""

    line: int  # its first
    is_function: bool
    words: tuple[str, ...]  # its first names and signs


@dataclass(frozen=True, slots=True)
class Kept:
    """A declaration that is left as its name is used in the kernel; it may be another's name."""

    names: tuple[str, ...]
    first_line: int
    last_line: int


@dataclass(slots=True)
class SourceFile:
    """A file, read once: what is kept of it depends on the kernel."""

    text: str
    defines: Mapping[str, str] = field(default_factory=dict)
    files: Files = field(init=False)
    scanned: list[Token] = field(init=False)  # of all files that are read, each once
    top: TopLevel = field(init=False)
    macros: Mapping[str, Definition] = field(init=False)  # as they are at the file's end
    skipped: Sequence[Decided] = field(init=False)  # kernels that conditions leave out
    error_directives: Sequence[Decided] = field(init=False)  # those that conditions reach
    declarations: list[Declaration] = field(init=False)
    _line_starts: list[int] = field(init=False)
    _pieces: Sequence[Piece] = field(init=False)
    _variables: Collection[str] = field(init=False)  # outside functions

    def __post_init__(self) -> None:
        """Read the text."""
        self.files = Files(self.text)
        source = preprocess(self.files, self.defines)
        self._pieces = source.pieces
        read = {start for start, _ in source.pieces}
        self.scanned = [
            token
            for file in self.files.all
            if file.start in read
            for token in self.files.tokens[file]
        ]
        self.top, self.macros = TopLevel(source, self.text), source.macros
        self.skipped, self.error_directives = source.skipped, source.errors
        self.declarations = list(self.top.declarations())
        variables = [one for one in self.declarations if not (one.is_type or one.is_function)]
        self._variables = {name for one in variables for name in one.names}
        self._line_starts = [0, *(found.end() for found in re.finditer("\n", self.text))]

    def line(self, position: int) -> int:
        """The line of a character, from 1."""
        return bisect.bisect_right(self._line_starts, position)

    def span(self, token: Token) -> Span:
        """The span of a token, within its line."""
        line_start = self.text.rfind("\n", 0, token.start) + 1
        column = len(self.text[line_start : token.start].encode()) + 1
        line = self.line(token.start)
        return Span(line, column, line, column + len(token.text.encode()))

    def lines(self, declaration: Declaration) -> tuple[int, int]:
        """The first and the last line of a declaration."""
        start, end = self.place(declaration)
        return self.line(start), self.line(end - 1)

    def place(self, declaration: Declaration) -> tuple[int, int]:
        """The characters of a declaration: the first, and the one after the last."""
        tokens = self.top.tokens
        return tokens[declaration.first].start, tokens[declaration.last - 1].end

    @property
    def kernels(self) -> list[Declaration]:
        """The file's kernels; a prototype is none."""
        return [
            one
            for one in self.declarations
            if one.is_kernel and one.is_function and not self.is_prototype(one)
        ]

    def is_prototype(self, one: Declaration) -> bool:
        """Whether a function is only declared: a semicolon follows upon its parameters."""
        if one.parenthesis is None or one.body is not None:
            return False
        after = self.top.matching_bracket.get(one.parenthesis, one.last) + 1
        return after < one.last and self.top.tokens[after].text == ";"

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The names of the file's kernels, each with the namespaces around it."""
        return tuple(dict.fromkeys("::".join((*k.scope, k.name)) for k in self.kernels))

    def device_code(
        self, kernel: str, others: Iterable[str] = (), dropped: Collection[int] = ()
    ) -> DeviceCode:
        """The file for a compiler: the kernel of a name and what it uses, all else blanked.

        others are further names that it uses, such as a template's arguments. dropped are lines of
        declarations (the first of each) that are not needed after all.
        """
        kept = self._used(kernel, [*others, *self.defines.values()], dropped)
        used = kept.names
        skipped = [one for one in self.declarations if one not in kept.declarations]
        blanks = bytearray(len(self.text))
        for declaration in skipped:
            for place in self._places(declaration):
                _mark(blanks, place)
        members: list[Declaration] = []  # host functions of classes
        for declaration in kept.declarations:
            if declaration.is_type:
                members += self._blank_host_members(declaration, blanks, dropped)
        headers = self._mark_directives(blanks, used)
        self._mark_linkage(blanks)
        host = [one for one in skipped if not (one.is_kernel or self._has_device_code(one))]
        notes = (_headers_note(list(headers)), self._files_note(), self._host_note(host))
        text, lines = self._flattened(blanks)
        return DeviceCode(
            text=text,
            lines=lines,
            notes=tuple(note for note in notes if note),
            host={name: self._host(one) for one in reversed(host) for name in one.names},
            headers=headers,
            kept=tuple(
                Kept(one.names, *self.lines(one))
                for one in [*kept.declarations, *members]
                if not (one.is_kernel and kernel in one.names)
            ),
        )

    def _places(self, declaration: Declaration) -> Iterator[tuple[int, int]]:
        """The characters of a declaration, in each file that it is written in."""
        if len(self._pieces) == 1:
            yield self.place(declaration)
            return
        starts = [file.start for file in self.files.all]
        tokens = self.top.tokens[declaration.first : declaration.last]
        for _, of_file in groupby(tokens, lambda one: bisect.bisect_right(starts, one.start)):
            inside = list(of_file)
            if inside[0].start <= inside[-1].start:
                yield inside[0].start, inside[-1].end

    def _flattened(self, blanks: bytearray) -> tuple[str, tuple[int, ...]]:
        """What a compiler reads, each file where it is included, and the text's line of each."""
        if len(self._pieces) == 1:
            ((start, end),) = self._pieces
            return _blanked(self.text[start:end], blanks[start:end]), ()
        written: list[str] = []
        lines: list[int] = []
        for start, end in self._pieces:
            piece = _blanked(self.text[start:end], blanks[start:end]).removesuffix("\n")
            written.append(f"{piece}\n")
            first = self.line(start)
            lines += range(first, first + piece.count("\n") + 1)
        return "".join(written), tuple(lines)

    def _files_note(self) -> str:
        """The sentence about the files of which the text is made; "" for one alone."""
        read = {start for start, _ in self._pieces}
        parts: list[str] = []
        for file in self.files.all[1:]:
            if file.start in read and file.start < file.end:
                first, last = self.line(file.start), self.line(file.end - 1)
                where = f"line {first}" if first == last else f"lines {first}–{last}"
                parts.append(f"{file.name} is in {where}")
        return f"Included files are part of this code: {list_names(parts)}." if parts else ""

    def _has_device_code(self, one: Declaration) -> bool:
        """Whether a declaration is device code, or a class with some."""
        inside = self.top.tokens[one.first : one.last] if one.is_type else ()
        return one.is_device or any(token.text == "__device__" for token in inside)

    def _host(self, one: Declaration) -> HostDeclaration:
        words = tuple(token.text for token in self.top.tokens[one.first : one.last][:MAX_WORDS])
        return HostDeclaration(self.lines(one)[0], self._is_function(one), words)

    def _is_function(self, one: Declaration) -> bool:
        """Whether a declaration is a function, and no variable with a value in parentheses."""
        inside = self.top.parameters(one)
        if one.body is not None or not inside:
            return one.is_function
        is_value = len(inside) == 1 and (
            inside[0].text in self.macros or inside[0].text in self._variables
        )
        return one.is_function and inside[0].kind is TokenKind.NAME and not is_value

    def _used(self, kernel: str, others: Iterable[str], dropped: Collection[int]) -> Used:
        """The declarations that a kernel uses, and the names in them."""
        by_name: dict[str, list[Declaration]] = defaultdict(list)
        pending: list[Declaration] = []
        for one in self.declarations:
            if one.is_kernel and kernel in one.names:
                pending.append(one)
            elif self.lines(one)[0] in dropped:
                continue
            elif self._is_always_kept(one):
                pending.append(one)
            elif self._may_be_used(one):
                for name in one.names:
                    by_name[name].append(one)
        if not any(one.is_kernel for one in pending):  # a macro may make its name
            pending += [
                one for one in self.declarations if one.is_kernel and self._has(one, kernel)
            ]
        bodies = self._macro_bodies()
        used, found = set[str](), dict.fromkeys(pending)
        names = [name for text in others for name in split_tokens(text)]
        for token in self.scanned:
            if token.kind is TokenKind.DIRECTIVE and USING.match(token.text):
                names += split_tokens(token.text)
        while pending or names:
            if not names:
                one = pending.pop()
                names = [t.text for t in self.top.tokens[one.first : one.last]
                         if t.kind is TokenKind.NAME]  # fmt: skip
                continue
            name = names.pop()
            if name in used:
                continue
            used.add(name)
            names += bodies.get(name, ())
            for one in by_name.get(name, ()):
                if one not in found:
                    found[one] = None
                    pending.append(one)
        return Used(found, used)

    def _has(self, declaration: Declaration, name: str) -> bool:
        tokens = self.top.tokens[declaration.first : declaration.last]
        return any(token.text == name for token in tokens)

    def _is_always_kept(self, one: Declaration) -> bool:
        """Whether a declaration is kept although nothing names it."""
        tokens = self.top.tokens
        if one.names == ("operator",):
            return one.is_device
        if tokens[one.first].text == "using" and tokens[one.first + 1].text == "namespace":
            return not HOST_LIBRARIES & {t.text for t in tokens[one.first : one.last]}
        return tokens[one.first].text == "static_assert"

    def _may_be_used(self, one: Declaration) -> bool:
        """Whether device code may use a declaration: not host functions and host variables."""
        if one.is_device or one.is_kernel or one.is_type:
            return True
        words = {t.text for t in self.top.tokens[one.first : one.last][:MAX_WORDS]}
        return bool(words & CONSTANT_WORDS) or "namespace" in words

    def _macro_bodies(self) -> dict[str, list[str]]:
        """The names in the bodies of all macros of a name."""
        bodies: dict[str, list[str]] = defaultdict(list)
        for token in self.scanned:
            if token.kind is TokenKind.DIRECTIVE and (macro := DEFINE.match(token.text)):
                bodies[macro[1]] += split_tokens(macro[2])
        return bodies

    def _mark_directives(self, blanks: bytearray, used: Collection[str]) -> dict[str, int]:
        """Mark comments and the directives that no compiler gets.

        Returns the headers that are not among the text's files, each with its line. All other
        directives stay, also within host code: what they define may be used later.
        """
        headers: dict[str, int] = {}
        starts = [file.start for file in self.files.all]
        for token in self.scanned:
            if token.kind is TokenKind.COMMENT:
                _mark(blanks, (token.start, token.end))
                continue
            if token.kind is not TokenKind.DIRECTIVE:
                continue
            include, macro = INCLUDE.match(token.text), DEFINE.match(token.text)
            if include is not None:
                header = HEADER.match(include[1])
                beside = self.files.all[bisect.bisect_right(starts, token.start) - 1]
                if self.files.included(token, beside) is None:
                    name = header[1] if header else include[1]
                    headers.setdefault(name, self.line(token.start))
            is_for_host = macro is not None and macro[1] not in used
            is_blank = (
                include is not None
                or (PRAGMA.match(token.text) and not KEPT_PRAGMA.match(token.text))
                or (is_for_host and NOT_FOR_KERNELS.search(token.text))
            )
            if is_blank or not PRAGMA.match(token.text):  # a skipped loop's pragma goes with it
                _mark(blanks, (token.start, token.end), bool(is_blank))
            written = self.text[token.start : token.end]
            if not is_blank and "/" in written and "/*" not in written:
                code = blank_comments(written)
                end = token.start + len(code.rstrip())
                _mark(blanks, (end, token.end))
        return headers

    def _mark_linkage(self, blanks: bytearray) -> None:
        """Mark extern "C" without a space after it, as in extern "C"__global__.

        C++ reads that as a literal with a suffix, which clang refuses; nvcc takes it.
        """
        tokens = self.top.tokens
        for first, string, word in zip(tokens, tokens[1:], tokens[2:], strict=False):
            is_linkage = first.text == "extern" and string.text == '"C"'
            if is_linkage and word.kind is TokenKind.NAME and word.start == string.end:
                _mark(blanks, (first.start, string.end))

    def _blank_host_members(
        self, of_class: Declaration, blanks: bytearray, dropped: Collection[int]
    ) -> list[Declaration]:
        """Mark the bodies of a class's host functions; returns those whose declaration is left."""
        tokens = self.top.tokens
        left: list[Declaration] = []
        for member in self.top.members(of_class):
            if member.is_device or not member.is_function:
                continue
            start, end = self.place(member)
            if self.lines(member)[0] in dropped:
                _mark(blanks, (start, end))
                continue
            head = [t.text for t in tokens[member.first : member.last]]
            signature = head[: member.body[0] - member.first] if member.body else head
            if HOST_LIBRARIES & set(signature) or "friend" in signature:
                _mark(blanks, (start, end))
                continue
            left.append(member)
            if member.body is None or "constexpr" in head or "__global__" in head:
                continue
            opening = member.body[0]
            for index in range(member.first, opening):
                if tokens[index].text == ":" and tokens[index - 1].text in (")", "noexcept"):
                    opening = index  # of a constructor's initializers
                    break
            _mark(blanks, (tokens[opening].start, end))
            blanks[tokens[opening].start] = SEMICOLON
        return left

    def _host_note(self, host: Sequence[Declaration]) -> str:
        """The sentence about skipped host code; "" without any."""
        named = [
            one for one in host
            if one.is_function or one.body is not None
            or (one.is_type and self.top.tokens[one.first].text in TYPE_WORDS)
        ]  # fmt: skip
        if not named:
            return ""
        names = list(dict.fromkeys(one.name for one in named if one.name))
        ranges: list[tuple[int, int]] = []
        place = {one: number for number, one in enumerate(self.declarations)}
        before = None
        for one in host:
            first, last = self.lines(one)
            if before is not None and place[one] == before + 1:
                ranges[-1] = (ranges[-1][0], last)
            else:
                ranges.append((first, last))
            before = place[one]
        written = [str(a) if a == b else f"{a}–{b}" for a, b in ranges[:MAX_RANGES]]
        more = ", …" if len(ranges) > MAX_RANGES else ""
        word = "line" if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else "lines"
        return f"Skipped host code: {list_names(names)} ({word} {', '.join(written)}{more})."


@dataclass(frozen=True, slots=True)
class Used:
    """What a kernel uses."""

    declarations: Mapping[Declaration, None]
    names: Collection[str]


def _headers_note(headers: Sequence[str]) -> str:
    """The sentence about skipped headers; "" without any."""
    if not headers:
        return ""
    return (
        f"Skipped #include of {list_names(headers)}: no file is opened, and what CUDA's own "
        "headers declare for kernels is available without them."
    )


def _mark(blanks: bytearray, place: tuple[int, int], is_blank: bool = True) -> None:
    start, end = place
    blanks[start:end] = bytes([BLANK if is_blank else 0]) * (end - start)


def _blanked(text: str, blanks: bytearray) -> str:
    """The text with the characters marked BLANK as spaces, those marked SEMICOLON as one."""
    pieces: list[str] = []
    copied = 0
    for run in re.finditer(rb"\x01+|\x02", bytes(blanks)):
        start, copied_before = run.start(), copied
        copied = run.end()
        spaces = ";" if blanks[start] == SEMICOLON else blank(text[start:copied])
        pieces += (text[copied_before:start], spaces)
    return "".join((*pieces, text[copied:]))
