"""Speed of the kernels of a comparison: bar and line charts, table rows and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from gpu.predict import global_sectors, shared_wavefronts
from gpu.result import Comparison, KernelResult
from ui.palette import CHART_INKS, KERNEL_COLOURS, REFERENCE_COLOUR

MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
INK = CHART_INKS["light"]  # text of the light theme, the default
LABEL_SIZE = 18  # pixels
AXIS_SIZE = 15  # pixels
BAR_HEIGHT = 60  # pixels
AXIS_OVER_LONGEST_BAR = 1.55  # the axis is longer, for the text after a bar


def kernel_label(kernel: KernelResult) -> str:
    """The kernel's name for readers: "tiled, TILE 32"; without a long list of settings."""
    if kernel.name == "cublas":
        return "cuBLAS"
    if kernel.name == "cublas-double":
        return "cuBLAS, double"
    name, *settings = kernel.name.split(":")
    if not settings and len(kernel.defines) == 1:
        settings = [f"{macro}={value}" for macro, value in kernel.defines.items()]
    return ", ".join([name, *(setting.replace("=", " ") for setting in settings)])


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


def colour_of(kernel: KernelResult, index: int) -> str:
    """Grey for cuBLAS; for the kernel at an index of the run, the palette's colour."""
    return (
        REFERENCE_COLOUR
        if kernel.name.startswith("cublas")
        else KERNEL_COLOURS[index % len(KERNEL_COLOURS)]
    )


