"""The stepper's state as query parameters of the page's URL, and any URL's nearest valid state."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.broken_file import Broken
from simulator.catalogue import Entry, catalogue, whole_catalogue
from simulator.language.errors import list_names
from simulator.launch import MAX_THREADS, Dim3
from simulator.machine.schedule import Schedule
from simulator.verdict.form import UserKernel
from ui.drawing.look import Held, Level, Stage, parse_held
from ui.view import user_kernel_link
from ui.view.what_if import SWITCHES, applicable_edits

LARGEST = 64  # rows or columns of a matrix on the screen
SCHEDULES = (Schedule.LOCKSTEP, Schedule.ASCENDING, Schedule.DESCENDING)
INPUTS = ("random", "counting", "fractions")  # presets.inputs builds them
# Query parameters of every kernel; each macro of a kernel is a parameter too.
PARAMETERS = (
    "kernel", "M", "N", "K", "edits", "bx", "by", "tx", "ty", "step", "schedule", "inputs",
    "stage", "with", user_kernel_link.PARAMETER,
)  # fmt: skip
# Those of a user kernel; the Write page adds the exercise that it is for.
USER_KERNEL_PARAMETERS = (
    user_kernel_link.PARAMETER, "exercise", "edits", "bx", "by", "bz", "tx", "ty", "tz", "step",
    "schedule", "stage", "with",
)  # fmt: skip
FORMER_PARAMETERS = ("view",)  # of older links; they are ignored, with no notice
USER_KERNEL = "own"  # a comparison's kernel: the user kernel once more
FOLLOWS = "follows"  # the parameter "stage" where none is held
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
MAX_VALUE_LENGTH = 400  # characters of a value that are read
LARGEST_NUMBER = 10**9  # larger numbers are read as this number
MAX_QUOTED_LENGTH = 20  # characters of an invalid value that its notice repeats

BEFORE_FIRST = "The first step is step 1; the scene begins there."

Index2D = tuple[int, int]  # x, y of a block or a thread


@dataclass(frozen=True, slots=True)
class ComparedScene:
    """The scene shown beside a view's: another kernel for the same product, or the same kernel.

    Beside a user kernel it is that kernel, on the same launch.
    """

    kernel: str  # name of an entry of the catalogue, or OWN
    defines: tuple[tuple[str, int], ...]  # all macros, in the entry's order
    edits: tuple[str, ...]  # keys of ui.view.what_if, in its order
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class View:
    """What the stepper shows."""

    kernel: str = "tiled"  # name of an entry of the catalogue
    M: int = 8  # rows of A and C
    N: int = 8  # columns of B and C
    K: int = 8  # columns of A, rows of B
    defines: tuple[tuple[str, int], ...] = (("TILE", 4),)  # all macros, in the entry's order
    edits: tuple[str, ...] = ()  # keys of ui.view.what_if, in its order
    block: Index2D = (0, 0)  # in the grid
    thread: Index2D = (0, 0)  # the focused thread, in the block
    step: int = 0  # from 0
    schedule: Schedule = Schedule.LOCKSTEP
    inputs: str = "random"  # of INPUTS
    stage: Held | None = None  # the lecture's stage or level that is held; None follows the step
    # The parameter "with". Steps are then pairs of steps of both scenes, in lockstep.
    comparison: ComparedScene | None = None
    # A user kernel instead of the catalogue's; then kernel, M, N, K, defines and
    # inputs say nothing. The block and the thread may be beyond the launch, whose sizes only
    # running it tells.
    user_kernel: UserKernel | None = None
    z: Index2D = (0, 0)  # of the block and of the thread; the catalogue's kernels have only 0

    @property
    def block_index(self) -> Dim3:
        """The block's x, y and z in the grid."""
        return *self.block, self.z[0]

    @property
    def thread_index(self) -> Dim3:
        """The focused thread's x, y and z in the block."""
        return *self.thread, self.z[1]


DEFAULT = View()


