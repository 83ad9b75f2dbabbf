"""The stepper's whole state in a page's address, and the nearest valid state to any address."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from simulator.catalogue import Entry, catalogue
from simulator.language.errors import list_names
from simulator.launch import MAX_THREADS, Dim3
from simulator.machine.schedule import Schedule
from ui.what_if import SWITCHES, edits

LARGEST = 64  # rows and columns of a matrix on the screen
SCHEDULES = (Schedule.LOCKSTEP, Schedule.ASCENDING, Schedule.DESCENDING)
INPUTS = ("random", "counting")  # presets.inputs says what they are
PLAIN = ("kernel", "M", "N", "K", "edits", "bx", "by", "tx", "ty", "step", "schedule", "inputs")
WHOLE = re.compile(r"[+-]?[0-9]+")
LONGEST = 200  # characters of a value that are read
ENDLESS = 10**9  # beyond it a number is as good as this one
SHOWN = 20  # characters of a wrong value that its sentence repeats

BEFORE_FIRST = "The first step is step 1; the scene begins there."

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class View:
    """What the stepper shows.

    kernel names an entry of the catalogue, defines gives all its macros in the entry's order and
    edits the switches of ui.what_if that are on, in theirs. block and thread are in x, y, step
    counts from 0. schedule is record's: the block in lockstep, or warp by warp. inputs is
    "random" or "counting".
    """

    kernel: str = "tiled"
    M: int = 8
    N: int = 8
    K: int = 8
    defines: tuple[tuple[str, int], ...] = (("TILE", 4),)
    edits: tuple[str, ...] = ()
    block: Place = (0, 0)
    thread: Place = (0, 0)
    step: int = 0
    schedule: Schedule = Schedule.LOCKSTEP
    inputs: str = "random"


DEFAULT = View()


def to_query(view: View) -> dict[str, str]:
    """The view as an address has it, all that is as usual left out; step counts from 1 there."""
    usual = dict(_usual(catalogue()[view.kernel]))
    plain = {
        "kernel": (view.kernel, DEFAULT.kernel),
        **{size: (getattr(view, size), getattr(DEFAULT, size)) for size in "MNK"},
        **{name: (value, usual[name]) for name, value in view.defines},
        "edits": (".".join(view.edits), ""),
        "bx": (view.block[0], 0), "by": (view.block[1], 0),
        "tx": (view.thread[0], 0), "ty": (view.thread[1], 0),
        "step": (view.step + 1, 1),
        "schedule": (view.schedule, DEFAULT.schedule),
        "inputs": (view.inputs, DEFAULT.inputs),
    }  # fmt: skip
    return {name: str(value) for name, (value, other) in plain.items() if value != other}


def from_query(query: Mapping[str, str | Sequence[str]]) -> tuple[View, tuple[str, ...]]:
    """The valid view nearest to any address, and a sentence for each thing that was not valid.

    A name given several times counts as its last. The number of steps is not known here: the
    step may lie beyond the last one until `clamped` sees it.
    """
    reader = Reader(query)
    kernel = reader.word("kernel", tuple(catalogue()), DEFAULT.kernel)
    entry = catalogue()[kernel]
    M, N, K = (reader.size(name, getattr(DEFAULT, name)) for name in "MNK")
    defines = _defines(reader, entry)
    step = reader.number("step", 1)
    if step < 1:
        reader.said.append(BEFORE_FIRST)
    view = View(
        kernel, M, N, K, defines, _edits(reader, entry.source(**dict(defines))),
        (reader.number("bx", 0), reader.number("by", 0)),
        (reader.number("tx", 0), reader.number("ty", 0)),
        max(step, 1) - 1,
        Schedule(reader.word("schedule", SCHEDULES, DEFAULT.schedule)),
        reader.word("inputs", INPUTS, DEFAULT.inputs),
    )  # fmt: skip
    known = {*PLAIN, *entry.defines}
    unknown = [_quoted(name) for name in query if name not in known]
    if unknown:
        reader.said.append(
            f"The address of this kernel has no {list_names(unknown)}; it is left out."
        )
    grid, block = entry.shape(view.M, view.N, **dict(defines))
    view, moved = _within(view, grid, block)
    return view, (*reader.said, *moved)


def clamped(view: View, grid: Dim3, block: Dim3, steps: int) -> tuple[View, tuple[str, ...]]:
    """The view with its block, thread and step within a recorded launch, and what was not.

    grid and block are the launch's, in x, y, z; steps the recording's number of steps.
    """
    view, said = _within(view, grid, block)
    last = max(steps, 1) - 1
    if 0 <= view.step <= last:
        return view, said
    beyond = f"The recording has {steps:,} steps; the scene shows the last of them."
    sentence = BEFORE_FIRST if view.step < 0 else beyond
    return replace(view, step=min(max(view.step, 0), last)), (*said, sentence)


def _within(view: View, grid: Dim3, block: Dim3) -> tuple[View, tuple[str, ...]]:
    """The view with its block in the grid and its thread in the block."""
    said: list[str] = []
    places: dict[str, Place] = {}
    for what, place, sizes, whole in (
        ("block", view.block, grid, "grid"),
        ("thread", view.thread, block, "block"),
    ):
        x, y = (min(max(at, 0), size - 1) for at, size in zip(place, sizes[:2], strict=True))
        places[what] = (x, y)
        if (x, y) != place:
            said.append(
                f"There is no such {what} in a {whole} of {sizes[0]} × {sizes[1]}; "
                f"the scene shows {what} ({x}, {y})."
            )
    return replace(view, block=places["block"], thread=places["thread"]), tuple(said)


def _usual(entry: Entry) -> tuple[tuple[str, int], ...]:
    """The setting that a kernel is first shown with, its macros in the entry's order."""
    return tuple((name, entry.teaching[0][name]) for name in entry.defines)


