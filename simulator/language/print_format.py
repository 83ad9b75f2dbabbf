"""printf's formats: their conversions, and how C writes a value with each."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

MAX_WIDTH = 500  # of a field, and digits after the point
MAX_TEXT = 4_000  # characters that one call prints
MAX_ARGUMENTS = 32  # of a call (CUDA C++ Programming Guide, formatted output)
CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]{0,8})(?P<width>\d{0,9}|\*)(?:\.(?P<precision>\d{0,9}|\*))?"
    r"(?P<size>hh|h|ll|l|j|z|t|L)?(?P<letter>[a-zA-Z%])"
)
BITS = {"hh": 8, "h": 16, "l": 64, "ll": 64, "j": 64, "z": 64, "t": 64}  # else 32
INTEGERS, FLOATS = "diuxXoc", "fFeEgGaA"


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion of a format, such as %-8.3f."""

    flags: str
    width: str  # digits, "*" for an argument, "" for none
    precision: str | None  # as the width; None without a point
    size: str  # "", "l", "ll", …
    letter: str  # one of INTEGERS, FLOATS, "s" and "p"
    text: str  # as the format has it

    @property
    def arguments(self) -> int:
        """How many arguments it takes."""
        return 1 + (self.width == "*") + (self.precision == "*")


def parse_format(text: str) -> list[str | Conversion]:
    """A format as plain texts and conversions, in order; ValueError for one that is not taken.

    From the first conversion whose argument would come after MAX_ARGUMENTS all is plain text.

    >>> [str(piece) if isinstance(piece, str) else piece.text for piece in parse_format("x%%=%5d")]
    ['x', '%', '=', '%5d']
    """
    pieces: list[str | Conversion] = []
    position, arguments = 0, 0
    while position < len(text):
        percent = text.find("%", position)
        if percent < 0:
            percent = len(text)
        if percent > position:
            pieces.append(text[position:percent])
            position = percent
            continue
        found = CONVERSION.match(text, position)
        shown = text[position : position + 12]
        if found is None:
            raise ValueError(f"printf's format has {shown!r}, which is not a conversion of C.")
        position = found.end()
        if found["letter"] == "%":
            pieces.append("%")
            continue
        conversion = Conversion(
            found["flags"], found["width"], found["precision"], found["size"] or "",
            found["letter"], found[0],
        )  # fmt: skip
        _check(conversion)
        arguments += conversion.arguments
        if arguments > MAX_ARGUMENTS:
            pieces.append(text[found.start() :])
            break
        pieces.append(conversion)
    return pieces


def _check(conversion: Conversion) -> None:
    """Raise ValueError for a conversion that a kernel's printf does not take."""
    shown = conversion.text
    if conversion.letter not in INTEGERS + FLOATS + "sp":
        raise ValueError(f"printf takes no {shown}; use one of %d %u %x %o %c %f %e %g %a %s %p.")
    for number in (conversion.width, conversion.precision or ""):
        if number.isdigit() and int(number) > MAX_WIDTH:
            raise ValueError(f"{shown} asks for more than {MAX_WIDTH} characters.")


def format_text(
    pieces: Sequence[str | Conversion], values: Sequence[Any], texts: Sequence[str]
) -> str:
    """What printf prints: numbers of NumPy's types, indices in texts for %s, text for %p.

    A conversion without an argument stays as it is. At most MAX_TEXT characters.

    >>> format_text(parse_format("%d of %5.1f%%"), [3, 2.5], [])
    '3 of   2.5%'
    """
    remaining = iter(values)
    written: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            written.append(piece)
            continue
        given = list(islice(remaining, piece.arguments))
        if len(given) < piece.arguments:
            written.append(piece.text)
        else:
            written.append(_convert(piece, given, texts))
    return "".join(written)[:MAX_TEXT]


def _convert(conversion: Conversion, given: list[Any], texts: Sequence[str]) -> str:
    """One conversion with its arguments, the last of which is what it writes."""
    flags, width, precision = conversion.flags, conversion.width, conversion.precision
    stars = [max(-MAX_WIDTH, min(MAX_WIDTH, _star(value))) for value in given[:-1]]
    if width == "*":
        number = stars.pop(0)
        flags, width = flags + "-" * (number < 0), str(abs(number))
    if precision == "*":
        number = stars.pop(0)
        precision = None if number < 0 else str(number)
    value, letter = given[-1], conversion.letter
    if letter == "p":
        return _pad(str(value), flags, width)
    if letter == "s":
        text = texts[int(value)] if isinstance(value, int) and 0 <= value < len(texts) else "?"
        return _pad(text if precision is None else text[: int(precision or 0)], flags, width)
    if isinstance(value, str):  # a pointer, where a number is asked for
        return _pad(value, flags, width)
    if letter == "c":
        return _pad(chr(_integer(value) & 0xFF), flags, width)
    point = "" if precision is None else f".{precision or 0}"
    if letter in INTEGERS:
        return _format_integer(conversion, _integer(value), flags, width, point)
    return _format_float(letter, _float(value), flags, width, point)


def _format_integer(conversion: Conversion, value: int, flags: str, width: str, point: str) -> str:
    bits = BITS.get(conversion.size, 32)
    value &= (1 << bits) - 1
    letter = conversion.letter
    if letter in "di" and value >> (bits - 1):
        value -= 1 << bits
    if letter not in "di":
        flags = flags.replace("+", "").replace(" ", "")
    if point:
        flags = flags.replace("0", "")
    if point == ".0" and value == 0:
        return _pad("+" if "+" in flags and letter in "di" else "", flags, width)
    if letter == "o" and "#" in flags:  # Python writes 0o
        return _pad(f"0{value:o}" if value else "0", flags, width)
    if value == 0 or letter in "diu":
        flags = flags.replace("#", "")
    return f"%{flags}{width}{point}{'d' if letter in 'iu' else letter}" % value


def _format_float(letter: str, value: float, flags: str, width: str, point: str) -> str:
    if not math.isfinite(value):
        name = "nan" if math.isnan(value) else "inf"
        sign = "-" if math.copysign(1, value) < 0 else "+" if "+" in flags else ""
        return _pad(sign + (name.upper() if letter.isupper() else name), flags, width)
    if letter in "aA":
        mantissa, _, exponent = value.hex().partition("p")
        whole, _, fraction = mantissa.partition(".")
        digits = fraction.rstrip("0")
        text = f"{whole}{'.' if digits else ''}{digits}p{exponent}"
        return _pad(text.upper() if letter == "A" else text, flags, width)
    return f"%{flags}{width}{point}{letter}" % value


def _pad(text: str, flags: str, width: str) -> str:
    size = int(width or 0)
    return text.ljust(size) if "-" in flags else text.rjust(size)


def _star(value: Any) -> int:
    """A width or precision that is an argument, as C reads an int; a pointer has no number here."""
    bits = 0 if isinstance(value, str) else _integer(value) & 0xFFFF_FFFF
    return bits - ((bits >> 31) << 32)


def _integer(value: Any) -> int:
    """A number as C reads an integer from it: of a double, its bits."""
    if isinstance(value, float):
        return int(struct.unpack("<q", struct.pack("<d", value))[0])
    return int(value)


def _float(value: Any) -> float:
    """A number as C reads a double from it: of an integer, its bits."""
    if isinstance(value, float):
        return value
    read: Callable[..., tuple[float]] = struct.unpack
    return read("<d", struct.pack("<q", (int(value) + 2**63) % 2**64 - 2**63))[0]
