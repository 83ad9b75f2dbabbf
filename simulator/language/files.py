"""Several files in one text: the main one, and after it each that it includes, after its name.

    #include "scale.h"
    __global__ void k(float* x) { x[0] = scale(x[0]); }
    // ==== file: scale.h ====
    __device__ float scale(float x) { return 2 * x; }

So what is edited, linked, compiled and shown is one text, in which each line has one number. Files
are found by name among those of the text, never on a disk.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

MAX_FILE_BYTES = 256 * 2**10  # of a file in UTF-8, with its host code
LINE_NUMBERS = re.compile(
    r"\b(?P<l>[Ll])ine"
    r"(?:s (?P<first>\d{1,7}) (?P<joint>and|to) (?P<last>\d{1,7})| (?P<only>\d{1,7}))\b"
)
MAX_BYTES = 2**20  # of source with all its files
MAX_FILES = 100  # included by one text, files within files counted
LONGEST_NAME = 200  # letters of a file's name, with its folders
FILE_LINE = re.compile(
    rf"^// ==== file: (\S[^\n]{{0,{LONGEST_NAME - 1}}}?) ====[ \t]*(?:\n|\Z)", re.MULTILINE
)
INCLUDE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*include[ \t]*(\"[^\"\n]+\"|<[^>\n]+>)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A part of source that is a file of its own, as characters from `start` up to `end`."""

    name: str  # with its folders; "" for the main file
    start: int
    end: int


@functools.lru_cache(16)
def files_of(text: str) -> tuple[TextFile, ...]:
    """The files of a text, the main one first.

    >>> [file.name for file in files_of("int i;\\n// ==== file: a.h ====\\nint j;")]
    ['', 'a.h']
    """
    found = list(FILE_LINE.finditer(text)) if "// ==== file: " in text else []
    ends = [*(line.start() for line in found), len(text)]
    return (
        TextFile("", 0, ends[0]),
        *(
            TextFile(line[1], line.end(), end)
            for line, end in zip(found, ends[1:], strict=True)
        ),
    )  # fmt: skip


def file_at(text: str, line: int) -> tuple[str, int]:
    """The file of a text's line, "" for the main one, and the line's number there, from 1."""
    starts = [text.count("\n", 0, file.start) + 1 for file in files_of(text)]
    place = max(0, bisect.bisect_right(starts, line) - 1)
    return files_of(text)[place].name, line - starts[place] + 1


def with_file_names(sentence: str, text: str, keeps_numbers: bool = False) -> str:
    """A sentence about lines of source of several files, with the file and its own line of each.

    keeps_numbers is for who sees the text as one, with the numbers of its lines.

    >>> text = "int i;\\n// ==== file: a.h ====\\nint j;\\nint k;"
    >>> with_file_names("Line 4 reads what line 1 writes.", text)
    'Line 2 of a.h reads what line 1 writes.'
    >>> with_file_names("Line 4 reads what line 1 writes.", text, keeps_numbers=True)
    'Line 4 (line 2 of a.h) reads what line 1 writes.'
    """

    def named(found: re.Match[str]) -> str:
        numbers = [found["only"]] if found["only"] else [found["first"], found["last"]]
        places = [file_at(text, int(number)) for number in numbers]
        if not any(file for file, _ in places):
            return found[0]
        words = _in_words(places, found["joint"])
        if keeps_numbers:
            return f"{found[0]} ({words})"
        return f"{found['l']}{words[1:]}"

    return LINE_NUMBERS.sub(named, sentence) if len(files_of(text)) > 1 else sentence


def _in_words(places: Sequence[tuple[str, int]], joint: str) -> str:
    """One line, or two that `joint` connects, each with its file."""
    if len(places) == 2 and places[0][0] == places[1][0]:
        return f"lines {places[0][1]} {joint} {places[1][1]} of {places[0][0]}"
    return f" {joint} ".join(
        f"line {line} of {file}" if file else f"line {line}" for file, line in places
    )


def find_file(wanted: str, beside: str, names: Iterable[str]) -> str | None:
    """The name of the file that an #include in the file `beside` asks for; None without one.

    wanted is in its quotes or angle brackets. It is the one in the same folder, else the one of
    which the last folders and the name agree: of several the first. Folders above (..) only count
    by what comes after them. In angle brackets all folders must agree.

    >>> find_file('"../util/a.h"', "src/k.cu", ["b.h", "util/a.h", "src/a.h"])
    'util/a.h'
    >>> find_file('"util/a.h"', "k.cu", ["a.h"]), find_file("<util/a.h>", "k.cu", ["a.h"])
    ('a.h', None)
    """
    asked = parts_of(wanted[1:-1])
    if not asked:
        return None
    known = [name for name in names if name.endswith(asked[-1])]
    near = "/".join((*parts_of(beside)[:-1], *asked))
    if near in known:
        return near
    agreeing = [(_agreeing(asked, parts_of(name)), name) for name in known]
    if wanted[0] == "<":
        agreeing = [(count, name) for count, name in agreeing if count == len(asked)]
    most = max((count for count, _ in agreeing), default=0)
    return next((name for count, name in agreeing if count == most), None) if most else None


@functools.lru_cache(4096)
def parts_of(name: str) -> tuple[str, ...]:
    """The folders and the name of a path, without those that go nowhere, or up."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return tuple(part for part in parts if part not in ("/", ".", ".."))


def _agreeing(asked: Sequence[str], found: Sequence[str]) -> int:
    """How many parts two paths have in common at their ends, if one ends with the other; else 0."""
    count = min(len(asked), len(found))
    return count if count and asked[-count:] == found[-count:] else 0


def with_included(
    main: str, name: str, find: Callable[[str, str], tuple[str, str] | None], known: Iterable[str]
) -> str:
    """A main file's text, and after it those files that it includes, and that these include.

    find gives the name and the text of the file that an #include in the file of another name asks
    for, in its quotes or angle brackets; None without one. name is the main file's. known are
    headers that are there without a file, unless quotes ask for them. Raises ValueError, a
    sentence, for too many files or too much text.
    """
    built = {file.name for file in files_of(main)}  # those that are in the text already
    if len(built) > MAX_FILES:
        raise ValueError(f"{name} has more than {MAX_FILES} files in it.")
    pieces, pending, size = [main], [(name, main)], len(main.encode())
    without_file = {f"<{header}>" for header in known}
    while pending:
        beside, text = pending.pop(0)
        wanted = dict.fromkeys(INCLUDE.findall(text))
        if len(wanted) > MAX_FILES:
            raise ValueError(f"{beside} includes more than {MAX_FILES} files.")
        for asked in wanted:
            if asked in without_file or find_file(asked, beside, built - {""}):
                continue
            found = find(asked, beside)
            if found is None or found[0] in (name, *built):
                continue
            built.add(found[0])
            size += len(found[1].encode())
            if len(built) > MAX_FILES:
                raise ValueError(f"{name} includes more than {MAX_FILES} files.")
            if size > MAX_BYTES:
                raise ValueError(
                    f"{name} and what it includes have more than {MAX_BYTES:,} bytes (1 MB)."
                )
            pieces.append(f"// ==== file: {found[0]} ====\n{found[1]}")
            pending.append(found)
    return "\n".join(piece.removesuffix("\n") for piece in pieces) + "\n" if pieces[1:] else main
