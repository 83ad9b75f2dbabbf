"""What if: switches that edit a kernel's text, so that what is shown is still what runs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from simulator.catalogue import Entry
from simulator.frontend.lexer import blank_comments

ELEMENTS = {"double": "float64", "float": "float32"}  # what A, B and C then hold

LATER_BARRIERS = {2: "third", 3: "fourth", 4: "fifth"}  # beside a tile's first and second
MOST_BARRIERS = 5  # of a text whose barriers can be removed

BARRIER = re.compile(r"^[ \t]*(__syncthreads\(\);)[ \t]*$", re.MULTILINE)
REMOVED = re.compile(r"^[ \t]*(// __syncthreads\(\); removed)$", re.MULTILINE)
TILE_OF_B = re.compile(r"\b(__shared__ (?:float|double) Bs\[(\w+)\])\[\2\];")
ROW_OF_B = re.compile(r"\bBs\[ty\]\[tx\](?= = )")
COLUMN_OF_B = re.compile(r"\bBs\[k\]\[tx\]")
FLOAT = re.compile(r"\bfloat\b")
DOUBLE = re.compile(r"\bdouble\b")
NUMBER = r"(?<![\w.])((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)"
FLOAT_NUMBER = re.compile(NUMBER + r"([fF])\b")
DOUBLE_NUMBER = re.compile(NUMBER + r"(?![\w.])")
# Short vectors, copies of so many bytes and functions such as fmaf are of one type for good.
OF_ONE_TYPE = re.compile(r"(?:float|double)\w|reinterpret_cast|__pipeline|\b(?!if\b)\w+f[ \t]*\(")


@dataclass(frozen=True, slots=True)
class Edit:
    """A switch: its name in an address, its name for readers, and what it does, in a sentence."""

    key: str
    label: str
    explains: str


@dataclass(frozen=True, slots=True)
class Change:
    """One line that an edit changed: its number in the new text, from 1, before and after.

    old is None for a line that was added; new for one taken out, which stood before that number.
    """

    line: int
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Switch:
    """An edit and how it is made: `make` gives the new text, or None where it does not apply."""

    edit: Edit
    make: Callable[[str], str | None]


def edits(text: str) -> tuple[Edit, ...]:
    """The edits that apply to a kernel's text, in the order they are offered."""
    return tuple(switch.edit for switch in SWITCHES if switch.make(text) is not None)


def applied(text: str, keys: Collection[str]) -> str:
    """The text with the edits of these keys made, the same whatever their order; as many lines.

    Raises ValueError, a sentence, for a key that is unknown or does not apply to the text.
    """
    known = {switch.edit.key: switch for switch in SWITCHES}
    for key in keys:
        if key not in known:
            raise ValueError(f"{key!r} is no edit; there are {', '.join(known)}.")
        if known[key].make(text) is None:
            raise ValueError(
                f"“{known[key].edit.label}” does not apply to this kernel: its text has nothing "
                "for it to change. Switch it off or choose another kernel."
            )
    for key in sorted(set(keys), key=list(known).index, reverse=True):
        made = known[key].make(text)
        assert made is not None, key  # no edit takes away what another one changes
        text = made
    return text


def changes(before: str, after: str) -> tuple[Change, ...]:
    """The lines in which two texts differ, in the order of the new one."""
    old, new = before.splitlines(), after.splitlines()
    found: list[Change] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        for n in range(max(i_end - i, j_end - j)):
            found.append(
                Change(
                    min(j + n, j_end) + 1,
                    old[i + n] if i + n < i_end else None,
                    new[j + n] if j + n < j_end else None,
                )
            )
    return tuple(found)


def retyped(entry: Entry, keys: Collection[str]) -> Entry:
    """The entry with the element type that its edited text takes: its launches convert to it."""
    element = next((ELEMENTS[key] for key in keys if key in ELEMENTS), entry.element)
    return replace(entry, element=element)


