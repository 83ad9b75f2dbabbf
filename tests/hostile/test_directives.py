"""No spelling of a directive makes a compiler read a file of the host, or says whether it is there.

Each text is compiled once where the file exists and once where it does not: what is said of both is
the same. NVRTC's own tests are in tests/gpu/test_compile.py.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from simulator import SourceError, compile_kernel
from simulator.frontend.lexer import in_one_spelling
from tests.hostile.directives import FOUND, spellings

KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n"
NAMES = [name for name, _ in spellings("file.h")]
PARTS = 8


def said(text: str) -> str:
    try:
        kernel = compile_kernel(text + KERNEL, "k")
    except SourceError as error:
        return str(error)
    return "\n".join((*kernel.warnings, *kernel.notes))


@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.deep) for part in range(1, PARTS))]
)
def test_no_spelling_reads_a_file(part: int, tmp_path: Path) -> None:
    """One part of all spellings."""
    there, other = tmp_path / "there.h", tmp_path / "other.h"
    there.write_text(f"#error {FOUND}\n")
    both = zip(spellings(str(there)), spellings(str(other)), strict=True)
    read = {}
    for (name, text), (_, same) in itertools.islice(both, part, None, PARTS):
        found = said(text).replace(there.name, other.name)
        if FOUND in found or found != said(same):
            read[name] = found
    assert read == {}


def test_names_differ() -> None:
    assert len(NAMES) == len(set(NAMES)) > 300


@pytest.mark.parametrize(
    "defines",
    [
        {'X\n#include "a.h"\n': "1"},
        {"X(a)": "1"},
        {"": "1"},
        {"X": '1\n#include "a.h"'},
        {"X": '1\r#include "a.h"'},
        {"X": "\ud800"},
    ],
)
def test_no_macro_carries_a_line(defines: dict[str, str]) -> None:
    with pytest.raises(SourceError):
        compile_kernel(KERNEL, "k", defines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("\ufeffa\fb\vc", "a b c"),
        ("a\n\rb", "a\n\nb"),
        ("a\u2028\x85b", "a\u2028\x85b"),
    ],
)
def test_a_text_has_one_spelling(text: str, expected: str) -> None:
    assert in_one_spelling(text) == expected
    assert in_one_spelling(expected) == expected
