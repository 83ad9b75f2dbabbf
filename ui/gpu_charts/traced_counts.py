"""What the simulator counts and what the GPU's clock says, side by side for each phase."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import plotly.graph_objects as go

from gpu.candidate import choose
from gpu.comparison import Comparison
from gpu.predicted_counters import Lines, global_sectors, shared_wavefronts
from gpu.trace.counts import is_near, load_share
from gpu.trace.phases import PhasePair, capitalized, lifetime_cycles, multiply_adds, pair_phases
from gpu.trace.trace import Kind, Trace, TracedPhase
from simulator.launch import WARP_SIZE
from ui.drawing.palette import REFERENCE_COLOUR
from ui.gpu_charts import rows
from ui.gpu_charts.performance import format_percent, format_ratio, size_name, variant_phrase
from ui.gpu_charts.traced_blocks import Launched

MERGED = 1.02  # wavefronts of the code over the hardware's, from which on loads were merged
BUSY = (0.75, 1.15)  # of a tile's cycles: so many wavefronts, one a cycle, explain them
LEAST_ELSEWHERE = 0.005  # of all that is counted: less is not spoken of
RING_SIZE, DIAMOND_SIZE = 22, 11  # pixels: both are seen where they agree


class Unit(StrEnum):
    """What is counted of a phase."""

    SECTORS = "global sectors"
    WAVEFRONTS = "shared wavefronts"


@dataclass(frozen=True, slots=True)
class CountedLaunch:
    """A traced launch with what the simulator counts at each line, and a GPU of the whole."""

    launch: Launched
    lines: Lines
    # Wavefronts of shared loads that the hardware counted over the simulator's; None if unknown.
    load_share: float | None = None
    share_size: tuple[int, int, int] | None = None  # M, N, K at which these were counted

    @property
    def trace(self) -> Trace:
        """The launch's trace."""
        return self.launch.trace

    @property
    def warps(self) -> int:
        """The warps of the whole launch."""
        return math.prod(choose(self.trace.kernel, self.trace.size).grid) * self.warps_of_block

    @property
    def warps_of_block(self) -> int:
        """The warps of a block."""
        return -(-math.prod(choose(self.trace.kernel, self.trace.size).block) // WARP_SIZE)

    @property
    def warps_at_once(self) -> int:
        """The most warps that a multiprocessor held at once."""
        return self.launch.placed.resident * self.warps_of_block

    @property
    def wavefronts(self) -> float:
        """What a warp asks of shared memory in its life, as the hardware counts it if known."""
        return sum(
            self.count(phase, Unit.WAVEFRONTS)
            * ((self.load_share or 1.0) if phase.kind is Kind.COMPUTE else 1.0)
            * phase.visits
            for phase in self.trace.phases
            if phase.k is None
        )

    def count(self, phase: TracedPhase, unit: Unit) -> float:
        """What a warp asks for each time that it goes through a phase."""
        total = 0
        for number, counts in self.lines.items():
            if _phase_of(number, self.trace) is phase:
                whole = (
                    global_sectors(counts) if unit is Unit.SECTORS else shared_wavefronts(counts)
                )
                total += whole or 0
        return total / (self.warps * phase.visits) if phase.visits else 0.0


def with_counts(
    launch: Launched, lines: Lines, comparisons: Sequence[Comparison] = ()
) -> CountedLaunch:
    """The launch with its lines' counts, and what comparisons have of the hardware's counters."""
    share, size = load_share(launch.trace.kernel, comparisons) or (None, None)
    return CountedLaunch(launch, lines, share, size)


def _phase_of(line: int, trace: Trace) -> TracedPhase | None:
    """The phase that a line with accesses is in: the smallest around it that is no wait."""
    around = [
        phase
        for phase in trace.phases
        if phase.first_line <= line <= phase.last_line and phase.k is None
    ]
    busy = [phase for phase in around if phase.kind is not Kind.BARRIER] or around
    return min(busy, key=lambda phase: phase.last_line - phase.first_line, default=None)


@dataclass(frozen=True, slots=True)
class ComparedPhase:
    """A phase of two kernels: how many times as much is counted, and how many times as long."""

    pair: PhasePair
    unit: Unit
    count: float  # of a warp in a visit
    base_count: float
    counted: float | None  # the first over the other, for the same work; None if one is 0

    @property
    def clocked(self) -> float:
        """The first one's cycles over the other's, for the same work."""
        return self.pair.ratio

    @property
    def goes_together(self) -> bool:
        """Whether the clock says what the count says."""
        return self.counted is not None and is_near(self.counted, self.clocked)


def compare_phases(one: CountedLaunch, base: CountedLaunch) -> list[ComparedPhase]:
    """Each phase of both in which either asks a memory for something, in the order of the code."""
    work, base_work = multiply_adds(one.trace), multiply_adds(base.trace)
    found = []
    for pair in pair_phases(one.trace, base.trace):
        for unit in Unit:
            count, base_count = one.count(pair.phase, unit), base.count(pair.base, unit)
            if not (count or base_count) or not pair.base_cycles or not pair.cycles:
                continue
            for_work = count * pair.phase.visits / work
            base_for_work = base_count * pair.base.visits / base_work
            counted = for_work / base_for_work if count and base_count else None
            found.append(ComparedPhase(pair, unit, count, base_count, counted))
    return found


def draw_compared(found: Sequence[ComparedPhase], ink: str = rows.INK) -> go.Figure:
    """Draw for each phase how many times as much is counted, a ring, and clocked, a diamond."""
    shown = [one for one in found if one.counted is not None]
    figure = go.Figure()
    for name, symbol, size, values in (
        ("by the clock, on the GPU", "diamond", DIAMOND_SIZE, [one.clocked for one in shown]),
        ("counted by the simulator", "circle-open", RING_SIZE, [one.counted for one in shown]),
    ):
        figure.add_scatter(
            x=values, y=list(range(len(shown))), mode="markers", name=name, cliponaxis=False,
            marker={"symbol": symbol, "size": size, "color": ink, "line": {"width": 2.5}},
            customdata=[_name(one) for one in shown],
            hovertemplate="%{customdata}: %{x:.3g} times<extra>" + name + "</extra>",
        )  # fmt: skip
    for row, one in enumerate(shown):
        figure.add_shape(
            type="line", x0=one.counted, x1=one.clocked, y0=row, y1=row, layer="below",
            line={"color": REFERENCE_COLOUR, "width": 3},
        )  # fmt: skip
    rows.write_names(
        figure,
        [rows.Name(_name(one), f"{_times(one.counted)}, {_times(one.clocked)}", False)
         for one in shown],
        ink,
    )  # fmt: skip
    values = [value for one in shown for value in (one.counted or 1, one.clocked)]
    low, high = (math.log10(end) for end in (min([0.7, *values]), max([1.5, *values])))
    rows.draw_axis(
        figure, ink, "times as much, for the same work", type="log",
        range=[low - 0.12, high + 0.12], tickvals=[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100],
    )  # fmt: skip
    rows.place_legend(figure, ink)
    return figure


def describe_compared(found: Sequence[ComparedPhase]) -> str:
    """The picture in words, for a screen reader."""
    return "; ".join(
        f"{_name(one)}: {_times(one.counted)} counted, {_times(one.clocked)} by the clock"
        for one in found
        if one.counted is not None
    )


def explain(found: Sequence[ComparedPhase], one: CountedLaunch, base: CountedLaunch) -> list[str]:
    """A sentence for each phase: what is counted and clocked, and why the two do not go together.

    Reasons are drawn from what was counted and measured; where these give none, it says so.
    """
    return [
        f"**{capitalized(_name(phase))}**: counted {_ratio(phase.counted)} many, "
        f"by the clock {_ratio(phase.clocked)} long. {_why(phase, one, base)}"
        for phase in found
        if phase.counted is not None
    ]


def _why(phase: ComparedPhase, one: CountedLaunch, base: CountedLaunch) -> str:
    counted, clocked = phase.counted or 0.0, phase.clocked
    kind = phase.pair.phase.kind
    if phase.goes_together:
        return " ".join(["Counts and clock agree.", *_busy(phase, one)])
    if phase.unit is Unit.SECTORS:
        return f"Counts and clock disagree: {_why_moved(phase, one, base)}"
    if kind is not Kind.COMPUTE:
        return (
            "Counts and clock disagree: a warp goes on as soon as it has asked for a store, but in "
            "this phase it waits for its loads from global memory."
        )
    sentences, left = [], counted
    share, base_share = one.load_share, base.load_share
    if share and base_share and min(share, base_share) < 1 / MERGED:
        left = counted * share / base_share
        size = size_name(one.share_size) if one.share_size else ""
        sentences.append(
            "The compiler merges a thread's loads of neighbouring words: the hardware counted "
            f"{format_percent(share)} of the wavefronts that the source asks for, and "
            f"for {variant_phrase(base.trace.kernel)} {format_percent(base_share)} (at "
            f"{size}), so that it counted "
            f"{_times(left)} as many for {variant_phrase(one.trace.kernel)}."
        )
    if not is_near(left, clocked):
        sentences.append(_why_rest(left > clocked, one, base))
    return " ".join([*sentences, *_busy(phase, one)])


def _why_moved(phase: ComparedPhase, one: CountedLaunch, base: CountedLaunch) -> str:
    """Why what is moved to or from global memory takes a different time than its sectors say.

    A multiprocessor has one port to its L1 cache and shared memory (see gpu.bounds).
    """
    asked = one.wavefronts / multiply_adds(one.trace)
    base_asked = base.wavefronts / multiply_adds(base.trace)
    ratio = asked / base_asked if base_asked else 0.0
    too_long = phase.clocked > (phase.counted or 0.0)
    if ratio and not is_near(ratio, 1.0) and (ratio > 1) is too_long:
        return (
            "global memory is reached through the same port as shared memory, and this kernel asks "
            f"shared memory for {_times(ratio)} as many wavefronts for the same work."
        )
    if phase.pair.phase.kind is Kind.STORE:
        return "a count says how much is stored, not how long a warp waits until it can."
    return (
        "a count says how much is asked for, not how long it takes. Caches answer some sectors "
        "sooner, and the waits for all loads that are on their way, of this warp and of the other "
        f"{one.warps_at_once - 1:,}, overlap."
    )


def _why_rest(is_shorter: bool, one: CountedLaunch, base: CountedLaunch) -> str:
    """Why a phase is shorter than counts say, or longer, which merged loads do not explain."""
    blocks, others = one.launch.placed.resident, base.launch.placed.resident
    if (blocks > others) is is_shorter and blocks != others:
        return (
            f"A multiprocessor holds {blocks:,} of these blocks and {others:,} of the others: "
            "blocks are in different phases, so that with more of them a smaller share of the "
            "warps asks shared memory at once."
        )
    if is_shorter:
        return (
            "Other warps hide the difference: while this one waits for its wavefronts, the other "
            f"{one.warps_at_once - 1:,} of its multiprocessor work."
        )
    return "Neither the simulator's counts nor the hardware's explain why it takes even longer."


def _busy(phase: ComparedPhase, one: CountedLaunch) -> list[str]:
    """A sentence where shared memory, which serves a wavefront a cycle, explains a tile's time.

    While a warp goes through a tile, so do all others of its multiprocessor, whatever phase they
    are at. Each bank gives 32 bits in a cycle (CUDA C++ Programming Guide, shared memory of compute
    capability 5.x and later): a wavefront is what a cycle serves.
    """
    if phase.unit is not Unit.WAVEFRONTS or phase.pair.phase.kind is not Kind.COMPUTE:
        return []
    tile = [phase for phase in one.trace.phases if phase.visits > 1 and phase.k is None]
    wanted = one.wavefronts * one.warps_at_once
    cycles = sum(map(lifetime_cycles, tile))
    if not cycles or not BUSY[0] <= wanted / cycles <= BUSY[1]:
        return []
    visits = phase.pair.phase.visits
    return [
        "The port to shared memory is what limits it: it serves a wavefront a cycle, and in the "
        f"{cycles / visits:,.0f} cycles that a tile takes the {one.warps_at_once:,} warps of a "
        f"multiprocessor ask for about as many: {wanted / visits:,.0f}."
    ]


def build_table(
    found: Sequence[ComparedPhase], one: CountedLaunch, base: CountedLaunch
) -> list[dict[str, str]]:
    """Build a row for each phase and memory: counts and cycles of both kernels, and ratios."""
    name, base_name = (variant_phrase(each.trace.kernel) for each in (one, base))
    return [
        {
            "Phase": phase.pair.phase.name,
            "Counted": phase.unit.value,
            f"{name}, a warp": f"{phase.count:,.1f}",
            f"{base_name}, a warp": f"{phase.base_count:,.1f}",
            f"{name}, cycles": f"{phase.pair.phase.cycles:,.0f}",
            f"{base_name}, cycles": f"{phase.pair.base.cycles:,.0f}",
            "Counted, for the same work": _times(phase.counted),
            "Clocked": _times(phase.clocked),
        }
        for phase in found
    ]


def explain_elsewhere(one: CountedLaunch) -> str:
    """What share of the counts is at lines that are in no phase; "" where it is none."""
    whole = elsewhere = 0
    for number, counts in one.lines.items():
        counted = (global_sectors(counts) or 0) + (shared_wavefronts(counts) or 0)
        whole += counted
        elsewhere += counted if _phase_of(number, one.trace) is None else 0
    if elsewhere < LEAST_ELSEWHERE * whole:
        return ""
    return (
        f"{format_percent(elsewhere / whole)} of what {variant_phrase(one.trace.kernel)} asks for "
        "is in functions that its phases call, and is not shown."
    )


def _name(phase: ComparedPhase) -> str:
    return f"{phase.pair.phase.name}, {phase.unit}"


def _ratio(ratio: float | None) -> str:
    return "just as" if _times(ratio) == _times(1.0) else f"{_times(ratio)} as"


def _times(ratio: float | None) -> str:
    if ratio is None:
        return "–"
    if ratio < 9.95:
        return f"{format_ratio(ratio)} ×"
    return f"{ratio:.1f} ×" if ratio < 99.5 else f"{ratio:,.0f} ×"
