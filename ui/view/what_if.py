"""What-if switches: edits of a kernel's source, so that the shown text is the text that runs."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from simulator.catalogue import Entry
from simulator.frontend.lexer import blank_comments

# Element type of A, B and C, by edit.
ELEMENTS = {"double": "float64", "float": "float32"}

# By number, from 0; the first and the second have switches with texts of their own.
LATER_BARRIERS = {2: "third", 3: "fourth", 4: "fifth"}
MAX_BARRIERS = 5  # a source with more has no switches for its barriers

BARRIER = re.compile(r"^[ \t]*(__syncthreads\(\);)[ \t]*$", re.MULTILINE)
REMOVED = re.compile(r"^[ \t]*(// __syncthreads\(\); removed)$", re.MULTILINE)
TILE_OF_B = re.compile(r"\b(__shared__ (?:volatile )?(?:float|double) Bs\[(\w+)\])\[\2\];")
PADDED_TILE = re.compile(r"(\bBs\[(\w+)\]\[\2 \+ )1\];")
TILES = re.compile(r"\b__shared__ (?=(?:float|double) [AB]s\[)")
ROW_OF_B = re.compile(r"\bBs\[ty\]\[tx\](?= = )")
COLUMN_OF_B = re.compile(r"\bBs\[k\]\[tx\]")
INNER_PRODUCT = re.compile(
    r"(?<=\n)([ \t]*for \(int k = 0; k < \w+; \+\+k\)\n[ \t]*)(acc \+= As[^;\n]*;)$", re.MULTILINE
)
INNER_BARRIER = re.compile(r"\{ acc [^{}\n]*; __syncthreads\(\); \}")
LOAD_OF_TILE = re.compile(
    r"\b([AB]s\[[^]\n]*\]\[[^]\n]*\] = )([^;?\n]*) \? ([AB]\[[^]\n]*\]) : 0\.0f?;"
)
GUARDED_LOAD = re.compile(r"\bif \([^;{}\n]*\) (?=[AB]s\[)")
STORE_OF_TILE = re.compile(
    r"^([ \t]*)(?=(?:if \([^;{}\n]*\) )?[AB]s\[[^]\n]*\]\[[^]\n]*\] = [^;\n]*\b[AB]\[)",
    re.MULTILINE,
)
STORE_GUARD = re.compile(r"^([ \t]*)(if \(row < M && col < N\))( \{)?$", re.MULTILINE)
THREADS = re.compile(r"\b(int tx = threadIdx\.)x(;\s*int ty = threadIdx\.)y;")
FLOAT = re.compile(r"\bfloat\b")
DOUBLE = re.compile(r"\bdouble\b")
NUMBER = r"(?<![\w.])((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)"
FLOAT_NUMBER = re.compile(NUMBER + r"([fF])\b")
DOUBLE_NUMBER = re.compile(NUMBER + r"(?![\w.])")
# Short vectors, copies of a number of bytes, and functions such as fmaf cannot change type.
SINGLE_TYPE_ONLY = re.compile(
    r"(?:float|double)\w|reinterpret_cast|__pipeline|\b(?!if\b)\w+f[ \t]*\("
)


@dataclass(frozen=True, slots=True)
class Edit:
    """A switch as a reader sees it."""

    key: str  # its name in an address
    label: str
    help_text: str  # a sentence: what the edit does
    is_fault: bool = False  # whether the kernel is wrong with it


@dataclass(frozen=True, slots=True)
class Change:
    """A line that an edit changed, added or deleted."""

    line: int  # number in the new text, from 1; a deleted line was before this line
    old: str | None  # None for an added line
    new: str | None  # None for a deleted line


@dataclass(frozen=True, slots=True)
class Switch:
    """An edit and the function that applies it."""

    apply: Callable[[str], str | None]  # source to new source, None if it does not apply
    edit: Edit


@functools.lru_cache(256)
def applicable_edits(text: str) -> tuple[Edit, ...]:
    """List the edits that apply to a kernel's source, in the order of SWITCHES."""
    return tuple(switch.edit for switch in SWITCHES if switch.apply(text) is not None)


def apply_edits(text: str, keys: Collection[str]) -> str:
    """Apply the edits with these keys to a kernel's source; their order does not matter.

    The result has as many lines. Raises ValueError, a sentence, for an unknown key or an edit
    that does not apply to the source.

    >>> apply_edits("float sum = 0.5f;", ["double"])
    'double sum = 0.5;'
    """
    known = {switch.edit.key: switch for switch in SWITCHES}
    for key in keys:
        if key not in known:
            raise ValueError(f"{key!r} is not an edit; the edits are {', '.join(known)}.")
        if known[key].apply(text) is None:
            raise ValueError(
                f"“{known[key].edit.label}” does not apply to this kernel: nothing in its code "
                "would change. Switch it off or choose another kernel."
            )
    for key in sorted(set(keys), key=list(known).index, reverse=True):
        edited = known[key].apply(text)
        assert edited is not None, key  # no edit removes what another edit changes
        text = edited
    return text


