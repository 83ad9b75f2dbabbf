"""A trace of the GPU's clock beside a recording: which phase each step is of, what a tile takes."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from gpu.candidate import split_variant
from gpu.trace.phases import multiply_adds
from gpu.trace.recorded import RecordedTraces
from gpu.trace.trace import NO_TILE, Block, Level, Trace, TracedPhase
from simulator import Recording, Step
from simulator.catalogue import whole_catalogue
from simulator.frontend.lexer import blank_comments

MACRO = re.compile(r"\s*#\s*define\s+(\w+)\s+(\d+)\s*")  # a line that sets one to a number
NEARLY = 0.05  # of a tile: a pipeline that goes round once more does the same work
Line = tuple[int, str]  # its number, from 1, and its code


@dataclass(frozen=True, slots=True)
class Setting:
    """What was measured, where and when, in words: never what is stepped through."""

    gpu: str
    size: str  # of the matrices
    macros: str  # "" for a kernel without
    slower: str  # by how much of its time a kernel is while it is traced
    day: str

    @property
    def short(self) -> str:
        """GPU, size and macros."""
        return " · ".join(text for text in (self.gpu, self.size, self.macros) if text)

    @property
    def whole(self) -> str:
        """All of it."""
        return f"{self.short} · {self.slower} slower when traced · {self.day}"

    def beside(self, other: Setting) -> Setting:
        """The words for two traces: what differs is said of both, the first one's first."""
        names = ("gpu", "size", "macros", "slower", "day")
        pairs = [(getattr(self, name), getattr(other, name)) for name in names]
        return Setting(*(a or b if a == b or not (a and b) else f"{a} and {b}" for a, b in pairs))


@dataclass(frozen=True, slots=True)
class Clock:
    """The trace of a kernel that is stepped through, whose size and macros may be others."""

    trace: Trace
    setting: Setting
    phase_of: tuple[int | None, ...]  # for each step its phase's index in the trace; None for none
    scale: float | None = None  # cycles that a row of warps stands for; None for those of a tile

    @property
    def in_tile(self) -> tuple[int, ...]:
        """The phases that a warp goes through once a tile; all without a loop over tiles."""
        phases = self.trace.phases
        whole = tuple(number for number, phase in enumerate(phases) if phase.k is None)
        return tuple(number for number in whole if phases[number].visits > 1) or whole

    @property
    def median_cycles(self) -> dict[int, float]:
        """Cycles of each phase for a tile: the median of all warps, as sentences have it."""
        phases = enumerate(self.trace.phases)
        return {number: phase.cycles for number, phase in phases if phase.k is None}

    @property
    def has_tiles(self) -> bool:
        """Whether the kernel has a loop over tiles."""
        return any(phase.visits > 1 for phase in self.trace.phases)


@dataclass(frozen=True, slots=True)
class TracedTile:
    """One tile of one block as every warp of it went through it."""

    block: Block
    begin: int  # cycles since the block began, where its first warp began with the tile
    end: int  # cycles since the block began, where its last warp was done with it
    warps: tuple[tuple[tuple[int, int, int], ...], ...]  # of each: phase, begin and end, in cycles


def find_clock(
    recording: Recording, kinds: Sequence[str], runs: Iterable[RecordedTraces]
) -> Clock | None:
    """The trace of the kernel that was recorded in steps; None if it was not traced.

    kinds has what each step is for, as gpu.trace.trace.Kind names it. A traced kernel is the same
    one if its code is, but for its name, comments and macros that are numbers. Of several traces
    the one with the same macros comes first, then the one of the largest matrices, then of the
    largest tiles.
    """
    kernel = recording.kernel
    shown = code_lines(kernel.text, kernel.name)
    macros = _macros(kernel.text)
    for run in runs:
        found = [
            (trace, text)
            for trace in run.outlines if trace.level is Level.PHASES and trace.same_bits
            for text in [_same_code(trace.kernel, tuple(code for _, code in shown))]
            if text is not None
        ]  # fmt: skip
        if found:
            ranks = [(_macros(text) == macros, trace.size, sum(_macros(text).values()))
                     for trace, text in found]  # fmt: skip
            trace, text = found[ranks.index(max(ranks))]
            traced = code_lines(text, whole_catalogue()[trace.kernel.split(":")[0]].kernel)
            lines = {line: other for (line, _), (other, _) in zip(shown, traced, strict=True)}
            phases = tuple(
                _phase(trace.phases, [lines.get(line) for line in _lines(step)], kind)
                for step, kind in zip(recording.steps, kinds, strict=True)
            )
            whole = run.find(trace.kernel, trace.size) or trace
            return Clock(whole, _setting(run, trace, _macros(text)), phases)
    return None


