"""Where kernels' time goes by the GPU's own clock: the phases of all of them in one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import plotly.graph_objects as go

from gpu.trace.phases import cycles_for_work, lifetime_cycles, shares
from gpu.trace.trace import MOST_RATIO, Kind, Trace, TracedPhase
from simulator.catalogue import whole_catalogue
from ui.drawing.palette import CHART_INKS, PALETTES
from ui.gpu_charts import rows
from ui.gpu_charts.performance import format_percent, variant_label, variant_phrase

NAMES: Mapping[Kind, str] = {
    Kind.OTHER: "before the loop", Kind.LOAD: "copying", Kind.BARRIER: "waiting at a barrier",
    Kind.COMPUTE: "inner loop", Kind.STORE: "storing",
}  # fmt: skip
# Of the marks of `draw_work`, so that a colour is never alone.
SYMBOLS: Mapping[Kind, str] = {Kind.LOAD: "circle", Kind.BARRIER: "square", Kind.COMPUTE: "diamond"}
UNLIKE = 0.1  # of a median life, from which on blocks ran unlike the others


def trace_label(trace: Trace) -> str:
    """The kernel's name for readers, as other charts have it: "tiled, TILE 32"."""
    entry = whole_catalogue().get(trace.kernel.split(":")[0])
    defines = {macro: str(values[0]) for macro, values in entry.defines.items()} if entry else {}
    return variant_label(trace.kernel, defines)


def draw_phases(traces: Sequence[Trace], ink: str = rows.INK) -> go.Figure:
    """Draw what share of a block's lifetime each phase takes: a row a kernel, all of one length.

    The phases are in the order of the code; a phase of the loop over tiles stands for all tiles.
    """
    colours = _colours(ink)
    bars: dict[Kind, list[tuple[int, float, float, str]]] = {kind: [] for kind in Kind}
    for row, trace in enumerate(traces):
        left = 0.0
        for phase in trace.phases:
            if phase.k is None:
                often = "once" if phase.visits == 1 else f"{phase.visits:,.0f} times"
                sentences = (
                    f"{trace_label(trace)}: {phase.name}, {format_percent(phase.share)}<br>"
                    f"{phase.cycles:,.0f} cycles, {often}"
                    f"<br>line{'s' * (phase.first_line != phase.last_line)} {_lines(phase)}"
                )
                bars[phase.kind].append((row, left, 100 * phase.share, sentences))
                left += 100 * phase.share
    figure = go.Figure()
    for kind, found in bars.items():
        if found:
            figure.add_bar(
                y=[row for row, *_ in found], base=[left for _, left, *_ in found],
                x=[share for *_, share, _ in found], orientation="h", width=rows.THICKNESS,
                name=NAMES[kind], marker={"color": colours[kind], "line": {"width": 0}},
                customdata=[sentences for *_, sentences in found], textposition="none",
                hovertemplate="%{customdata}<extra></extra>",
            )  # fmt: skip
    names = [_named(trace, format_percent(shares(trace)[Kind.COMPUTE])) for trace in traces]
    rows.write_names(figure, names, ink)
    rows.draw_axis(
        figure, ink, "share of a block's lifetime; numbers: inner loop", ticksuffix="%",
        range=[0, max([100.5, *(100 * sum(shares(trace).values()) for trace in traces)])], nticks=6,
    )  # fmt: skip
    _place_legend(figure, ink)
    figure.update_layout(barmode="overlay")
    return figure


def describe_phases(traces: Sequence[Trace]) -> str:
    """The picture of shares in words, for a screen reader."""
    return "; ".join(
        f"{trace_label(trace)}: "
        + ", ".join(
            f"{NAMES[kind]} {format_percent(share)}"
            for kind, share in shares(trace).items()
            if share
        )
        for trace in traces
    )


def draw_work(traces: Sequence[Trace], ink: str = rows.INK) -> go.Figure:
    """Draw a warp's cycles for each multiply-add of one of its threads: a mark a kind, log scale.

    So tiles of any size are at one scale. A kind in which a kernel spends nothing has no mark.
    """
    colours = _colours(ink)
    spent = [cycles_for_work(trace) for trace in traces]
    figure = go.Figure()
    for kind, symbol in SYMBOLS.items():
        marked = [(row, one[kind]) for row, one in enumerate(spent) if one[kind] > 0]
        figure.add_scatter(
            x=[cycles for _, cycles in marked], y=[row for row, _ in marked], mode="markers",
            name=NAMES[kind], cliponaxis=False,
            marker={
                "symbol": symbol, "size": 14, "color": colours[kind],
                "line": {"width": 1.5, "color": ink},
            },
            customdata=[trace_label(traces[row]) for row, _ in marked],
            hovertemplate="%{customdata}: %{x:,.3g} cycles<extra>" + NAMES[kind] + "</extra>",
        )  # fmt: skip
    names = [_named(trace, f"{_format(_not_multiplying(trace))} cycles") for trace in traces]
    rows.write_names(figure, names, ink)
    title = "cycles for a multiply-add; numbers: outside the inner loop"
    rows.draw_axis(figure, ink, title, type="log", dtick=1)
    _place_legend(figure, ink)
    return figure


def describe_work(traces: Sequence[Trace]) -> str:
    """The picture of cycles in words, for a screen reader."""
    return "; ".join(
        f"{trace_label(trace)}: "
        + ", ".join(f"{NAMES[kind]} {_format(spent[kind])}" for kind in SYMBOLS if spent[kind])
        for trace in traces
        for spent in [cycles_for_work(trace)]
    )


