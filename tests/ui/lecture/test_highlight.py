"""The colours of a kernel's text."""

from __future__ import annotations

import pytest

from simulator import catalogue
from ui.lecture.highlight import highlight


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_the_pieces_of_a_line_are_the_line(name: str) -> None:
    lines = catalogue()[name].source().split("\n")
    for line, pieces in zip(lines, highlight(lines), strict=True):
        assert "".join(text for _, text in pieces) == line


def test_a_line_that_takes_pygments_a_minute_has_no_colours() -> None:
    line = "# " + "/* */ " * 9000
    assert highlight(["int x;", line, "int y;"])[1:] == [
        [("plain", line)], [("keyword", "int"), ("plain", " y;")]
    ]  # fmt: skip