def marker_of(index: int) -> str:
    """The marker of the kernel at an index; the first 36 differ in colour or marker."""
    return MARKERS[(index + index // len(KERNEL_COLOURS)) % len(MARKERS)]


@dataclass(frozen=True, slots=True)
class Bar:
    """A kernel's bar in a bar chart."""

    kernel: KernelResult
    value: float  # length, in the unit of the chart
    low: float  # ends of the error bar, in the same unit
    high: float
    text: str  # after the bar


def draw_times(comparison: Comparison, ink: str = INK) -> go.Figure:
    """Draw milliseconds of each kernel: the median, with the 20th to 80th percentile."""
    bars = []
    for kernel in timed_kernels(comparison):
        ms = kernel.ms or 0.0
        low, high = kernel.ms_spread or (ms, ms)
        bars.append(Bar(kernel, ms, low, high, format_milliseconds(ms)))
    return _draw_bars(bars, "milliseconds of one launch: shorter is faster", ink)


def draw_throughput(comparison: Comparison, ink: str = INK) -> go.Figure:
    """Draw TFLOP/s of each kernel with its spread, and the device's FP32 peak as a line."""
    bars = []
    for kernel in timed_kernels(comparison):
        ms, tflops = kernel.ms or 0.0, kernel.tflops or 0.0
        low, high = kernel.ms_spread or (ms, ms)
        text = f"{tflops:.1f} TFLOP/s" if tflops >= 1 else f"{tflops:.2g} TFLOP/s"
        if kernel.cublas_ratio is not None and not kernel.name.startswith("cublas"):
            text += f", {format_percent(kernel.cublas_ratio)} of cuBLAS"
        bars.append(Bar(kernel, tflops, tflops * ms / high, tflops * ms / low, text))
    figure = _draw_bars(bars, "TFLOP/s, 2·M·N·K operations over the time: longer is faster", ink)
    peak = comparison.device.peak_fp32_tflops
    if peak:
        longest = max([bar.high for bar in bars], default=0.0)
        figure.update_xaxes(range=[0, max(longest * AXIS_OVER_LONGEST_BAR, peak * 1.15)])
        _draw_line(figure, peak, f"FP32 peak {peak:.1f}", ink)
    return figure


def draw_cublas_share(comparison: Comparison, ink: str = INK) -> go.Figure:
    """Draw each kernel's speed as a percentage of cuBLAS's in the same run; 100% is a line."""
    bars = []
    for kernel in timed_kernels(comparison):
        if kernel.cublas_ratio is not None:
            share = 100 * kernel.cublas_ratio
            bars.append(Bar(kernel, share, share, share, format_percent(kernel.cublas_ratio)))
    figure = _draw_bars(bars, "share of cuBLAS's speed: longer is faster", ink)
    figure.update_xaxes(ticksuffix="%")
    if bars:
        _draw_line(figure, 100, "cuBLAS", ink)
    return figure


def draw_against_size(
    comparisons: Sequence[Comparison], ink: str = INK, of_time: bool = False
) -> go.Figure:
    """Draw TFLOP/s (or milliseconds) of each kernel over M = N = K, for one device."""
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
        figure.add_scatter(
            x=[size for size, _ in line],
            y=[kernel.ms if of_time else kernel.tflops for _, kernel in line],
            name=kernel_label(kernel),
            mode="lines+markers",
            line={"color": colour_of(kernel, index), "width": 3},
            marker={"symbol": marker_of(index), "size": 11},
            hovertemplate=f"%{{y:.3g}} {unit}<extra>{kernel_label(kernel)}</extra>",
        )
    font = {"size": AXIS_SIZE, "color": ink}
    sizes = [comparison.size[0] for comparison in squares]
    figure.update_xaxes(
        type="log", title="M = N = K", tickvals=sizes, ticktext=[f"{size:,}" for size in sizes],
        tickfont=font, title_font=font,
    )  # fmt: skip
    figure.update_yaxes(
        title=unit, rangemode="tozero", tickfont=font, title_font=font,
        **({"type": "log", "dtick": 1} if of_time else {}),
    )  # fmt: skip
    figure.update_layout(
        height=max(430, 90 + 31 * len(points)), margin={"l": 60, "r": 20, "t": 20, "b": 60},
        hovermode="closest",
        legend={"font": {"size": LABEL_SIZE, "color": ink}},
    )  # fmt: skip
    return figure


def _draw_bars(bars: Sequence[Bar], title: str, ink: str) -> go.Figure:
    """Draw horizontal bars, the run's first kernel on top, each text after its error bar.

    The bar of a kernel whose C is wrong is hatched, and its text says so.
    """
    texts = [bar.text if bar.kernel.verified else f"{bar.text}, C is wrong" for bar in bars]
    rows = list(range(len(bars)))
    figure = go.Figure(
        go.Bar(
            x=[bar.value for bar in bars],
            y=rows,
            orientation="h",
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
                "color": [colour_of(bar.kernel, index) for index, bar in enumerate(bars)],
                "pattern": {"shape": ["" if bar.kernel.verified else "/" for bar in bars]},
            },
            customdata=[kernel_label(bar.kernel) for bar in bars],
            text=texts,
            textposition="none",
            hovertemplate="%{customdata}: %{text}<extra></extra>",
        )
    )
    figure.add_scatter(
        x=[bar.high for bar in bars], y=rows, mode="text", hoverinfo="skip", cliponaxis=False,
        text=[f"  {text}" for text in texts], textposition="middle right",
        textfont={"size": LABEL_SIZE, "color": ink},
    )  # fmt: skip
    font = {"size": AXIS_SIZE, "color": ink}
    figure.update_yaxes(
        autorange="reversed", automargin=True, showgrid=False, tickvals=rows,
        ticktext=[f"{kernel_label(bar.kernel)} " for bar in bars],
        tickfont={"size": LABEL_SIZE, "color": ink},
    )  # fmt: skip
    figure.update_xaxes(
        range=[0, max((bar.high for bar in bars), default=1.0) * AXIS_OVER_LONGEST_BAR],
        title=title, tickfont=font, title_font=font, zeroline=False,
    )  # fmt: skip
    figure.update_layout(
        height=110 + BAR_HEIGHT * max(1, len(bars)), showlegend=False, bargap=0.35,
        margin={"l": 10, "r": 10, "t": 34, "b": 60},
    )  # fmt: skip
    return figure


def _draw_line(figure: go.Figure, x: float, text: str, ink: str) -> None:
    figure.add_vline(
        x=x, line={"color": REFERENCE_COLOUR, "dash": "dash", "width": 2}, layer="below",
        annotation={
            "text": text, "font": {"size": AXIS_SIZE, "color": ink}, "yanchor": "bottom", "y": 1,
            "xanchor": "center",
        },
    )  # fmt: skip


def build_table(comparison: Comparison) -> list[dict[str, str]]:
    """Build a row for each kernel, every number formatted as text."""
    return [_row(kernel) for kernel in comparison.kernels]


def _row(kernel: KernelResult) -> dict[str, str]:
    def formatted(value: float | None, form: str, factor: float = 1) -> str:
        return "–" if value is None else format(value * factor, form)

    spread = kernel.ms_spread
    return {
        "Kernel": kernel_label(kernel),
        "C is right": "yes" if kernel.verified else "no",
        "Time, ms": formatted(kernel.ms, "#.4g"),
        "20th to 80th": f"{spread[0]:#.4g} to {spread[1]:#.4g}" if spread else "–",
        "TFLOP/s": formatted(kernel.tflops, ".3g"),
        "Of cuBLAS": formatted(kernel.cublas_ratio, ".1f", 100)
        + ("%" if kernel.cublas_ratio else ""),
        "Of peak": formatted(kernel.peak_share, ".1f", 100) + ("%" if kernel.peak_share else ""),
        "GB/s": formatted(kernel.gb_per_s, ",.0f"),
        "Error, largest": formatted(kernel.max_rel_error, ".2g"),
        "Error, norm": formatted(kernel.rel_norm_error, ".2g"),
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
