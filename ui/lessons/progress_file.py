"""The file that a visitor's progress with the lessons is saved in.

>>> read(write({"memory_naive_loads"}), {"memory_naive_loads", "banks_degree"})
{'memory_naive_loads'}
"""

from __future__ import annotations

from collections.abc import Set

import msgspec

FILE_NAME = "tilewise-lessons.json"  # that the page offers to download
FORMAT = 1
MAX_FILE_BYTES = 2**16


class _File(msgspec.Struct, frozen=True):
    """The file as it stands in JSON."""

    format: int
    questions: list[str]  # that were answered right


def write(solved: Set[str]) -> bytes:
    """The file of the questions that were answered right: JSON in UTF-8."""
    return msgspec.json.format(msgspec.json.encode(_File(FORMAT, sorted(solved))), indent=1) + b"\n"


def read(data: bytes, known: Set[str]) -> set[str]:
    """The known questions of a file, which anybody may have written.

    Raises ValueError, a sentence, where it is no such file.
    """
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(f"The file has {len(data):,} bytes; one of lessons has at most 65,536.")
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("This is no file of the lessons' progress: save one here.") from None
    if file.format != FORMAT:
        raise ValueError(f"The file has format {file.format}; this reads {FORMAT}.")
    return {name for name in file.questions if name in known}