def tile_cycles(clock: Clock, warp: int) -> dict[int, float]:
    """Cycles of each phase: those of a tile for one warp of the blocks that were traced whole.

    The median over their tiles; where that warp was not traced, and outside the loop over tiles,
    the trace's own median.
    """
    measured: defaultdict[int, list[int]] = defaultdict(list)
    for block in clock.trace.whole_blocks:
        tiles: Counter[tuple[int, int]] = Counter()  # a phase may go on after a wait within it
        for interval in block.warps[warp] if warp < len(block.warps) else ():
            if interval.tile != NO_TILE:
                tiles[interval.phase, interval.tile] += interval.end - interval.begin
        for (phase_number, _), cycles in tiles.items():
            measured[phase_number].append(cycles)
    return {
        number: float(median(measured[number])) if measured[number] else cycles
        for number, cycles in clock.median_cycles.items()
    }


def tiles_of_same_work(one: Clock, other: Clock) -> float:
    """How many of the other's tiles are as much work for a thread as a tile of one.

    A kernel without a loop over tiles has one tile, its whole life.
    """
    works = [
        multiply_adds(clock.trace) / max(clock.trace.phases[i].visits for i in clock.in_tile)
        for clock in (one, other)
    ]
    ratio = works[0] / works[1]
    return 1.0 if abs(ratio - 1) < NEARLY else ratio


def typical_tile(trace: Trace) -> TracedTile | None:
    """A tile of the middle one of the whole blocks, as long as its tiles are in the median.

    Without a loop over tiles it is the whole block. None if no block was traced whole.
    """
    blocks = trace.whole_blocks
    if not blocks:
        return None
    block = blocks[len(blocks) // 2]
    numbers = sorted({one.tile for warp in block.warps for one in warp} - {NO_TILE}) or [NO_TILE]
    tiles = [_tile(block, number) for number in numbers]
    tiles.sort(key=lambda one: one.end - one.begin)
    return tiles[len(tiles) // 2]


def _tile(block: Block, number: int) -> TracedTile:
    warps = tuple(
        tuple((one.phase, one.begin, one.end) for one in warp if one.tile == number)
        for warp in block.warps
    )
    every = [interval for warp in warps for interval in warp]
    begin, end = min(begin for _, begin, _ in every), max(end for *_, end in every)
    return TracedTile(block, begin, end, warps)


@functools.lru_cache(64)
def code_lines(text: str, name: str) -> tuple[Line, ...]:
    """The lines that are code, without what may differ in the same kernel.

    That is comments, space, macros that are numbers, and the kernel's name.
    """
    called = re.compile(rf"\b{re.escape(name)}\b")
    return tuple(
        (number, called.sub("kernel", " ".join(line.split())))
        for number, line in enumerate(blank_comments(text).split("\n"), 1)
        if line.strip() and not MACRO.fullmatch(line)
    )


def _same_code(traced: str, shown: tuple[str, ...]) -> str | None:
    """The text of a traced kernel if its code is the shown one; None if it is another, or gone."""
    name, macros = split_variant(traced)
    entry = whole_catalogue().get(name)
    if entry is None:
        return None
    text = entry.source(**macros)
    is_same = tuple(code for _, code in code_lines(text, entry.kernel)) == shown
    return text if is_same else None


def _macros(text: str) -> dict[str, int]:
    """The macros that a text sets to numbers."""
    found = map(MACRO.fullmatch, blank_comments(text).split("\n"))
    return {one[1]: int(one[2]) for one in found if one}


def _lines(step: Step) -> list[int]:
    """The line of a step, then those of the loops around it, the innermost first.

    A step of a function has its own line; the loop that calls it is one of the kernel's.
    """
    return [step.line, *(entry.loop.span.line for entry in reversed(step.loops))]


def _phase(phases: Sequence[TracedPhase], lines: Sequence[int | None], kind: str) -> int | None:
    """The phase that the first of some lines is of which is in any, else the only one of a kind.

    It is the one of the step's kind, of several the one with fewest lines.
    """
    for line in lines:
        around = [
            (phase.kind != kind, phase.last_line - phase.first_line, number)
            for number, phase in enumerate(phases)
            if phase.k is None and line is not None and phase.first_line <= line <= phase.last_line
        ]
        if around:
            return min(around)[-1]
    alike = [number for number, one in enumerate(phases) if one.k is None and one.kind == kind]
    return alike[0] if len(alike) == 1 else None


def _setting(run: RecordedTraces, trace: Trace, macros: dict[str, int]) -> Setting:
    M, N, K = trace.size
    return Setting(
        run.device.name.removeprefix("NVIDIA ").split()[0],
        f"{M:,}³" if M == N == K else f"{M:,} × {N:,} × {K:,}",
        ", ".join(f"{name} {value}" for name, value in macros.items()),
        f"{max(trace.ratio - 1, 0):.0%}", f"{run.when.day}\u00a0{run.when:%b}\u00a0{run.when:%Y}",
    )  # fmt: skip
