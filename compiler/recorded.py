"""The catalogue's machine code as this program recorded it, for machines without the compiler.

A file an architecture, JSON in gzip: `python -m compiler record` writes them.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from compiler.machine_code import LiveRange, MachineCode
from compiler.opcodes import classify, opcode_of
from simulator.frontend.lexer import blank_comments

FOLDER = Path(__file__).resolve().parent.parent / "assets" / "recorded" / "machine_code"
ARCHITECTURES = ("sm_80", "sm_90", "sm_120")  # A100, H100 and H200, RTX 50
PLAIN = (
    "kernel", "architecture", "compiler", "padding", "registers", "shared_bytes", "stack_bytes",
    "spill_stores", "spill_loads",
)  # fmt: skip


def key(text: str) -> str:
    """What source is recorded under: the same for texts that differ in comments alone."""
    lines = (line.rstrip() for line in blank_comments(text).splitlines())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def recorded(text: str, architecture: str) -> MachineCode | None:
    """The recorded machine code of source with its macros set, None where none was recorded."""
    found = _load(architecture).get(key(text))
    return None if found is None else decode(found)


@functools.cache
def _load(architecture: str) -> Mapping[str, Any]:
    path = FOLDER / f"{architecture}.json.gz"
    if architecture not in ARCHITECTURES or not path.is_file():
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found: Mapping[str, Any] = json.load(file)
    return found


def write_recording(architecture: str, codes: Iterable[tuple[str, MachineCode]]) -> Path:
    """Write an architecture's file: each text, with its macros set, and its machine code."""
    path = FOLDER / f"{architecture}.json.gz"
    content = json.dumps({key(text): encode(code) for text, code in codes}, separators=(",", ":"))
    FOLDER.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content.encode(), mtime=0))  # the same bytes each time
    return path


def encode(code: MachineCode) -> dict[str, Any]:
    """Machine code as JSON has it: instructions as line and text, live ranges as three numbers."""
    return {name: getattr(code, name) for name in PLAIN} | {
        "options": list(code.options),
        "instructions": [[one.line, one.text] for one in code.instructions],
        "live": code.live and [[one.register, one.first, one.last] for one in code.live],
    }


def decode(found: Mapping[str, Any]) -> MachineCode:
    """The machine code that encode() has made JSON of."""
    return MachineCode(
        **{name: found[name] for name in PLAIN},
        options=tuple(found["options"]),
        instructions=tuple(
            classify(opcode_of(text), text, line) for line, text in found["instructions"]
        ),
        live=None if found["live"] is None else tuple(LiveRange(*one) for one in found["live"]),
    )
