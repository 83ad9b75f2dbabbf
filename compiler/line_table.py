"""The lines of a cubin's instructions by its own line table, as `nvdisasm -gi` has them.

A cubin is an ELF file with a line table of DWARF 2 (.debug_line; its opcodes are those of DWARF 4,
6.2.5) and one opcode of NVIDIA's own, for what is inlined. Reading it saves a run of nvdisasm,
which takes a quarter of a second of a processor however short the code is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from compiler.machine_code import INSTRUCTION_BYTES
from compiler.toolchain import ToolchainError

COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC, FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
END_SEQUENCE, SET_ADDRESS = 1, 2  # extended: after a 0 and their length
INLINED = 0x90  # extended: the number of the row that calls, from 1 or 0 for none, and a name


@dataclass(frozen=True, slots=True)
class Section:
    """A section of an ELF file."""

    number: int
    name: str
    content: bytes  # b"" of one that has only a size


@dataclass(frozen=True, slots=True)
class Row:
    """From an address of a section on, instructions are of a line."""

    section: int
    address: int
    file: str
    line: int
    caller: int  # the number of the row that calls it, from 1; 0 for none


class Bytes:
    """Bytes that are read one number after another."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self.content, self.at = content, at

    def take(self, kind: str) -> int:
        """A number as `struct` names its kind, little-endian."""
        (found,) = struct.unpack_from(f"<{kind}", self.content, self.at)
        self.at += struct.calcsize(f"<{kind}")
        return int(found)

    def variable(self, is_signed: bool = False) -> int:
        """A number of variable length, LEB128 (DWARF 4, 7.6)."""
        found = bits = 0
        while True:
            byte = self.take("B")
            found |= (byte & 0x7F) << bits
            bits += 7
            if byte < 0x80:
                return found - (1 << bits) if is_signed and byte & 0x40 else found

    def text(self) -> str:
        """A text up to its final zero."""
        end = self.content.index(0, self.at)
        begin, self.at = self.at, end + 1
        return self.content[begin:end].decode()


def instruction_lines(image: bytes, symbol: str, filename: str) -> list[int | None]:
    """The line of `filename` of each instruction of a function's section.

    Of what a header's function does it is the line that calls it. A line holds until the next is
    named; line 0 is none. Raises ToolchainError for a file that is not as it is read here.
    """
    try:
        sections = {one.name: one for one in _sections(image)}
        function = sections[f".text.{symbol}"]
        rows = list(_rows(sections))
        # The last row at an address is the one that counts.
        last = {row.address: row for row in rows if row.section == function.number}
        lines: list[int | None] = []
        line = 0
        for address in range(0, len(function.content), INSTRUCTION_BYTES):
            row = last.get(address)
            while row is not None and row.file != filename:
                row = rows[row.caller - 1] if row.caller else None
            line = line if row is None else row.line
            lines.append(line or None)
    except (struct.error, LookupError, ValueError):
        raise ToolchainError(f"The compiled code of {symbol} cannot be read.") from None
    return lines


def _sections(image: bytes) -> Iterator[Section]:
    """The sections of a file (ELF-64 Object File Format, section header table)."""
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<3H", image, 0x3A)
    headers = [struct.unpack_from("<2I4Q2I2Q", image, table + size * n) for n in range(count)]
    for number, (name, _, _, _, begin, length, *_) in enumerate(headers):
        text = Bytes(image, headers[names][4] + name).text()
        yield Section(number, text, image[begin : begin + length])


def _addresses(sections: Mapping[str, Section]) -> Mapping[int, tuple[int, int]]:
    """By place in .debug_line: the section and the address there of the function it names."""
    found = {}
    for name in (".rela.debug_line", ".rel.debug_line"):
        relocations = sections.get(name)
        if relocations is not None:
            size = 24 if name.startswith(".rela") else 16
            for at in range(0, len(relocations.content), size):
                place, info = struct.unpack_from("<2Q", relocations.content, at)
                symbol = struct.unpack_from(
                    "<I2BHQ", sections[".symtab"].content, 24 * (info >> 32)
                )
                found[place] = symbol[3], symbol[4]
    return found


def _rows(sections: Mapping[str, Section]) -> Iterator[Row]:
    """The rows of the table, numbered from 1 in their order."""
    addresses = _addresses(sections)
    table = Bytes(sections[".debug_line"].content)
    end = table.take("I") + table.at
    table.take("H")  # the version
    program = table.take("I") + table.at
    table.take("H")  # bytes of the smallest instruction, and whether rows are statements
    base, span, first = table.take("b"), table.take("B"), table.take("B")
    arguments = [table.take("B") for _ in range(first - 1)]
    while table.text():
        pass  # a folder
    files = []
    while name := table.text():
        files.append(PurePosixPath(name).name)
        for _ in range(3):  # its folder, time and size
            table.variable()
    table.at = program
    begun = section, address, file, line, caller = 0, 0, 1, 1, 0
    while table.at < end:
        code = table.take("B")
        is_row = code >= first or code == COPY
        if code >= first:
            address += (code - first) // span
            line += base + (code - first) % span
        elif code == 0:
            length = table.variable()
            behind = table.at + length
            extended = table.take("B") if length else None
            if extended == SET_ADDRESS:
                section, offset = addresses[table.at]
                address = offset + table.take("Q")
            elif extended == INLINED:
                caller = table.variable()
            elif extended == END_SEQUENCE:
                section, address, file, line, caller = begun
            table.at = behind
        elif code == ADVANCE_PC:
            address += table.variable()
        elif code == ADVANCE_LINE:
            line += table.variable(is_signed=True)
        elif code == SET_FILE:
            file = table.variable()
        elif code == CONST_ADD_PC:
            address += (255 - first) // span
        elif code == FIXED_ADVANCE_PC:
            address += table.take("H")
        else:
            for _ in range(arguments[code - 1]):
                table.variable()
        if is_row:
            yield Row(section, address, files[file - 1], line, caller)
