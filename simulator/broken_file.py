"""Files that come with Tilewise and are wrong: each costs what it holds, and is named."""

from __future__ import annotations

import functools
import logging
import multiprocessing
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from simulator.language.errors import LaunchError

LOGGER = logging.getLogger(__name__)
TOML_LINE = re.compile(r" \(at line (?P<line>\d+), column \d+\)$")
FILE_NAME = re.compile(r"\d\d_(?P<name>[a-z_]+)")  # without its ending
KEY = re.compile(r"(?P<name>\w+)(?:\[(?P<index>\d+)\])?")

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Broken:
    """What is wrong in a file, and where."""

    file: str  # its name, without a folder
    line: int  # from 1
    sentence: str

    def __str__(self) -> str:
        """The place and the sentence."""
        return f"{self.file}, line {self.line}: {self.sentence}"


class BrokenFileError(LaunchError):
    """What needs a file that is broken cannot be run or shown."""

    def __init__(self, broken: Broken) -> None:
        super().__init__(str(broken))
        self.broken = broken

    def __reduce__(self) -> tuple[type[BrokenFileError], tuple[Broken]]:
        """How it comes back from a worker process."""
        return BrokenFileError, (self.broken,)


class Entries(dict[str, Item], Generic[Item]):
    """What a file or a folder holds, by name, without what is broken.

    `everything` has that too, in its place; its key is the file's name where it has no other. To
    look up a name that is broken raises BrokenFileError, and so does any name where nothing is
    left.
    """

    def __init__(self, everything: Mapping[str, Item | Broken]) -> None:
        super().__init__(
            {name: one for name, one in everything.items() if not isinstance(one, Broken)}
        )
        self.everything = everything
        for broken in self.broken:
            log(broken)

    @property
    def broken(self) -> tuple[Broken, ...]:
        """What is broken, in its order."""
        return tuple(one for one in self.everything.values() if isinstance(one, Broken))

    def checked(self) -> Entries[Item]:
        """These; BrokenFileError where one is broken."""
        for broken in self.broken:
            raise BrokenFileError(broken)
        return self

    def __missing__(self, name: str) -> Item:
        """What the class says of a name that is not there."""
        found = self.everything.get(name)
        if isinstance(found, Broken):
            raise BrokenFileError(found)
        if not self:
            self.checked()
        raise KeyError(name)


def log(broken: Broken, trace: str = "") -> None:
    """Write to the log what is broken, once, not for every visitor."""
    _log_once(broken, trace)


@functools.cache
def _log_once(broken: Broken, trace: str) -> None:
    # A worker's parent reads the same files.
    if multiprocessing.parent_process() is None:
        LOGGER.error("%s%s", broken, trace)


def read_text(path: Path) -> str:
    """A file's text. Raises BrokenFileError."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BrokenFileError(
            Broken(path.name, 1, f"It cannot be read: {error.strerror}.")
        ) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BrokenFileError(
            Broken(path.name, line, "This is not UTF-8 text: save it as UTF-8.")
        ) from None


def read_folder(folder: Path, pattern: str, read: Callable[[Path], Item]) -> Entries[Item]:
    """What `read` makes of each file, in the order of their names.

    Each is named as its file, without number and ending: 01_memory.md is memory.
    """
    found: dict[str, Item | Broken] = {}
    for path in sorted(folder.glob(pattern)):
        named = FILE_NAME.fullmatch(path.stem)
        name = named["name"] if named else path.name
        if name in found:
            found[path.name] = Broken(path.name, 1, f"Another file is also named {name}.")
            continue
        try:
            found[name] = read(path)
        except BrokenFileError as error:
            found[name] = error.broken
    none = Broken(f"{folder.name}/{pattern}", 1, "There is no such file.")
    return Entries(found or {folder.name: none})


def parse_toml(text: str, file: str, line: int = 1) -> dict[str, Any]:
    """What TOML text holds that begins in a line of a file. Raises BrokenFileError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = TOML_LINE.search(str(error))
        at = int(place["line"]) if place else text.rstrip("\n").count("\n") + 1
        sentence = TOML_LINE.sub("", str(error)).replace(" (at end of document)", " at its end")
        raise BrokenFileError(
            Broken(file, line + at - 1, f"This is not TOML: {sentence}.")
        ) from None


def misfit(error: msgspec.ValidationError, text: str, file: str, table: str) -> Broken:
    """What a table of a file's TOML text has that does not fit."""
    path = str(error).partition("`$")[2].rstrip("`")
    return Broken(file, toml_line(text, table + path), f"{table}: {error}.")


def toml_line(text: str, path: str) -> int:
    """The line of a key in TOML text, or of the last one before it that is found.

    >>> toml_line("[[preset]]\\nname = 1\\n[[preset]]\\nname = 2\\n", "preset[1].name")
    4
    """
    start = 0
    for key in KEY.finditer(path):
        name = re.escape(key["name"])
        written = re.compile(rf"^[ \t]*(?:\[+(?:\w+\.)*{name}\]|{name}[ \t]*=)", re.MULTILINE)
        found = [one.start() for one in written.finditer(text, start)]
        if not found:
            break
        start = found[min(int(key["index"] or 0), len(found) - 1)]
    return text.count("\n", 0, start) + 1