def without_faults(keys: Collection[str]) -> tuple[str, ...]:
    """The edits that leave a kernel right, in their order."""
    faults = {switch.edit.key for switch in SWITCHES if switch.edit.is_fault}
    return tuple(key for key in keys if key not in faults)


def diff_lines(before: str, after: str) -> tuple[Change, ...]:
    """List the lines in which two texts differ, in the order of the new text."""
    old, new = before.splitlines(), after.splitlines()
    changed: list[Change] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for operation, i, i_end, j, j_end in matcher.get_opcodes():
        if operation == "equal":
            continue
        for offset in range(max(i_end - i, j_end - j)):
            changed.append(
                Change(
                    min(j + offset, j_end) + 1,
                    old[i + offset] if i + offset < i_end else None,
                    new[j + offset] if j + offset < j_end else None,
                )
            )
    return tuple(changed)


def with_element_type(entry: Entry, keys: Collection[str]) -> Entry:
    """Return the entry with the element type of its edited source, used by its launches."""
    element = next((ELEMENTS[key] for key in keys if key in ELEMENTS), entry.element)
    return replace(entry, element=element)


def _replace_matches(
    text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]
) -> str:
    """Replace each match of the pattern outside comments."""
    pieces: list[str] = []
    copied = 0
    for match in pattern.finditer(blank_comments(text)):  # has the length of the text
        pieces += (text[copied : match.start()], new(match))
        copied = match.end()
    return "".join((*pieces, text[copied:]))


def _barrier_remover(number: int, least: int, most: int) -> Callable[[str], str | None]:
    """Return an edit that comments out barrier `number`, from 0.

    It applies to a source that has from `least` to `most` barriers.
    """

    def apply(text: str) -> str | None:
        code = blank_comments(text)
        active, removed = list(BARRIER.finditer(code)), list(REMOVED.finditer(text))
        count = len(active) + len(removed)
        others = len(INNER_BARRIER.findall(code))
        calls = len(re.findall(r"\b__syncthreads\b", code))  # without votes, which give a value
        if calls != len(active) + others or not least <= count <= most:
            return None
        # A barrier that is already removed still counts, so that the others keep their numbers.
        match = sorted((*active, *removed), key=re.Match.start)[number]
        if match in removed:
            return None
        return f"{text[: match.start(1)]}// {match[1]} removed{text[match.end(1) :]}"

    return apply


def _changed(
    text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]
) -> str | None:
    """Replace each match outside comments; None where there is none."""
    changed = _replace_matches(text, pattern, new)
    return changed if changed != text else None


def _replacer(
    pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]
) -> Callable[[str], str | None]:
    """Return an edit that replaces each match outside comments."""
    return lambda text: _changed(text, pattern, new)


def _transpose_tile(text: str) -> str | None:
    """Exchange the indices of Bs where it is stored and read, if it has no other uses."""
    code = blank_comments(text)
    uses = [len(pattern.findall(code)) for pattern in (TILE_OF_B, ROW_OF_B, COLUMN_OF_B)]
    if uses != [1, 1, 1] or len(re.findall(r"\bBs\b", code)) != len(uses):
        return None
    text = _replace_matches(text, ROW_OF_B, lambda _: "Bs[tx][ty]")
    return _replace_matches(text, COLUMN_OF_B, lambda _: "Bs[tx][k]")


def _load_and_store_beyond_edges(text: str) -> str | None:
    """Take the conditions from the loads of tiles and from the store into C."""
    text_of = "// {} removed".format
    guards = len(STORE_GUARD.findall(blank_comments(text)))
    if guards != 1:
        return None
    text = _replace_matches(
        text, STORE_GUARD, lambda match: f"{match[1]}{'{  ' if match[3] else ''}{text_of(match[2])}"
    )
    text = _replace_matches(text, GUARDED_LOAD, lambda _: "")
    return _replace_matches(text, LOAD_OF_TILE, lambda match: f"{match[1]}{match[3]};")


def _swap_threads(text: str) -> str | None:
    """Exchange x and y of a block that is a square."""
    if not re.search(r"\bBs\[(\w+)\]\[\1(?: \+ \d)?\];", blank_comments(text)):
        return None
    return _changed(text, THREADS, lambda match: f"{match[1]}y{match[2]}x;")


def _make_tiles_volatile(text: str) -> str | None:
    if SINGLE_TYPE_ONLY.search(blank_comments(text)):
        return None
    return _changed(text, TILES, lambda match: f"{match[0]}volatile ")