def _defines(reader: Reader, entry: Entry) -> tuple[tuple[str, int], ...]:
    """The macros' values, each the nearest that is offered, on a block that a GPU takes."""
    chosen = {
        name: reader.offered(name, entry.defines[name], usual) for name, usual in _usual(entry)
    }

    def fits(values: Mapping[str, int]) -> bool:
        x, y, z = entry.shape(1, 1, **values)[1]
        return x * y * z <= MAX_THREADS

    if not fits(chosen):
        settings = [
            dict(zip(chosen, values, strict=True))
            for values in itertools.product(*(entry.defines[name] for name in chosen))
        ]
        nearest = min(
            filter(fits, settings),
            key=lambda values: (
                sum(values[name] != chosen[name] for name in chosen),
                sum(abs(values[name] - chosen[name]) for name in chosen),
            ),
        )
        reader.said.append(
            f"A block with {_setting(chosen)} has more than the {MAX_THREADS:,} threads that a "
            f"GPU takes; the scene shows {_setting(nearest)}."
        )
        chosen = nearest
    return tuple(chosen.items())


def _setting(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _edits(reader: Reader, text: str) -> tuple[str, ...]:
    """The edits that are asked for and apply to the kernel's text, in the order of ui.what_if."""
    names = [switch.edit.key for switch in SWITCHES]
    asked = {one for one in re.split(r"[.,\s]+", reader.text("edits")) if one}
    possible = {edit.key for edit in edits(text)}
    wrong = sorted(_quoted(one) for one in asked if one not in names)
    if wrong:
        reader.said.append(
            f"There is no edit {list_names(wrong)}, only {', '.join(names)}; it is left out."
        )
    idle = [name for name in names if name in asked and name not in possible]
    if idle:
        reader.said.append(
            f"This kernel has nothing for {list_names(idle)} to change; it is left out."
        )
    return tuple(name for name in names if name in asked and name in possible)


class Reader:
    """Reads an address value by value, and keeps a sentence for each that was wrong."""

    def __init__(self, query: Mapping[str, str | Sequence[str]]) -> None:
        self.said: list[str] = []
        self._values: dict[str, str] = {}
        for name, value in query.items():
            last = value if isinstance(value, str) else next(iter(reversed(value)), "")
            self._values[name] = last[:LONGEST].strip(" ")
            if not isinstance(value, str) and len(value) > 1:
                self.said.append(f"{_quoted(name)} is given {len(value)} times; the last counts.")

    def text(self, name: str) -> str:
        """The value of a name, "" if it is not given."""
        return self._values.get(name, "")

    def number(self, name: str, usual: int) -> int:
        """A whole number; the usual one, and a sentence, for what is none."""
        if name not in self._values:
            return usual
        text = self._values[name]
        if not WHOLE.fullmatch(text):
            self.said.append(
                f"{name} = {_quoted(text)} is not a whole number; the scene shows {usual}."
            )
            return usual
        return min(max(int(text), -ENDLESS), ENDLESS)

    def size(self, name: str, usual: int) -> int:
        """A matrix's size; the nearer bound for one beyond the bounds."""
        value = self.number(name, usual)
        nearest = min(max(value, 1), LARGEST)
        if value != nearest:
            beyond = "less than 1, the least" if value < 1 else f"more than {LARGEST}, the most"
            self.said.append(
                f"{name} = {_clean(self.text(name))} is {beyond} that the scene shows; "
                f"it shows {nearest}."
            )
        return nearest

    def offered(self, name: str, options: Sequence[int], usual: int) -> int:
        """The nearest of the values offered."""
        value = self.number(name, usual)
        nearest = min(sorted(options), key=lambda option: abs(option - value))
        if value != nearest:
            self.said.append(
                f"{name} = {_clean(self.text(name))} is not offered "
                f"({', '.join(map(str, sorted(options)))}); the scene shows {nearest}."
            )
        return nearest

    def word(self, name: str, options: Sequence[str], usual: str) -> str:
        """One of some words, the most alike for another; the usual one if none is alike."""
        if name not in self._values or self._values[name] in options:
            return self._values.get(name, usual)
        nearest = next(iter(difflib.get_close_matches(self._values[name], options, 1)), usual)
        self.said.append(
            f"{name} = {_quoted(self._values[name])} is none of {', '.join(options)}; "
            f"the scene shows {nearest}."
        )
        return nearest


def _quoted(text: str) -> str:
    return f"“{_clean(text)}”"


def _clean(text: str) -> str:
    """The beginning of a wrong value, with nothing in it that a page could take for markup."""
    short = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return re.sub(r"(?<!\d)\.|\.(?!\d)|_|[^\w .,+…-]", "?", short)