def to_query(view: View) -> dict[str, str]:
    """Encode a view as query parameters, without those that have default values.

    The parameter "step" counts from 1; it is left out where it is usual_step().

    >>> to_query(View(M=16, step=2))
    {'M': '16', 'step': '3'}
    """
    query = _encode_without_step(view)
    if view.step != _usual_step(query):
        query["step"] = str(view.step + 1)
    return query


def usual_step(view: View) -> int:
    """The step, from 0, that the view's address does not name.

    It is the first one; where the address would be empty, as at a first visit, it is the one that
    the kernel opens with.
    """
    return _usual_step(_encode_without_step(view))


def _usual_step(query_without_step: Mapping[str, Any]) -> int:
    if query_without_step or DEFAULT.kernel not in catalogue():
        return 0
    return catalogue()[DEFAULT.kernel].opens["step"] - 1


def _encode_without_step(view: View) -> dict[str, str]:
    kernel: dict[str, tuple[Any, Any]]
    if view.user_kernel is not None:
        own = user_kernel_link.to_query(view.user_kernel)
        kernel = {name: (text, "") for name, text in own.items()}
    else:
        entry = catalogue()[view.kernel]
        default_defines = dict(_default_defines(entry))
        kernel = {
            "kernel": (view.kernel, DEFAULT.kernel),
            **{size: (getattr(view, size), entry.opens[size]) for size in "MNK"},
            **{name: (value, default_defines[name]) for name, value in view.defines},
        }
    values = {
        **kernel,
        "edits": (".".join(view.edits), ""),
        "bx": (view.block[0], 0), "by": (view.block[1], 0),
        "tx": (view.thread[0], 0), "ty": (view.thread[1], 0),
        "bz": (view.z[0], 0), "tz": (view.z[1], 0),
        "schedule": (view.schedule, DEFAULT.schedule),
        "inputs": (view.inputs, DEFAULT.inputs),
        "stage": (view.stage or FOLLOWS, FOLLOWS),
        "with": ("" if view.comparison is None else _encode_comparison(view, view.comparison), ""),
    }  # fmt: skip
    return {name: str(value) for name, (value, default) in values.items() if value != default}


def _encode_comparison(view: View, comparison: ComparedScene) -> str:
    """The kernel, and by name and value what is not as usual beside the view.

    >>> padded = ComparedScene("tiled", (("TILE", 4),), ("pad",), Schedule.ASCENDING)
    >>> _encode_comparison(DEFAULT, padded)
    'tiled,edits:pad,schedule:ascending'
    """
    usual = default_comparison(view, comparison.kernel)
    values = {
        **{name: (value, dict(usual.defines)[name]) for name, value in comparison.defines},
        "edits": (".".join(comparison.edits), ""),
        "schedule": (comparison.schedule, usual.schedule),
    }
    named = [f"{name}:{value}" for name, (value, default) in values.items() if value != default]
    return ",".join([comparison.kernel, *named])


def default_comparison(view: View, kernel: str) -> ComparedScene:
    """A kernel beside a view: with the view's macros, where it has such, and its schedule."""
    if view.user_kernel is not None:
        return ComparedScene(USER_KERNEL, (), (), view.schedule)
    entry = catalogue()[kernel]
    given, defaults = dict(view.defines), dict(_default_defines(entry))
    defines = {
        name: given[name] if given.get(name) in entry.defines[name] else default
        for name, default in defaults.items()
    }
    if not _fits(entry, defines):
        defines = defaults
    return ComparedScene(kernel, tuple(defines.items()), (), view.schedule)


def follow(comparison: ComparedScene, before: View, after: View) -> ComparedScene:
    """The scene beside a view that has changed: what was as usual beside it before, stays so.

    >>> wider = View(defines=(("TILE", 8),), schedule=Schedule.ASCENDING)
    >>> padded = ComparedScene("padded", (("TILE", 4),), (), DEFAULT.schedule)
    >>> beside = follow(padded, DEFAULT, wider)
    >>> beside.defines, beside.schedule.value
    ((('TILE', 8),), 'ascending')
    """
    usual, now = (default_comparison(view, comparison.kernel) for view in (before, after))
    defines = tuple(
        new if given == old else given
        for given, old, new in zip(comparison.defines, usual.defines, now.defines, strict=True)
    )
    if after.user_kernel is None and not _fits(catalogue()[comparison.kernel], dict(defines)):
        defines = comparison.defines
    schedule = now.schedule if comparison.schedule == usual.schedule else comparison.schedule
    return replace(comparison, defines=defines, schedule=schedule)