def _use_double(text: str) -> str | None:
    code = blank_comments(text)
    if SINGLE_TYPE_ONLY.search(code) or DOUBLE.search(code) or not FLOAT.search(code):
        return None
    text = _replace_matches(text, FLOAT, lambda _: "double")
    return _replace_matches(text, FLOAT_NUMBER, lambda match: match[1])


def _use_float(text: str) -> str | None:
    code = blank_comments(text)
    if SINGLE_TYPE_ONLY.search(code) or FLOAT.search(code) or not DOUBLE.search(code):
        return None
    text = _replace_matches(text, DOUBLE, lambda _: "float")
    return _replace_matches(text, DOUBLE_NUMBER, lambda match: f"{match[1]}f")


SWITCHES = (
    Switch(_barrier_remover(0, 2, MAX_BARRIERS), Edit(
        "first-barrier", "Remove the first barrier",
        "Threads no longer wait until the tiles are filled, and may read cells that another "
        "thread has yet to write.", is_fault=True,
    )),
    Switch(_barrier_remover(1, 2, MAX_BARRIERS), Edit(
        "second-barrier", "Remove the second barrier",
        "Threads no longer wait until the tiles have been read, and may overwrite cells that "
        "another thread still needs.", is_fault=True,
    )),
    *(
        Switch(_barrier_remover(number, number + 1, MAX_BARRIERS), Edit(
            f"{ordinal}-barrier", f"Remove the {ordinal} barrier",
            f"Threads no longer wait for one another where the code has its {ordinal} barrier; "
            "removing a barrier that this launch never reaches makes no difference.", is_fault=True,
        ))
        for number, ordinal in LATER_BARRIERS.items()
    ),
    Switch(_barrier_remover(0, 1, 1), Edit(
        "barrier", "Remove the barrier",
        "Threads wait neither until the next tiles are filled nor until the last ones have "
        "been read.", is_fault=True,
    )),
    Switch(_replacer(
        INNER_PRODUCT, lambda found: f"{found[1]}{{ {found[2]} __syncthreads(); }}"
    ), Edit(
        "inner-barrier", "A barrier after each product",
        "The sums stay right, but the threads wait for one another TILE + 2 times a tile "
        "instead of twice.",
    )),
    Switch(_load_and_store_beyond_edges, Edit(
        "bounds", "No bounds check",
        "Where tiles do not divide the sizes, threads beyond an edge still load and store: "
        "they touch the next row, or memory that is not part of a matrix.", is_fault=True,
    )),
    Switch(_replacer(LOAD_OF_TILE, lambda found: f"if ({found[2]}) {found[1]}{found[3]};"), Edit(
        "zero-fill", "No zero fill",
        "Cells of a tile beyond an edge keep what they held: no value yet, or a value of "
        "the previous tile, whose products are then added to the sums.", is_fault=True,
    )),
    Switch(_swap_threads, Edit(
        "swap", "Swap x and y of the threads",
        "A warp's threads then follow a column instead of a row: their accesses to global "
        "memory no longer coalesce, and those to shared memory fall into few banks.",
    )),
    Switch(_replacer(
        STORE_OF_TILE, lambda found: f"{found[1]}for (int twice = 0; twice < 2; ++twice) "
    ), Edit(
        "load-twice", "Load each tile twice",
        "The sums stay the same, but every tile is fetched from global memory twice: a block "
        "makes twice as many loads as it needs.",
    )),
    Switch(_replacer(TILE_OF_B, lambda found: f"{found[1]}[{found[2]} + 1];"), Edit(
        "pad", "Pad the tile of B",
        "One unused element at the end of each row of Bs shifts the rows against one another, "
        "so that a column of Bs lies in different banks.",
    )),
    Switch(_replacer(PADDED_TILE, lambda found: f"{found[1]}2];"), Edit(
        "pad-more", "One more column of padding",
        "The rows of Bs are then an even number of words apart, and a column lies in every "
        "second bank: with TILE 32 a warp's reads of a column have 2-way conflicts.",
    )),
    Switch(_transpose_tile, Edit(
        "transpose", "Transpose the tile of B",
        "Bs is stored with its rows and columns exchanged, so that both tiles are read along "
        "their rows, and a warp's reads of Bs fall into few banks.",
    )),
    Switch(_make_tiles_volatile, Edit(
        "volatile", "Volatile tiles",
        "The compiler must read shared memory wherever the source does: the sums stay the "
        "same, and a GPU's counters come close to the simulator's.",
    )),
    Switch(_use_double, Edit(
        "double", "Double instead of float",
        "Every value takes 8 bytes instead of 4, and a sum keeps 53 significant bits "
        "instead of 24.",
    )),
    Switch(_use_float, Edit(
        "float", "Float instead of double",
        "Every value takes 4 bytes instead of 8, and a sum keeps 24 significant bits "
        "instead of 53.",
    )),
)  # fmt: skip
