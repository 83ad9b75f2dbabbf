"""The head of a for loop: which of its three parts are there."""

from __future__ import annotations

from typing import Any

from simulator.frontend.clang import span_of
from simulator.frontend.source import blank_comments
from simulator.language.errors import SourceError


def for_parts(text: str, cursor: Any, head: list[Any]) -> list[str]:
    """Which of start, test and advance each child of a for loop's head is.

    Clang leaves parts that are not there out of its children without a mark, so the head's two
    semicolons are looked for in the text.
    """
    names = ["start", "test", "advance"]
    if len(head) == len(names):
        return names
    begin = cursor.extent.start.offset
    raw = text.encode()[begin : cursor.extent.end.offset].decode(errors="replace")
    code = blank_comments(raw)
    depth, semicolons = 0, []
    for position, character in enumerate(code):
        depth += (character in "([{") - (character in ")]}")
        if character == ";" and depth == 1:
            semicolons.append(begin + len(code[:position].encode()))
        if depth == 0 and character == ")":
            break
    if len(semicolons) != 2:
        raise SourceError("Write all three parts of this for loop's head.", span_of(cursor))
    return [
        names[sum(child.extent.start.offset > semicolon for semicolon in semicolons)]
        for child in head
    ]