def from_query(
    query: Mapping[str, str | Sequence[str]], kept: UserKernel | None = None
) -> tuple[View, tuple[str, ...]]:
    """Parse query parameters: the nearest valid view, and a notice for each invalid parameter.

    Raises BrokenFileError where the catalogue has no kernel.

    kept is the user kernel that is too long for an address, if there is one. The last
    value of a repeated parameter counts. An empty query is the default kernel's opening_view(); any
    other without a step begins at the first. The number of steps is unknown here: the step may be
    beyond the last step until `clamp` limits it.

    >>> view, notices = from_query({"M": "16", "step": "3"})
    >>> view.M, view.step, notices
    (16, 2, ())
    """
    parser = QueryParser(query)
    if user_kernel_link.PARAMETER in query:
        return _parse_user_kernel(parser, query, kept)
    kernel = parser.parse_kernel()
    entry = catalogue()[kernel]
    M, N, K = (parser.parse_size(name, entry.opens[name]) for name in "MNK")
    defines = _parse_defines(parser, entry, _default_defines(entry))
    edits = _parse_edits(parser, entry.source(**dict(defines)))
    shown = _parse_shown(parser, _usual_step(query) + 1)
    view = replace(
        shown, kernel=kernel, M=M, N=N, K=K, defines=defines, edits=edits,
        inputs=parser.parse_word("inputs", INPUTS, DEFAULT.inputs),
    )  # fmt: skip
    grid, block = entry.shape(view.M, view.N, **dict(defines))
    if grid[2] > 1:
        view = replace(view, z=(parser.parse_integer("bz", 0), 0))
    known = {*PARAMETERS, *FORMER_PARAMETERS, *entry.defines} - {user_kernel_link.PARAMETER}
    parser.note_unknown(known | ({"bz"} if entry.pieces != 1 else set()))
    view, clamp_notices = _clamp_to_launch(view, grid, block)
    comparison, comparison_notices = _parse_comparison(view, parser.text("with"))
    return replace(view, comparison=comparison), (
        *parser.notices,
        *clamp_notices,
        *comparison_notices,
    )


def parse_view(query: Mapping[str, str]) -> View:
    """The view of an address's parameters. ValueError, a sentence, for one that cannot be shown.

    BrokenFileError where a kernel that it names is broken.
    """
    if user_kernel_link.PARAMETER not in query:
        beside = query.get("with", "").partition(",")[0]
        for name in {query.get("kernel", DEFAULT.kernel), beside} & set(catalogue().everything):
            catalogue()[name]
    view, notices = from_query(query)
    if notices:
        raise ValueError(" ".join(notices))
    return view


def _parse_shown(parser: QueryParser, usual_step: int) -> View:
    """Parse what a view of any kernel has: block, thread, step, order of warps, stage."""
    stage = parser.parse_word("stage", (*Stage, *Level, FOLLOWS), FOLLOWS)
    step = parser.parse_integer("step", usual_step)
    if step < 1:
        parser.notices.append(BEFORE_FIRST)
    return View(
        block=(parser.parse_integer("bx", 0), parser.parse_integer("by", 0)),
        thread=(parser.parse_integer("tx", 0), parser.parse_integer("ty", 0)),
        step=max(step, 1) - 1,
        schedule=Schedule(parser.parse_word("schedule", SCHEDULES, DEFAULT.schedule)),
        stage=None if stage == FOLLOWS else parse_held(stage),
    )


