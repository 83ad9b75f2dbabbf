"""Pictures of a comparison: figures, table rows and sentences made from its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from gpu.predict import global_sectors, shared_wavefronts
from gpu.result import Comparison, KernelResult
from ui.palette import CHART_INKS, KERNEL_COLOURS, REFERENCE_COLOUR

MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
INK = CHART_INKS["light"]  # where the page does not say what its theme wants
LABEL_SIZE = 18
AXIS_SIZE = 15
BAR_HEIGHT = 60
ROOM = 1.55  # the axis's length over the longest bar, for the text behind it


def label(kernel: KernelResult) -> str:
    """The kernel's name as readers see it: "tiled, TILE 32"; without a long list of settings."""
    if kernel.name == "cublas":
        return "cuBLAS"
    if kernel.name == "cublas-double":
        return "cuBLAS, double"
    name, *settings = kernel.name.split(":")
    if not settings and len(kernel.defines) == 1:
        settings = [f"{macro}={value}" for macro, value in kernel.defines.items()]
    return ", ".join([name, *(setting.replace("=", " ") for setting in settings)])


def size_name(size: tuple[int, int, int]) -> str:
    """M, N and K as a reader names a product: "8,192 × 6,144 × 4,096"."""
    return " × ".join(f"{value:,}" for value in size)


def count(value: int | None) -> str:
    """A counter's value: "131,072", or "unknown" when it was not recorded."""
    return "unknown" if value is None else f"{value:,}"


def milliseconds(ms: float) -> str:
    """A time with three digits that count: "0.0123 ms", "5.61 ms", "1,210 ms"."""
    digits = 4 if ms < 0.1 else 3 if ms < 1 else 2 if ms < 10 else 1 if ms < 100 else 0
    return f"{ms:,.{digits}f} ms"


def percent(ratio: float) -> str:
    """A share: "24%", with a decimal under ten."""
    return f"{ratio:.1%}" if ratio < 0.0995 else f"{ratio:.0%}"


def measured(comparison: Comparison) -> list[KernelResult]:
    """The kernels that were timed, in the run's order."""
    return [kernel for kernel in comparison.kernels if kernel.ms and kernel.tflops]


def colour_of(kernel: KernelResult, place: int) -> str:
    """Grey for cuBLAS; the kernels in the palette's order."""
    return (
        REFERENCE_COLOUR
        if kernel.name.startswith("cublas")
        else KERNEL_COLOURS[place % len(KERNEL_COLOURS)]
    )