def _rewritten(text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> str:
    """The text with each match of the pattern outside comments replaced."""
    pieces: list[str] = []
    copied = 0
    for match in pattern.finditer(blank_comments(text)):  # as long as the text
        pieces += (text[copied : match.start()], new(match))
        copied = match.end()
    return "".join((*pieces, text[copied:]))


def _without_barrier(number: int, least: int, most: int) -> Callable[[str], str | None]:
    """Comment out barrier `number` (from 0) of a text that has from `least` to `most` barriers."""

    def make(text: str) -> str | None:
        code = blank_comments(text)
        left, taken = list(BARRIER.finditer(code)), list(REMOVED.finditer(text))
        count = len(left) + len(taken)
        if code.count("__syncthreads") != len(left) or not least <= count <= most:
            return None
        # One that is already taken out still counts: the other keeps its number.
        match = sorted((*left, *taken), key=re.Match.start)[number]
        if match in taken:
            return None
        return f"{text[: match.start(1)]}// {match[1]} removed{text[match.end(1) :]}"

    return make


def _padded(text: str) -> str | None:
    made = _rewritten(text, TILE_OF_B, lambda found: f"{found[1]}[{found[2]} + 1];")
    return made if made != text else None


def _transposed(text: str) -> str | None:
    """Bs stored and read with its indices exchanged, where its only uses are the expected two."""
    code = blank_comments(text)
    uses = [len(pattern.findall(code)) for pattern in (TILE_OF_B, ROW_OF_B, COLUMN_OF_B)]
    if uses != [1, 1, 1] or len(re.findall(r"\bBs\b", code)) != len(uses):
        return None
    text = _rewritten(text, ROW_OF_B, lambda _: "Bs[tx][ty]")
    return _rewritten(text, COLUMN_OF_B, lambda _: "Bs[tx][k]")


def _in_double(text: str) -> str | None:
    code = blank_comments(text)
    if OF_ONE_TYPE.search(code) or DOUBLE.search(code) or not FLOAT.search(code):
        return None
    text = _rewritten(text, FLOAT, lambda _: "double")
    return _rewritten(text, FLOAT_NUMBER, lambda found: found[1])


def _in_float(text: str) -> str | None:
    code = blank_comments(text)
    if OF_ONE_TYPE.search(code) or FLOAT.search(code) or not DOUBLE.search(code):
        return None
    text = _rewritten(text, DOUBLE, lambda _: "float")
    return _rewritten(text, DOUBLE_NUMBER, lambda found: f"{found[1]}f")


SWITCHES = (
    Switch(
        Edit(
            "first-barrier",
            "Remove the first barrier",
            "Threads no longer wait until the tiles are filled, and may read cells that another "
            "thread has yet to write.",
        ),
        _without_barrier(0, 2, MOST_BARRIERS),
    ),
    Switch(
        Edit(
            "second-barrier",
            "Remove the second barrier",
            "Threads no longer wait until the tiles have been read, and may overwrite cells that "
            "another thread still needs.",
        ),
        _without_barrier(1, 2, MOST_BARRIERS),
    ),
    *(
        Switch(
            Edit(
                f"{ordinal}-barrier",
                f"Remove the {ordinal} barrier",
                f"Threads no longer wait for one another where the text has its {ordinal} "
                "barrier; one that this launch does not come to is not missed.",
            ),
            _without_barrier(number, number + 1, MOST_BARRIERS),
        )
        for number, ordinal in LATER_BARRIERS.items()
    ),
    Switch(
        Edit(
            "barrier",
            "Remove the barrier",
            "Threads wait neither until the next tiles are filled nor until the last ones have "
            "been read.",
        ),
        _without_barrier(0, 1, 1),
    ),
    Switch(
        Edit(
            "pad",
            "Pad the tile of B",
            "One unused element at the end of each row of Bs shifts the rows against one another, "
            "so that a column of Bs lies in different banks.",
        ),
        _padded,
    ),
    Switch(
        Edit(
            "transpose",
            "Transpose the tile of B",
            "Bs is stored with its rows and columns exchanged, so that both tiles are read along "
            "k, and a warp's reads of Bs meet in few banks.",
        ),
        _transposed,
    ),
    Switch(
        Edit(
            "double",
            "Double in place of float",
            "Every value takes 8 bytes in place of 4, and a sum keeps 53 significant bits "
            "in place of 24.",
        ),
        _in_double,
    ),
    Switch(
        Edit(
            "float",
            "Float in place of double",
            "Every value takes 4 bytes in place of 8, and a sum keeps 24 significant bits "
            "in place of 53.",
        ),
        _in_float,
    ),
)
