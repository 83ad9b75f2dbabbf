"""Files that a command line's options name to be written: checked before, put in place whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from simulator.language.errors import LaunchError
from simulator.language.printable import printable

SHOWN_NAME = 40  # characters of the file's name in that of the part that is being written


def check_output(option: str, file: str, example: str) -> None:
    """Raise LaunchError for a name under which an option, such as --outputs, can write no file."""
    if not file:
        raise LaunchError(f"{option} needs the name of a file, such as {example}.")
    shown, path = f"{option} {printable(file)}", Path(file)
    try:
        if path.is_dir():
            raise LaunchError(f"{shown} is a folder: give a file in it, such as {example}.")
        if not path.exists() and not path.resolve().parent.is_dir():
            raise LaunchError(f"{shown} cannot be written: there is no such folder.")
    except (OSError, RuntimeError, ValueError) as error:  # too long, a loop of links, a zero byte
        raise LaunchError(f"{shown} cannot be written: {_reason(error)}.") from None


@contextmanager
def opened_output(file: str) -> Iterator[IO[bytes]]:
    """A file to write, which is in its place only once it is whole.

    What was there before stays until then. A device or a pipe is written as it is, and stays one.
    Raises LaunchError if it cannot be written.
    """
    path = Path(file)
    try:
        if _is_device(path):
            with path.open("wb") as out:
                yield out
            return
        path = path.resolve()
        part = path.with_name(f".{path.name[:SHOWN_NAME]}.{os.getpid()}.part")
        try:
            with part.open("wb") as out:
                yield out
            part.replace(path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    except OSError as error:
        raise LaunchError(f"{printable(file)} cannot be written: {_reason(error)}.") from None


def _is_device(path: Path) -> bool:
    """Whether it is a device, a pipe, or a name of one: /dev/stdout can be a link to a file."""
    return path.exists() and (not path.is_file() or path.absolute().is_relative_to("/dev"))


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
