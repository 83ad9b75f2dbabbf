"""Speed of the kernels of a comparison: bar and line charts, table rows and sentences."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from gpu.comparison import Comparison, KernelResult
from gpu.precision import short_name
from gpu.predicted_counters import global_sectors, shared_wavefronts
from ui.drawing.palette import BASE_COLOUR, COMPARED_COLOUR, REFERENCE_COLOUR
from ui.gpu_charts import rows
from ui.gpu_charts.label_placement import spread
from ui.gpu_charts.rows import INK

Pair = tuple[str, str]  # names of the two kernels that are compared, as a KernelResult has them
NO_PAIR: Pair = ("", "")
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
CUBLAS_LABELS = {
    "cublas": "cuBLAS",
    "cublas-double": "cuBLAS, double",
    "cublas-tf32": "cuBLAS, TF32",
    "cublas-half": "cuBLAS, half",
}
CHARACTER_WIDTH = 0.53  # of a letter's size, on average
YES_OR_NO = ("no", "yes")  # by a bool, in tables
LINE_LABEL_SIZE = 14  # pixels
SIZE_TICK = 12  # pixels: five sizes on a phone, every second one line further down
LINE_LABEL_STEP = 19  # pixels from one line's name to the next


def kernel_label(kernel: KernelResult) -> str:
    """The kernel's name for readers: "tiled, TILE 32"; of usual settings the tile's width alone."""
    return CUBLAS_LABELS.get(kernel.name) or variant_label(kernel.name, kernel.defines)


def variant_label(variant: str, defines: Mapping[str, str]) -> str:
    """The name of a kernel as gpu.candidate.choose takes it, with its macros' values."""
    name, *settings = variant.split(":")
    if not settings and list(defines) == ["TILE"]:
        settings = [f"TILE={defines['TILE']}"]
    return ", ".join([name, *(setting.replace("=", " ") for setting in settings)])


def phrase(kernel: KernelResult) -> str:
    """The kernel's name within a sentence: "tiled", "tiled (TILE 32)"."""
    if kernel.name.startswith("cublas"):
        return kernel_label(kernel)
    return variant_phrase(kernel.name)


def variant_phrase(variant: str) -> str:
    """The same of a kernel as gpu.candidate.choose takes it."""
    name, *settings = variant.split(":")
    if not settings:
        return name
    return f"{name} ({', '.join(setting.replace('=', ' ') for setting in settings)})"


def size_name(size: tuple[int, int, int]) -> str:
    """M, N and K for readers: "8,192 × 6,144 × 4,096"."""
    return " × ".join(f"{value:,}" for value in size)


def format_count(value: int | None) -> str:
    """Format a counter's value: "131,072", or "unknown" if it was not recorded."""
    return "unknown" if value is None else f"{value:,}"


def format_milliseconds(ms: float) -> str:
    """Format a time with three significant digits: "0.0123 ms", "5.61 ms", "1,210 ms"."""
    digits = 4 if ms < 0.1 else 3 if ms < 1 else 2 if ms < 10 else 1 if ms < 100 else 0
    return f"{ms:,.{digits}f} ms"


def format_percent(ratio: float) -> str:
    """Format a ratio as a percentage: "24%", or "2.4%" below ten."""
    return f"{ratio:.1%}" if ratio < 0.0995 else f"{ratio:.0%}"


def timed_kernels(comparison: Comparison) -> list[KernelResult]:
    """The kernels that were timed, in the run's order."""
    return [kernel for kernel in comparison.kernels if kernel.ms and kernel.tflops]


def colour_of(kernel: KernelResult, pair: Pair) -> str:
    """The colour of a compared kernel, the first or the second; grey for every other."""
    match pair:
        case (compared, _) if kernel.name == compared:
            return COMPARED_COLOUR
        case (_, base) if kernel.name == base:
            return BASE_COLOUR
    return REFERENCE_COLOUR


def marker_of(index: int) -> str:
    """The marker of the kernel at an index of the run."""
    return MARKERS[index % len(MARKERS)]


def choose_kernels(comparison: Comparison, names: Collection[str]) -> Comparison:
    """The comparison with the named kernels alone; with all of them if it has none of these."""
    chosen = tuple(kernel for kernel in comparison.kernels if kernel.name in names)
    return dataclasses.replace(comparison, kernels=chosen or comparison.kernels)


@dataclass(frozen=True, slots=True)
class Bar:
    """A kernel's bar in a bar chart."""

    kernel: KernelResult
    value: float  # length, in the unit of the chart
    low: float  # ends of the error bar, in the same unit
    high: float
    text: str  # after the kernel's name, above the bar