def _parse_user_kernel(
    parser: QueryParser, query: Mapping[str, str | Sequence[str]], kept: UserKernel | None
) -> tuple[View, tuple[str, ...]]:
    """Parse a view of a user kernel; the usual view where the kernel cannot be read."""
    value = query[user_kernel_link.PARAMETER]
    text = value if isinstance(value, str) else next(iter(reversed(value)), "")
    try:
        if text == user_kernel_link.IN_SESSION and kept is None:
            raise user_kernel_link.LinkError(user_kernel_link.TOO_LONG)
        user_kernel = kept if text == user_kernel_link.IN_SESSION else user_kernel_link.decode(text)
    except user_kernel_link.LinkError as error:
        return from_query({})[0], (str(error),)
    edits = _parse_user_kernel_edits(parser)
    view = _parse_shown(parser, 1)
    z = max(parser.parse_integer("bz", 0), 0), max(parser.parse_integer("tz", 0), 0)
    parser.note_unknown((*USER_KERNEL_PARAMETERS, *FORMER_PARAMETERS))
    block, thread = ((max(index[0], 0), max(index[1], 0)) for index in (view.block, view.thread))
    view = replace(view, user_kernel=user_kernel, edits=edits, block=block, thread=thread, z=z)
    comparison, notices = _parse_comparison(view, parser.text("with"))
    return replace(view, comparison=comparison), (*parser.notices, *notices)


def _parse_user_kernel_edits(parser: QueryParser) -> tuple[str, ...]:
    """Parse the edits of a user kernel, of which only its text tells which apply."""
    requested = {name for name in re.split(r"[.,\s]+", parser.text("edits")) if name}
    return tuple(switch.edit.key for switch in SWITCHES if switch.edit.key in requested)


def _parse_comparison(view: View, text: str) -> tuple[ComparedScene | None, tuple[str, ...]]:
    """Parse the scene beside a view, as _encode_comparison writes it; a notice for each mistake."""
    if not text:
        return None, ()
    kernel, *others = (part.strip() for part in text.split(","))
    pairs = [other.partition(":") for other in others if other]
    values = {name.strip(): value.strip() for name, _, value in pairs}
    parser = QueryParser({**values, "with": kernel})
    kernels = tuple(catalogue()) if view.user_kernel is None else (USER_KERNEL,)
    first = view.kernel if view.user_kernel is None else USER_KERNEL
    usual = default_comparison(view, parser.parse_word("with", kernels, first))
    defines, macros = usual.defines, {name for name, _ in usual.defines}
    unknown = [_quote(name) for name in values if name not in {*macros, "edits", "schedule"}]
    if unknown:
        parser.notices.append(f"The scene beside it has no {list_names(unknown)}; it is left out.")
    if view.user_kernel is None:
        entry = catalogue()[usual.kernel]
        defines = _parse_defines(parser, entry, usual.defines)
        edits = _parse_edits(parser, entry.source(**dict(defines)))
    else:
        edits = _parse_user_kernel_edits(parser)
    schedule = Schedule(parser.parse_word("schedule", SCHEDULES, usual.schedule))
    return ComparedScene(usual.kernel, defines, edits, schedule), tuple(parser.notices)


def opening_view(kernel: str) -> View:
    """The view that a kernel opens with when it is chosen, at a step where its idea is seen."""
    return from_query({"kernel": kernel, "step": str(catalogue()[kernel].opens["step"])})[0]


def clamp(view: View, grid: Dim3, block: Dim3, steps: int) -> tuple[View, tuple[str, ...]]:
    """Limit a view's block, thread and step to a recorded launch; a notice for each change.

    grid and block are the launch's, in x, y, z; steps is the number of steps of the recording.
    """
    view, notices = _clamp_to_launch(view, grid, block)
    last = max(steps, 1) - 1
    if 0 <= view.step <= last:
        return view, notices
    beyond = f"The recording has {steps:,} steps; the scene shows the last of them."
    sentence = BEFORE_FIRST if view.step < 0 else beyond
    return replace(view, step=min(max(view.step, 0), last)), (*notices, sentence)


