"""A GPU's multiprocessors over time: which block ran where and when, and its waves as planned."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from gpu.shapes.plan import WIDE, Table, Tuned, waves_of
from gpu.trace.trace import Trace
from gpu.trace.waves import Placed, place_blocks
from simulator.language.ctype import Array
from ui.drawing.palette import BASE_COLOUR, COMPARED_COLOUR, REFERENCE_COLOUR
from ui.gpu_charts import rows
from ui.gpu_charts.performance import format_percent
from ui.gpu_charts.traced_phases import trace_label

HEIGHT, LEAST_HEIGHT = 620, 260  # pixels
PLACE_HEIGHT = 22  # pixels at most, of a block
RUNNING_HEIGHT = 340  # pixels

MOST_BARS = 16384  # beyond, every second, third, … multiprocessor is drawn
PARTS = 400  # of a launch, over each of which the running blocks are averaged
UNEVEN = 0.02  # of the median life, from the 5th to the 95th percentile: waves overlap
HOVER_PARTS = 12  # of a launch: a block as long as one has a point to rest the pointer on
SHADES = (REFERENCE_COLOUR, "#b9bec7")  # of waves that follow one another
MARGIN = {"l": 56, "r": 16, "t": 8, "b": 56}


@dataclass(frozen=True, slots=True)
class Launched:
    """A traced launch, ready to be drawn."""

    trace: Trace
    placed: Placed
    multiprocessors: int  # of the GPU

    @property
    def places(self) -> int:
        """How many blocks the whole GPU can hold at once."""
        return self.multiprocessors * self.placed.resident

    @property
    def waves(self) -> int:
        """How often blocks came to the place that had the most of them."""
        return int(self.placed.before.max()) + 1


def launched(trace: Trace, multiprocessors: int) -> Launched:
    """The launch of a trace on a GPU with so many multiprocessors."""
    placed = place_blocks(trace.blocks)
    return Launched(trace, placed, max(multiprocessors, int(placed.multiprocessor.max()) + 1))


def drawn_multiprocessors(launch: Launched) -> list[int]:
    """The numbers of those that are drawn: all, or evenly so many that a browser can draw."""
    step = math.ceil(len(launch.trace.blocks) / MOST_BARS)
    return list(range(0, launch.multiprocessors, step))


def draw_blocks(launch: Launched, ink: str = rows.INK) -> go.Figure:
    """Draw every block as a bar from its start to its end at its place of its multiprocessor.

    Multiprocessors go down, each with a row for each block that it holds at once. Waves that
    follow one another have two greys, the last one of several a colour.
    """
    placed, resident = launch.placed, launch.placed.resident
    shown = drawn_multiprocessors(launch)
    row_of = {number: row for row, number in enumerate(shown)}
    chosen = np.flatnonzero(np.isin(placed.multiprocessor, shown))
    top = np.array([row_of[int(number)] for number in placed.multiprocessor[chosen]]) * resident
    top = top + placed.place[chosen]
    figure = go.Figure()
    for colour, which in _by_wave(launch, chosen):
        figure.add_shape(
            type="path", path=_bars(placed, chosen[which], top[which]), fillcolor=colour,
            line={"width": 0}, layer="below",
        )  # fmt: skip
    figure.add_trace(_pointers(launch, chosen, top))
    every = max(1, len(shown) // 12)
    font = rows.axis_font(ink)
    figure.update_yaxes(
        range=[len(shown) * resident, 0], title="multiprocessor", tickfont=font, title_font=font,
        tickvals=[(row + 0.5) * resident for row in range(0, len(shown), every)],
        ticktext=[str(number) for number in shown[::every]], showgrid=False, zeroline=False,
    )  # fmt: skip
    _draw_time(figure, ink, launch.placed.length * 1.005)
    height = MARGIN["t"] + MARGIN["b"] + len(shown) * resident * PLACE_HEIGHT
    figure.update_layout(
        height=min(HEIGHT, max(LEAST_HEIGHT, height)), margin=MARGIN, showlegend=False,
        hovermode="closest", hoverdistance=-1,
    )  # fmt: skip
    return figure


def _by_wave(launch: Launched, chosen: Array) -> list[tuple[str, Array]]:
    """The colours, and which of the chosen blocks have each."""
    wave = launch.placed.before[chosen]
    last = wave == launch.waves - 1 if launch.waves > 1 else np.zeros(wave.shape, bool)
    found = [(shade, ~last & (wave % 2 == parity)) for parity, shade in enumerate(SHADES)]
    return [(colour, which) for colour, which in (*found, (COMPARED_COLOUR, last)) if which.any()]


def _bars(placed: Placed, blocks: Array, top: Array) -> str:
    """One path of a rectangle for each block: a thousand shapes would take seconds to draw."""
    thickness = 0.86 if placed.resident == 1 else 0.92
    return "".join(
        f"M{begin:.2f},{y}H{end:.2f}V{y + thickness:.2f}H{begin:.2f}Z"
        for begin, end, y in zip(
            (placed.start[blocks] / 1000).tolist(), (placed.end[blocks] / 1000).tolist(),
            top.tolist(), strict=True,
        )
    )  # fmt: skip


def _pointers(launch: Launched, chosen: Array, top: Array) -> go.Scatter:
    """Points that are not drawn, along each block, so that a pointer finds what it is."""
    placed = launch.placed
    life = placed.end[chosen] - placed.start[chosen]
    counts = np.maximum(1, np.rint(HOVER_PARTS * life / max(1, placed.length)).astype(np.int64))
    of = np.repeat(np.arange(chosen.size), counts)  # the block of each point
    nth = np.arange(of.size) - np.repeat(np.cumsum(counts) - counts, counts)
    x = (placed.start[chosen][of] + (nth + 0.5) * life[of] / counts[of]) / 1000
    blocks = launch.trace.blocks
    labels = np.array(
        [
            (blocks[number].x, blocks[number].y, block_start, block_end, where, before + 1)
            for number, block_start, block_end, where, before in zip(
                chosen.tolist(), placed.start[chosen].tolist(), placed.end[chosen].tolist(),
                placed.multiprocessor[chosen].tolist(), placed.before[chosen].tolist(), strict=True,
            )
        ],
        np.int32,
    )  # fmt: skip
    return go.Scatter(
        x=x.astype(np.float32), y=(top[of] + 0.46).astype(np.float32), mode="none",
        customdata=labels[of], hoveron="points",
        hovertemplate="<b>block (%{customdata[0]}, %{customdata[1]})</b><br>multiprocessor "
        "%{customdata[4]}, block %{customdata[5]} of its place<br>from %{customdata[2]:,} to "
        "%{customdata[3]:,} ns<extra></extra>",
    )  # fmt: skip


def _draw_time(figure: go.Figure, ink: str, end: float) -> None:
    """Draw an axis of time up to so many nanoseconds."""
    rows.draw_axis(figure, ink, "microseconds", range=[0, end / 1000], nticks=7, tickformat=",")


def explain_blocks(launch: Launched) -> str:
    """How many blocks ran where, in how many waves, and what the tail leaves empty."""
    trace, placed = launch.trace, launch.placed
    used = np.unique(placed.multiprocessor).size
    slower = f"traced, {trace.ratio:.2f} times as long as plain"
    several = f"up to {placed.resident:,} at once" if placed.resident > 1 else "one at a time"
    blocks = f"{len(trace.blocks):,} blocks" if len(trace.blocks) > 1 else "1 block"
    labels = [
        f"**{trace_label(trace)}: {blocks} on {used:,} of "
        f"{launch.multiprocessors:,} multiprocessors, {several} on each** ({slower})."
    ]
    if launch.waves == 1:
        labels.append("All have begun before the first ends: one wave.")
    else:
        least = min(
            len(list(group))
            for _, group in itertools.groupby(
                sorted(zip(placed.multiprocessor.tolist(), placed.place.tolist(), strict=True))
            )
        )
        most = launch.waves
        counted = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        labels.append(
            f"A place, room for one block on a multiprocessor, had {counted} blocks one after "
            "another."
        )
    tail = placed.length - placed.tail
    empty = 1 - placed.running(placed.tail, placed.length) / launch.places
    idle = 1 - placed.running(0, placed.length) / launch.places
    labels.append(
        "The tail, in which no block is left to begin and some have ended, takes "
        f"{format_percent(tail / placed.length)} of the launch, with {format_percent(empty)} of "
        f"the places empty; over the whole launch {format_percent(idle)} of them are empty."
    )
    return " ".join(labels)


def caption_blocks(launch: Launched) -> str:
    """What the bars and colours are, and which multiprocessors are left out."""
    shown = drawn_multiprocessors(launch)
    step = shown[1] - shown[0] if len(shown) > 1 else 1
    colours = "Two greys in turn: one block after another at a place" + (
        "; orange: the last wave. " if launch.waves > 1 else ". "
    )
    thinned = (
        f"Of {len(launch.trace.blocks):,} blocks, those of one multiprocessor in {step} are drawn. "
        if step > 1
        else ""
    )
    return (
        f"A bar is a block, from its start to its end by the GPU's nanosecond timer. {colours}"
        f"{thinned}Drag over a part to see it larger; a double click shows all again."
    )


@dataclass(frozen=True, slots=True)
class PlannedWaves:
    """The waves of a launch as a plan counts them."""

    waves: tuple[tuple[int, int, float], ...]  # how many, of how many blocks, for how many ns each
    is_measured: bool  # times are from the table of plans, else a block's median life


def plan_waves(launch: Launched, table: Table | None) -> PlannedWaves:
    """The waves that the chooser counts: with its table's times where it knows the kernel.

    For others its rule with the places that were seen: blocks of a wave begin and end together.
    """
    tuned = _tuned(launch.trace, table)
    blocks, (_, N, K) = len(launch.trace.blocks), launch.trace.size
    pace = tuned.pace(N % WIDE != 0, 1) if tuned else None
    if tuned is not None and pace is not None and table is not None:
        length = math.ceil(K / tuned.depth) * tuned.depth
        found = waves_of(table.multiprocessors, pace, blocks, length)
        return PlannedWaves(tuple((count, held, ms * 1e6) for count, held, ms in found), True)
    full, rest = divmod(blocks, launch.places)
    life = launch.placed.median_life
    whole = [(full, launch.places, life)] if full else []
    return PlannedWaves((*whole, *([(1, rest, life)] if rest else [])), False)


def _tuned(trace: Trace, table: Table | None) -> Tuned | None:
    kernels = table.kernels if table else ()
    return next((one for one in kernels if one.name == trace.kernel), None)


def draw_running(launch: Launched, planned: PlannedWaves, ink: str = rows.INK) -> go.Figure:
    """Draw how many blocks run over time: measured an area, the chooser's waves an outline."""
    edges, running = launch.placed.running_over_time(PARTS)
    figure = go.Figure(
        go.Scatter(
            x=np.repeat(edges / 1000, 2)[1:-1].astype(np.float32),
            y=np.repeat(running, 2).astype(np.float32),
            mode="lines", line={"width": 0}, fill="tozeroy", fillcolor=REFERENCE_COLOUR,
            name="measured", hovertemplate="%{x:,.1f} µs: %{y:,.0f} blocks<extra></extra>",
        )
    )  # fmt: skip
    x, y, at = [0.0], [0], 0.0
    for count, blocks, length in planned.waves:
        for _ in range(count):
            x += [at / 1000, (at + length) / 1000, (at + length) / 1000]
            y += [blocks, blocks, 0]
            at += length
    figure.add_scatter(
        x=x, y=y, mode="lines", name="the chooser's waves", hoverinfo="skip",
        line={"color": BASE_COLOUR, "width": 2.5},
    )  # fmt: skip
    font = rows.axis_font(ink)
    _draw_time(figure, ink, 1.02 * max(launch.placed.length, at))
    figure.update_yaxes(
        range=[0, 1.08 * max(launch.places, *y)], title="blocks at once", tickfont=font,
        title_font=font, showgrid=False, zeroline=False, nticks=6, tickformat=",",
    )  # fmt: skip
    figure.update_layout(
        height=RUNNING_HEIGHT, margin=MARGIN | {"t": rows.LEGEND_HEIGHT}, hovermode="closest",
        legend=rows.LEGEND | {"font": font},
    )  # fmt: skip
    return figure