def draw_times(comparison: Comparison, ink: str = INK, pair: Pair = NO_PAIR) -> go.Figure:
    """Draw milliseconds of each kernel: the median, with the 20th to 80th percentile."""
    bars = []
    for kernel in timed_kernels(comparison):
        ms = kernel.ms or 0.0
        low, high = kernel.ms_spread or (ms, ms)
        bars.append(Bar(kernel, ms, low, high, format_milliseconds(ms)))
    return _draw_bars(bars, "milliseconds: shorter is faster", ink, pair)


def draw_throughput(comparison: Comparison, ink: str = INK, pair: Pair = NO_PAIR) -> go.Figure:
    """Draw TFLOP/s of each kernel with its spread, and the device's FP32 peak as a hollow bar."""
    bars = []
    for kernel in timed_kernels(comparison):
        ms, tflops = kernel.ms or 0.0, kernel.tflops or 0.0
        low, high = kernel.ms_spread or (ms, ms)
        text = f"{tflops:.1f}" if tflops >= 1 else format_ratio(tflops)
        ends = tflops * ms / high, tflops * ms / low
        bars.append(Bar(kernel, tflops, *ends, f"{text} TFLOP/s"))
    peak = comparison.device.peak_fp32_tflops
    limit = (f"FP32 peak of this GPU: {peak:.1f} TFLOP/s", peak) if peak else None
    return _draw_bars(bars, "TFLOP/s: longer is faster", ink, pair, limit)


def draw_cublas_share(comparison: Comparison, ink: str = INK, pair: Pair = NO_PAIR) -> go.Figure:
    """Draw each kernel's speed as a percentage of cuBLAS's in the same run."""
    bars = []
    for kernel in timed_kernels(comparison):
        if kernel.cublas_ratio is not None:
            share = 100 * kernel.cublas_ratio
            bars.append(Bar(kernel, share, share, share, format_percent(kernel.cublas_ratio)))
    figure = _draw_bars(bars, "share of cuBLAS's speed", ink, pair)
    figure.update_xaxes(ticksuffix="%")
    return figure


def draw_against_size(
    comparisons: Sequence[Comparison], ink: str = INK, of_time: bool = False, pair: Pair = NO_PAIR
) -> go.Figure:
    """Draw TFLOP/s (or milliseconds) of each kernel over M = N = K, for one device.

    Each line has its name at its right end, beyond the axes: no line crosses it.
    """
    squares = sorted(
        (comparison for comparison in comparisons if len(set(comparison.size)) == 1),
        key=lambda comparison: comparison.size[0],
    )
    points: dict[str, list[tuple[int, KernelResult]]] = {}
    for comparison in squares:
        for kernel in timed_kernels(comparison):
            points.setdefault(kernel.name, []).append((comparison.size[0], kernel))
    unit = "ms" if of_time else "TFLOP/s"
    figure = go.Figure()
    for index, line in enumerate(points.values()):
        kernel = line[0][1]
        compared = kernel.name in pair
        figure.add_scatter(
            x=[size for size, _ in line],
            y=[kernel.ms if of_time else kernel.tflops for _, kernel in line],
            name=kernel_label(kernel),
            mode="lines+markers",
            cliponaxis=False,
            line={"color": colour_of(kernel, pair), "width": 4 if compared else 2},
            marker={"symbol": marker_of(index), "size": 11 if compared else 8},
            hovertemplate=f"%{{y:.3g}} {unit}<extra>{kernel_label(kernel)}</extra>",
        )
    height = max(400, 110 + LINE_LABEL_STEP * len(points))
    _name_lines(figure, list(points.values()), height - 96, of_time, pair, ink)
    font = rows.axis_font(ink)
    sizes = [comparison.size[0] for comparison in squares]
    ends = [math.log10(size) for size in (sizes or [1, 10])]
    figure.update_xaxes(
        type="log", title="M = N = K", range=[ends[0] - 0.03, ends[-1]],
        tickvals=sizes, ticktext=["<br>" * (n % 2) + f"{size:,}" for n, size in enumerate(sizes)],
        tickfont=font | {"size": SIZE_TICK}, tickangle=0, title_font=font, showgrid=False,
    )  # fmt: skip
    figure.update_yaxes(
        title=unit, tickfont=font, title_font=font, title_standoff=4,
        **({"type": "log", "dtick": 1} if of_time else {}),
    )  # fmt: skip
    longest = max((len(kernel_label(line[0][1])) for line in points.values()), default=0)
    right = 26 + CHARACTER_WIDTH * LINE_LABEL_SIZE * longest
    figure.update_layout(
        height=height, margin={"l": 54, "r": right, "t": 20, "b": 76}, hovermode="closest",
        showlegend=False,
    )  # fmt: skip
    return figure