def _clamp_to_launch(view: View, grid: Dim3, block: Dim3) -> tuple[View, tuple[str, ...]]:
    """Limit a view's block to the grid and its thread to the block; a notice for each change."""
    notices: list[str] = []
    clamped: dict[str, Dim3] = {}
    for what, index, sizes, container in (
        ("block", view.block_index, grid, "grid"),
        ("thread", view.thread_index, block, "block"),
    ):
        x, y, z = (min(max(i, 0), size - 1) for i, size in zip(index, sizes, strict=True))
        clamped[what] = (x, y, z)
        if (x, y, z) != index:
            dimensions = 3 if sizes[2] > 1 else 2
            size = " × ".join(map(str, sizes[:dimensions]))
            nearest = ", ".join(map(str, clamped[what][:dimensions]))
            notices.append(
                f"There is no such {what} in a {container} of {size}; the scene shows {what} "
                f"({nearest})."
            )
    (*block_xy, block_z), (*thread_xy, thread_z) = clamped["block"], clamped["thread"]
    view = replace(
        view, block=(block_xy[0], block_xy[1]), thread=(thread_xy[0], thread_xy[1]),
        z=(block_z, thread_z),
    )  # fmt: skip
    return view, tuple(notices)


def _default_defines(entry: Entry) -> tuple[tuple[str, int], ...]:
    """The macros that a kernel is first shown with, in the entry's order."""
    return tuple((name, entry.teaching[0][name]) for name in entry.defines)


def _fits(entry: Entry, values: Mapping[str, int]) -> bool:
    """Whether a GPU takes the block of a kernel with these macros."""
    x, y, z = entry.shape(1, 1, **values)[1]
    return x * y * z <= MAX_THREADS