def explain_running(launch: Launched, planned: PlannedWaves) -> str:
    """The chooser's waves beside what was measured, and why they differ."""
    trace, placed = launch.trace, launch.placed
    count = sum(count for count, _, _ in planned.waves)
    predicted = sum(number * length for number, _, length in planned.waves) / 1000
    _, last, _ = planned.waves[-1]
    places = max(blocks for _, blocks, _ in planned.waves) if count > 1 else launch.places
    measured = placed.length / 1000
    plural = "s" if count > 1 else ""
    labels = [
        f"The chooser, the program that picks a kernel for a shape, counts {count:,} "
        f"wave{plural} of {places:,} places"
        + (
            f", {'the last one' if count > 1 else 'which is'} {format_percent(last / places)} full"
            if last < places
            else ""
        )
        + f": {predicted:,.0f} µs. "
    ]
    if planned.is_measured:
        plain = measured / trace.ratio
        labels.append(
            f"The traced launch took {measured:,.0f} µs, and the plain one, {trace.ratio:.2f} "
            f"times as fast, would take {plain:,.0f}: {predicted / plain - 1:+.0%} is the "
            "chooser's error."
        )
    else:
        labels.append(
            f"The traced launch took {measured:,.0f} µs, {trace.ratio:.2f} times the plain one. "
            "The chooser's table has no times for this kernel: a wave is drawn as long as a "
            "block's median life."
        )
    low, high = np.percentile(placed.end - placed.start, [5, 95]) / placed.median_life
    if count > 1 and high - low >= UNEVEN:
        labels.append(
            " A block does not wait for its wave: it begins where another one ends, and most lives "
            f"are {low:.0%} to {high:.0%} of the median one, so that waves overlap."
        )
    return "".join(labels)


def describe_running(launch: Launched, planned: PlannedWaves) -> str:
    """The waves in words, for a screen reader."""
    counted: Sequence[str] = [
        f"{count:,} of {blocks:,} blocks" for count, blocks, _ in planned.waves
    ]
    _, running = launch.placed.running_over_time(10)
    return (
        f"The chooser's waves: {', '.join(counted)}. Blocks at once, measured, in tenths of the "
        f"launch: {', '.join(f'{one:,.0f}' for one in running)}."
    )