def _name_lines(
    figure: go.Figure,
    lines: Sequence[Sequence[tuple[int, KernelResult]]],
    height: float,
    of_time: bool,
    pair: Pair,
    ink: str,
) -> None:
    """Write each line's name right of its last point, moved up or down from the others' names."""
    last = [(line[-1][1].ms if of_time else line[-1][1].tflops) or 0.0 for line in lines]
    every = [(one.ms if of_time else one.tflops) or 0.0 for line in lines for _, one in line]
    if not every:
        return
    if of_time:
        low, high = math.log10(min(every)) - 0.15, math.log10(max(every)) + 0.15
        down = [height * (high - math.log10(value)) / (high - low) for value in last]
    else:
        low, high = 0.0, 1.05 * max(every)
        down = [height * (high - value) / (high - low) for value in last]
    figure.update_yaxes(range=[low, high])
    notes = []
    for line, value, old, new in zip(
        lines, last, down, spread(down, LINE_LABEL_STEP, height), strict=True
    ):
        size, kernel = line[-1]
        label = kernel_label(kernel)
        notes.append(go.layout.Annotation(
            x=math.log10(size), y=math.log10(value) if of_time else value, ax=20, ay=new - old,
            text=f"<b>{label}</b>" if kernel.name in pair else label, xanchor="left",
            yanchor="middle", showarrow=True, arrowhead=0, arrowwidth=1, borderpad=0, standoff=6,
            arrowcolor=colour_of(kernel, pair), font={"size": LINE_LABEL_SIZE, "color": ink},
        ))  # fmt: skip
    rows.annotate(figure, notes)


def _draw_bars(
    bars: Sequence[Bar], title: str, ink: str, pair: Pair, limit: tuple[str, float] | None = None
) -> go.Figure:
    """Draw horizontal bars, the run's first kernel on top, each under its name and its text.

    The bar of a kernel whose C is wrong is hatched, and its text says so. A limit, a text and a
    value, is a hollow bar below all others.
    """
    texts = [bar.text if bar.kernel.verified else f"{bar.text}, C is wrong" for bar in bars]
    figure = go.Figure(
        go.Bar(
            x=[bar.value for bar in bars],
            y=list(range(len(bars))),
            orientation="h",
            width=rows.THICKNESS,
            error_x={
                "type": "data",
                "visible": any(bar.low < bar.high for bar in bars),
                "symmetric": False,
                "array": [bar.high - bar.value for bar in bars],
                "arrayminus": [bar.value - bar.low for bar in bars],
                "color": ink,
                "thickness": 2,
                "width": 8,
            },
            marker={
                "color": [colour_of(bar.kernel, pair) for bar in bars],
                "pattern": {"shape": ["" if bar.kernel.verified else "/" for bar in bars]},
            },
            customdata=[kernel_label(bar.kernel) for bar in bars],
            text=texts,
            textposition="none",
            hovertemplate="%{customdata}: %{text}<extra></extra>",
        )
    )
    names = [
        rows.Name(kernel_label(bar.kernel), text, bar.kernel.name in pair)
        for bar, text in zip(bars, texts, strict=True)
    ]
    longest = max((bar.high for bar in bars), default=1.0)
    if limit:
        text, value = limit
        figure.add_bar(
            x=[value], y=[len(bars)], orientation="h", width=rows.THICKNESS, hoverinfo="skip",
            marker={"color": "rgba(0,0,0,0)", "line": {"color": REFERENCE_COLOUR, "width": 2}},
        )  # fmt: skip
        names.append(rows.Name(text, "", False))
        longest = max(longest, value)
    rows.write_names(figure, names, ink)
    rows.draw_axis(figure, ink, title, range=[0, longest * 1.02], nticks=8)
    figure.update_layout(showlegend=False, barmode="overlay")
    return figure