def summarize(traces: Sequence[Trace]) -> str:
    """How much less the last kernel spends outside its inner loop than the one that spends most."""
    most, last = max(traces, key=_not_multiplying), traces[-1]
    least = _not_multiplying(last)
    if most is last or not least:
        return ""
    ratio = _not_multiplying(most) / least
    return (
        f"**From {variant_phrase(most.kernel)} to {variant_phrase(last.kernel)} what a warp spends "
        f"outside the inner loop shrinks by a factor of {ratio:,.0f}**: from "
        f"{_format(_not_multiplying(most))} to {_format(least)} cycles for each multiply-add of "
        "one of its threads."
    )


def explain_loading(traces: Sequence[Trace]) -> str:
    """Which kernels load from global memory within their inner loop; "" for none."""
    without = [trace for trace in traces if all(one.kind is not Kind.LOAD for one in trace.phases)]
    if not without:
        return ""
    return (
        "Loads from global memory, and the wait for them, are part of the inner loop in "
        f"{_list(without)}."
    )


def explain_measuring(traces: Sequence[Trace]) -> str:
    """How far what was traced is the plain kernel: its time, its bits, the sum of its phases."""
    ratios = dict.fromkeys(f"{ratio:.2f}" for ratio in sorted(trace.ratio for trace in traces))
    between = " to ".join([*ratios][:: max(1, len(ratios) - 1)])
    sentences = [f"With reads of the clock, a kernel took {between} times as long as without them."]
    slow = [trace for trace in traces if trace.is_disturbed]
    if slow:
        sentences.append(
            f"For {_list(slow)} it was more than {MOST_RATIO} times: read the phases there as "
            "shares of the slower, traced kernel."
        )
    wrong = [trace for trace in traces if not trace.same_bits]
    sentences.append(
        f"C of {_list(wrong)} has different bits from the plain kernel's: do not trust its phases."
        if wrong
        else "Every C has the same bits as the plain kernel's."
    )
    off = [trace for trace in traces if not trace.tells_all]
    sentences.append(
        "The phases do not add up to the block's lifetime where the compiler moved work across a "
        "read: "
        + ", ".join(f"{variant_phrase(one.kernel)} {one.sum_error:+.1%}" for one in off)
        + "."
        if off
        else f"The phases add up to the block's lifetime within "
        f"{max(abs(one.sum_error) for one in traces):.1%}."
    )
    return " ".join(sentences)


def explain_sample(traces: Sequence[Trace]) -> str:
    """Of which traces the blocks with known intervals ran unlike the others; "" where none did.

    Phases are those of such blocks. Of the blocks on a multiprocessor some get ahead of others.
    """
    unlike = []
    for trace in traces:
        ours, all_blocks = (
            median(block.end - block.start for block in blocks)
            for blocks in (trace.whole_blocks or trace.blocks, trace.blocks)
        )
        if abs(ours / all_blocks - 1) > UNLIKE:
            unlike.append((trace, ours / 1000, all_blocks / 1000))
    if not unlike:
        return ""
    sentences = ", ".join(
        f"{variant_phrase(trace.kernel)} {ours:,.0f} µs instead of {every:,.0f} µs"
        for trace, ours, every in unlike
    )
    return (
        "The blocks whose warps were followed ran for a different time than the launch's median "
        f"block: {sentences}."
    )


def explain_left_out(traces: Sequence[Trace]) -> str:
    """What of each trace has no figures, or was not kept; "" where nothing was left out."""
    several = len(traces) > 1
    return " ".join(
        f"{trace_label(trace)}: {trace.left_out}" if several else trace.left_out
        for trace in traces
        if trace.left_out
    )


def build_table(traces: Sequence[Trace]) -> list[dict[str, str]]:
    """Build a row for each phase of each kernel, every number formatted as text."""
    return [
        {
            "Kernel": trace_label(trace),
            "Phase": phase.name,
            "Lines": _lines(phase),
            "Cycles": f"{phase.cycles:,.0f}",
            "20th to 80th": "{:,.0f} to {:,.0f}".format(*phase.spread),
            "Times": f"{phase.visits:,.0f}",
            "Cycles in all": f"{lifetime_cycles(phase):,.0f}",
            "Of the lifetime": format_percent(phase.share),
            "Traced over plain": f"{trace.ratio:.2f}",
        }
        for trace in traces
        for phase in trace.phases
        if phase.k is None
    ]


def _not_multiplying(trace: Trace) -> float:
    """A warp's cycles outside the inner loop, for each multiply-add of one of its threads."""
    return sum(
        cycles for kind, cycles in cycles_for_work(trace).items() if kind is not Kind.COMPUTE
    )


def _named(trace: Trace, text: str) -> rows.Name:
    """A row's name, with the ratio to the plain kernel: short enough for a phone."""
    return rows.Name(trace_label(trace), f"{text}, {trace.ratio:.2f} ×", False)


def _colours(ink: str) -> dict[Kind, str]:
    """The colours of the scene's timeline."""
    palette = PALETTES["dark" if ink == CHART_INKS["dark"] else "light"]
    return {kind: palette.phases[kind.value] for kind in Kind}


def _place_legend(figure: go.Figure, ink: str) -> None:
    rows.place_legend(figure, ink)
    figure.update_layout(showlegend=True, hovermode="closest", legend_traceorder="normal")


def _lines(phase: TracedPhase) -> str:
    first, last = phase.first_line, phase.last_line
    return f"{first}" if first == last else f"{first} to {last}"


def _format(cycles: float) -> str:
    return f"{cycles:,.0f}" if cycles >= 9.95 else f"{cycles:.1f}"


def _list(traces: Sequence[Trace]) -> str:
    return ", ".join(variant_phrase(trace.kernel) for trace in traces)