def marker_of(place: int) -> str:
    """A marker that no other of the first 36 kernels has in the same colour."""
    return MARKERS[(place + place // len(KERNEL_COLOURS)) % len(MARKERS)]


@dataclass(frozen=True, slots=True)
class Bar:
    """One kernel's bar: its length, the ends of its spread, and the text behind it."""

    kernel: KernelResult
    value: float
    low: float
    high: float
    text: str


def times(comparison: Comparison, ink: str = INK) -> go.Figure:
    """Milliseconds of each kernel, median with the 20th to 80th percentile; shorter is faster."""
    bars = []
    for kernel in measured(comparison):
        ms = kernel.ms or 0.0
        low, high = kernel.ms_spread or (ms, ms)
        bars.append(Bar(kernel, ms, low, high, milliseconds(ms)))
    return _bars(bars, "milliseconds of one launch: shorter is faster", ink)


def throughput(comparison: Comparison, ink: str = INK) -> go.Figure:
    """TFLOP/s of each kernel with its spread, the device's FP32 peak as a line."""
    bars = []
    for kernel in measured(comparison):
        ms, tflops = kernel.ms or 0.0, kernel.tflops or 0.0
        low, high = kernel.ms_spread or (ms, ms)
        text = f"{tflops:.1f} TFLOP/s" if tflops >= 1 else f"{tflops:.2g} TFLOP/s"
        if kernel.cublas_ratio is not None and not kernel.name.startswith("cublas"):
            text += f", {percent(kernel.cublas_ratio)} of cuBLAS"
        bars.append(Bar(kernel, tflops, tflops * ms / high, tflops * ms / low, text))
    figure = _bars(bars, "TFLOP/s, 2·M·N·K operations over the time: longer is faster", ink)
    peak = comparison.device.peak_fp32_tflops
    if peak:
        longest = max([bar.high for bar in bars], default=0.0)
        figure.update_xaxes(range=[0, max(longest * ROOM, peak * 1.15)])
        _line(figure, peak, f"FP32 peak {peak:.1f}", ink)
    return figure


def cublas_share(comparison: Comparison, ink: str = INK) -> go.Figure:
    """Each kernel's speed as a share of cuBLAS's in the same run; 100% is a line."""
    bars = []
    for kernel in measured(comparison):
        if kernel.cublas_ratio is not None:
            share = 100 * kernel.cublas_ratio
            bars.append(Bar(kernel, share, share, share, percent(kernel.cublas_ratio)))
    figure = _bars(bars, "share of cuBLAS's speed: longer is faster", ink)
    figure.update_xaxes(ticksuffix="%")
    if bars:
        _line(figure, 100, "cuBLAS", ink)
    return figure


def against_size(
    comparisons: Sequence[Comparison], ink: str = INK, of_time: bool = False
) -> go.Figure:
    """TFLOP/s of each kernel, or its milliseconds, over M = N = K of one device's comparisons."""
    squares = sorted(
        (one for one in comparisons if len(set(one.size)) == 1), key=lambda one: one.size[0]
    )
    points: dict[str, list[tuple[int, KernelResult]]] = {}
    for one in squares:
        for kernel in measured(one):
            points.setdefault(kernel.name, []).append((one.size[0], kernel))
    unit = "ms" if of_time else "TFLOP/s"
    figure = go.Figure()
    for place, line in enumerate(points.values()):
        kernel = line[0][1]
        figure.add_scatter(
            x=[size for size, _ in line],
            y=[kernel.ms if of_time else kernel.tflops for _, kernel in line],
            name=label(kernel),
            mode="lines+markers",
            line={"color": colour_of(kernel, place), "width": 3},
            marker={"symbol": marker_of(place), "size": 11},
            hovertemplate=f"%{{y:.3g}} {unit}<extra>{label(kernel)}</extra>",
        )
    font = {"size": AXIS_SIZE, "color": ink}
    sizes = [one.size[0] for one in squares]
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


def _bars(bars: Sequence[Bar], title: str, ink: str) -> go.Figure:
    """Bars from left to right, the run's first kernel on top, its text behind its spread.

    A kernel whose C is wrong is hatched and says so: its speed counts for nothing.
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
                "color": [colour_of(bar.kernel, place) for place, bar in enumerate(bars)],
                "pattern": {"shape": ["" if bar.kernel.verified else "/" for bar in bars]},
            },
            customdata=[label(bar.kernel) for bar in bars],
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
        ticktext=[f"{label(bar.kernel)} " for bar in bars],
        tickfont={"size": LABEL_SIZE, "color": ink},
    )  # fmt: skip
    figure.update_xaxes(
        range=[0, max((bar.high for bar in bars), default=1.0) * ROOM],
        title=title, tickfont=font, title_font=font, zeroline=False,
    )  # fmt: skip
    figure.update_layout(
        height=110 + BAR_HEIGHT * max(1, len(bars)), showlegend=False, bargap=0.35,
        margin={"l": 10, "r": 10, "t": 34, "b": 60},
    )  # fmt: skip
    return figure


def _line(figure: go.Figure, at: float, text: str, ink: str) -> None:
    figure.add_vline(
        x=at, line={"color": REFERENCE_COLOUR, "dash": "dash", "width": 2}, layer="below",
        annotation={
            "text": text, "font": {"size": AXIS_SIZE, "color": ink}, "yanchor": "bottom", "y": 1,
            "xanchor": "center",
        },
    )  # fmt: skip


def table(comparison: Comparison) -> list[dict[str, str]]:
    """One row a kernel, every figure as text."""
    return [_row(kernel) for kernel in comparison.kernels]


def _row(kernel: KernelResult) -> dict[str, str]:
    def shown(value: float | None, form: str, factor: float = 1) -> str:
        return "–" if value is None else format(value * factor, form)

    spread = kernel.ms_spread
    return {
        "Kernel": label(kernel),
        "C is right": "yes" if kernel.verified else "no",
        "Time, ms": shown(kernel.ms, "#.4g"),
        "20th to 80th": f"{spread[0]:#.4g} to {spread[1]:#.4g}" if spread else "–",
        "TFLOP/s": shown(kernel.tflops, ".3g"),
        "Of cuBLAS": shown(kernel.cublas_ratio, ".1f", 100) + ("%" if kernel.cublas_ratio else ""),
        "Of peak": shown(kernel.peak_share, ".1f", 100) + ("%" if kernel.peak_share else ""),
        "GB/s": shown(kernel.gb_per_s, ",.0f"),
        "Error, largest": shown(kernel.max_rel_error, ".2g"),
        "Error, norm": shown(kernel.rel_norm_error, ".2g"),
        "Bound": shown(kernel.error_bound, ".2g"),
    }


def resources(comparison: Comparison) -> list[dict[str, str]]:
    """One row a kernel with a text: what it takes of the GPU, and its simulated transactions."""
    return [_resources(kernel) for kernel in comparison.kernels if kernel.source is not None]


def _resources(kernel: KernelResult) -> dict[str, str]:
    def shown(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    counted = kernel.simulated
    return {
        "Kernel": label(kernel),
        "Registers": shown(kernel.registers, "d"),
        "Shared, bytes": shown(kernel.shared_bytes, ",d"),
        "Occupancy": shown(kernel.occupancy, ".0%"),
        "Global sectors": "not predicted" if counted is None else count(global_sectors(counted)),
        "Shared wavefronts": "not predicted"
        if counted is None
        else count(shared_wavefronts(counted)),
    }


def summary(comparison: Comparison) -> str:
    """The run in a sentence or two: the fastest right kernel beside cuBLAS; empty without one."""
    M, N, K = comparison.size
    own = [kernel for kernel in measured(comparison) if not kernel.name.startswith("cublas")]
    right = [kernel for kernel in own if kernel.verified and kernel.cublas_ratio]
    if not right:
        return ""
    best = max(right, key=lambda kernel: kernel.cublas_ratio or 0)
    told = (
        f"**{label(best)}** multiplies {M:,} × {K:,} by {K:,} × {N:,} in "
        f"**{milliseconds(best.ms or 0)}**, at **{percent(best.cublas_ratio or 0)}** of cuBLAS's "
        "speed."
    )
    agrees = " Every C agrees with a float64 product on fresh random inputs."
    return told + agrees if comparison.verified else told


def description(comparison: Comparison) -> str:
    """The comparison in words, for readers who do not see the chart."""
    return "; ".join(
        f"{label(kernel)}: {milliseconds(kernel.ms or 0)}, {kernel.tflops or 0:.3g} TFLOP/s, "
        f"{percent(kernel.cublas_ratio or 0)} of cuBLAS"
        for kernel in measured(comparison)
    )