def compare_pair(comparison: Comparison, pair: Pair) -> str:
    """The sentence on the two compared kernels: "tiled is 1.43 × naive", with both times.

    It says why there is no such number if a C is wrong or a kernel was not timed.
    """
    kernels = {kernel.name: kernel for kernel in comparison.kernels}
    if any(name not in kernels for name in pair):
        return ""
    compared, base = (kernels[name] for name in pair)
    if compared.name == base.name:
        return "Choose two different kernels to compare them."
    for kernel in (compared, base):
        if not kernel.verified:
            return f"{phrase(kernel)} is not compared. {kernel.verdict}"
    if not (compared.ms and base.ms):
        return f"{phrase(base if compared.ms else compared)} is not compared: it was not timed."
    ratio = base.ms / compared.ms
    sentence = (
        f"**{phrase(compared)} runs at {format_ratio(ratio)} × the speed of {phrase(base)}**: "
        f"it takes {format_milliseconds(compared.ms)}, {phrase(base)} "
        f"{format_milliseconds(base.ms)}."
    )
    if compared.element != base.element:
        sentence += f" But {phrase(compared)} multiplies {short_name(compared.element)}, "
        sentence += f"{phrase(base)} {short_name(base.element)}."
    return sentence


def format_ratio(ratio: float) -> str:
    """Format how many times as fast: "1.43", "0.028"; two digits that count below one tenth."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:#.2g}"


def build_table(comparison: Comparison) -> list[dict[str, str]]:
    """Build a row for each kernel, every number formatted as text."""
    return [_row(kernel) for kernel in comparison.kernels]


def _row(kernel: KernelResult) -> dict[str, str]:
    def formatted(value: float | None, form: str, factor: float = 1) -> str:
        return "–" if value is None else format(value * factor, form)

    spread = kernel.ms_spread
    return {
        "Kernel": kernel_label(kernel),
        "Type": short_name(kernel.element),
        "C is right": YES_OR_NO[kernel.verified],
        "Time, ms": formatted(kernel.ms, "#.4g"),
        "20th to 80th": f"{spread[0]:#.4g} to {spread[1]:#.4g}" if spread else "–",
        "TFLOP/s": formatted(kernel.tflops, ".3g"),
        "Of cuBLAS": formatted(kernel.cublas_ratio, ".1f", 100)
        + ("%" if kernel.cublas_ratio else ""),
        "Of peak": formatted(kernel.peak_share, ".1f", 100) + ("%" if kernel.peak_share else ""),
        "GB/s": formatted(kernel.gb_per_s, ",.0f"),
        "Error": formatted(kernel.rel_norm_error, ".2g"),
        "Error, largest": formatted(kernel.max_rel_error, ".2g"),
        "Bound": formatted(kernel.error_bound, ".2g"),
    }


def build_resource_table(comparison: Comparison) -> list[dict[str, str]]:
    """Build a row for each kernel with source: its resources and simulated transactions."""
    return [_resources(kernel) for kernel in comparison.kernels if kernel.source is not None]


def _resources(kernel: KernelResult) -> dict[str, str]:
    def formatted(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    simulated = kernel.simulated
    return {
        "Kernel": kernel_label(kernel),
        "Registers": formatted(kernel.registers, "d"),
        "Shared, bytes": formatted(kernel.shared_bytes, ",d"),
        "Occupancy": formatted(kernel.occupancy, ".0%"),
        "Global sectors": "not predicted"
        if simulated is None
        else format_count(global_sectors(simulated)),
        "Shared wavefronts": "not predicted"
        if simulated is None
        else format_count(shared_wavefronts(simulated)),
    }


def summarize(comparison: Comparison) -> str:
    """Summarize the run: the fastest correct kernel beside cuBLAS; "" if no kernel is correct."""
    M, N, K = comparison.size
    candidates = [
        kernel for kernel in timed_kernels(comparison) if not kernel.name.startswith("cublas")
    ]
    correct = [kernel for kernel in candidates if kernel.verified and kernel.cublas_ratio]
    if not correct:
        return ""
    best = max(correct, key=lambda kernel: kernel.cublas_ratio or 0)
    sentence = (
        f"**{kernel_label(best)}** multiplies {M:,} × {K:,} by {K:,} × {N:,} in "
        f"**{format_milliseconds(best.ms or 0)}**, at "
        f"**{format_percent(best.cublas_ratio or 0)}** of cuBLAS's speed."
    )
    agreement = " Every C agrees with a float64 product on fresh random inputs."
    return sentence + agreement if comparison.verified else sentence


def describe(comparison: Comparison) -> str:
    """Describe the comparison in words, for screen readers."""
    return "; ".join(
        f"{kernel_label(kernel)}: {format_milliseconds(kernel.ms or 0)}, "
        f"{kernel.tflops or 0:.3g} TFLOP/s, {format_percent(kernel.cublas_ratio or 0)} of cuBLAS"
        for kernel in timed_kernels(comparison)
    )