def _parse_defines(
    parser: QueryParser, entry: Entry, defaults: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    """Parse the macros: for each the nearest option, such that the block is not too large."""
    chosen = {
        name: parser.parse_option(name, entry.defines[name], default) for name, default in defaults
    }
    if not _fits(entry, chosen):
        settings = [
            dict(zip(chosen, values, strict=True))
            for values in itertools.product(*(entry.defines[name] for name in chosen))
        ]
        nearest = min(
            (values for values in settings if _fits(entry, values)),
            key=lambda values: (
                sum(values[name] != chosen[name] for name in chosen),
                sum(abs(values[name] - chosen[name]) for name in chosen),
            ),
        )
        parser.notices.append(
            f"A block with {_format_defines(chosen)} has more than the {MAX_THREADS:,} threads "
            f"that a GPU takes; the scene shows {_format_defines(nearest)}."
        )
        chosen = nearest
    return tuple(chosen.items())


def _format_defines(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _parse_edits(parser: QueryParser, text: str) -> tuple[str, ...]:
    """Parse the edits; those that apply to the kernel's source, in the order of ui.view.what_if."""
    names = [switch.edit.key for switch in SWITCHES]
    requested = {name for name in re.split(r"[.,\s]+", parser.text("edits")) if name}
    possible = {edit.key for edit in applicable_edits(text)}
    unknown = sorted(_quote(name) for name in requested if name not in names)
    if unknown:
        parser.notices.append(
            f"There is no edit {list_names(unknown)}, only {', '.join(names)}; it is left out."
        )
    inapplicable = [name for name in names if name in requested and name not in possible]
    if inapplicable:
        parser.notices.append(
            f"This kernel has nothing for {list_names(inapplicable)} to change; it is left out."
        )
    return tuple(name for name in names if name in requested and name in possible)


class QueryParser:
    """Parses query parameters and collects a notice for each invalid value."""

    def __init__(self, query: Mapping[str, str | Sequence[str]]) -> None:
        self.notices: list[str] = []
        self._values: dict[str, str] = {}
        for name, value in query.items():
            last = value if isinstance(value, str) else next(iter(reversed(value)), "")
            self._values[name] = last[:MAX_VALUE_LENGTH].strip(" ")
            if not isinstance(value, str) and len(value) > 1:
                self.notices.append(f"{_quote(name)} is given {len(value)} times; the last counts.")

    def note_unknown(self, known: Container[str]) -> None:
        """Add a notice where there are parameters that are not known."""
        unknown = [_quote(name) for name in self._values if name not in known]
        if unknown:
            self.notices.append(
                f"The address of this kernel has no {list_names(unknown)}; it is left out."
            )

    def text(self, name: str) -> str:
        """The value of a parameter, "" if it is missing."""
        return self._values.get(name, "")

    def parse_kernel(self) -> str:
        """Parse the name of a kernel to step through.

        For one that the simulator does not execute, with a notice, the last before it of its
        precision; for one that is broken, with a notice, the usual one, or the first.
        """
        usual = DEFAULT.kernel
        if usual not in catalogue():
            usual = next(iter(catalogue()), usual)
        wanted = whole_catalogue().everything.get(self.text("kernel") or DEFAULT.kernel)
        if isinstance(wanted, Broken):
            self.notices.append(f"This kernel cannot be shown: {wanted} The scene shows {usual}.")
            return usual
        if wanted is None or wanted.simulated:
            return self.parse_word("kernel", tuple(catalogue()), usual)
        before = [name for name, one in catalogue().items() if one.precision == wanted.precision]
        nearest = before[-1] if before else usual
        self.notices.append(
            f"“{wanted.title}” runs only on a GPU, because the simulator does not execute its "
            f"warpgroup instructions (wgmma); the scene shows {nearest}."
        )
        return nearest

    def parse_integer(self, name: str, default: int) -> int:
        """Parse an integer; the default, with a notice, for anything else."""
        if name not in self._values:
            return default
        text = self._values[name]
        if not WHOLE_NUMBER.fullmatch(text):
            self.notices.append(
                f"{name} = {_quote(text)} is not a whole number; the scene shows {default}."
            )
            return default
        return min(max(int(text), -LARGEST_NUMBER), LARGEST_NUMBER)

    def parse_size(self, name: str, default: int) -> int:
        """Parse a size of a matrix, limited to 1 and LARGEST."""
        value = self.parse_integer(name, default)
        nearest = min(max(value, 1), LARGEST)
        if value != nearest:
            beyond = "less than 1, the least" if value < 1 else f"more than {LARGEST}, the most"
            self.notices.append(
                f"{name} = {_shorten_and_clean(self.text(name))} is {beyond} that the scene shows; "
                f"it shows {nearest}."
            )
        return nearest

    def parse_option(self, name: str, options: Sequence[int], default: int) -> int:
        """Parse an integer and return the nearest option."""
        value = self.parse_integer(name, default)
        nearest = min(sorted(options), key=lambda option: abs(option - value))
        if value != nearest:
            self.notices.append(
                f"{name} = {_shorten_and_clean(self.text(name))} is not offered "
                f"({', '.join(map(str, sorted(options)))}); the scene shows {nearest}."
            )
        return nearest

    def parse_word(self, name: str, options: Sequence[str], default: str) -> str:
        """Parse a word: an option, else the most similar option, else the default."""
        if name not in self._values or self._values[name] in options:
            return self._values.get(name, default)
        nearest = _most_similar(self._values[name], options) or default
        self.notices.append(
            f"{name} = {_quote(self._values[name])} is none of {', '.join(options)}; "
            f"the scene shows {nearest}."
        )
        return nearest


def describe_unknown(kind: str, name: str, known: Sequence[str]) -> str:
    """A sentence, as plain text, about an address that names a lesson, say, that there is not.

    >>> describe_unknown("lesson", "barier", ["memory", "barriers"])
    'The address asks for lesson “barier”, and there is none of that name; “barriers” is similar.'
    """
    similar = _most_similar(name, known)
    ending = f"; “{similar}” is similar." if similar else "."
    return f"The address asks for {kind} “{_shorten(name)}”, and there is none of that name{ending}"


def _most_similar(text: str, options: Sequence[str]) -> str:
    """The option that is most like a text; "" where none is."""
    return next(iter(difflib.get_close_matches(text, options, 1)), "")


def _quote(text: str) -> str:
    return f"“{_shorten_and_clean(text)}”"


def _shorten_and_clean(text: str) -> str:
    """The start of an invalid value, without characters that could be markup on a page."""
    return re.sub(r"(?<!\d)\.|\.(?!\d)|_|[^\w .,+…-]", "?", _shorten(text))


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_QUOTED_LENGTH else text[:MAX_QUOTED_LENGTH] + "…"
