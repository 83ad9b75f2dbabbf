"""The roofline: the operations a kernel gets out of each byte, and what the GPU then allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from gpu.device import Device
from gpu.microbenchmarks.limits import Limits
from gpu.predict import global_bytes
from gpu.result import Comparison, KernelResult
from ui.gpu_charts import performance
from ui.gpu_charts.label_placement import place
from ui.palette import REFERENCE_COLOUR

HEIGHT = 560
NARROW = 1000  # pixels of the plot on a screen of 1280: wider ones only have more room for names
MARGIN = {"l": 70, "r": 20, "t": 20, "b": 70}
STEPS = 120  # places along a ceiling that names keep off
NAME_SIZE = 16
CHARACTER = 8.6  # pixels of one at NAME_SIZE
LINE = 20  # pixels that a line of text takes
DASHES = ("solid", "dash", "dot")
ACROSS = "operations for each byte that loads and stores ask for"


@dataclass(frozen=True, slots=True)
class Roof:
    """A ceiling: TFLOP/s or, per_byte, GB/s that are TFLOP/s by the operations a byte gives."""

    name: str
    value: float
    per_byte: bool

    def at(self, intensity: float) -> float:
        """TFLOP/s that it allows at so many operations a byte."""
        return self.value * intensity / 1e3 if self.per_byte else self.value


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel in the picture: operations for each byte that its loads and stores ask for."""

    kernel: KernelResult
    intensity: float
    colour: str
    marker: str


def roofs(device: Device, limits: Limits | None) -> list[Roof]:
    """The device's ceilings as measured, else as its clocks, cores and bus give them."""
    if limits:
        best = limits.ceilings
        return [
            Roof(f"FP32 measured {best.fp32_tflops:.1f} TFLOP/s", best.fp32_tflops, False),
            Roof(f"DRAM measured {best.dram_gb_s:,.0f} GB/s", best.dram_gb_s, True),
            Roof(f"L2 measured {best.l2_gb_s:,.0f} GB/s", best.l2_gb_s, True),
        ]
    found = []
    if device.peak_fp32_tflops:
        peak = device.peak_fp32_tflops
        found.append(Roof(f"FP32 peak {peak:.1f} TFLOP/s", peak, False))
    if device.peak_gb_s:
        found.append(Roof(f"DRAM peak {device.peak_gb_s:,.0f} GB/s", device.peak_gb_s, True))
    return found


def points(comparison: Comparison) -> list[Point]:
    """The float32 kernels whose bytes the simulator has counted."""
    M, N, K = comparison.size
    found = []
    for number, kernel in enumerate(performance.measured(comparison)):
        if kernel.simulated and kernel.element == "float32":
            requested = global_bytes(kernel.simulated)
            if requested:
                intensity = 2 * M * N * K / requested
                colour, marker = (
                    performance.colour_of(kernel, number),
                    performance.marker_of(number),
                )
                found.append(Point(kernel, intensity, colour, marker))
    return found


def roofline(
    comparison: Comparison, limits: Limits | None = None, ink: str = performance.INK
) -> go.Figure:
    """TFLOP/s over operations a byte, both logarithmic, under the device's ceilings.

    The bytes are those that loads and stores ask the caches for, 32 for each simulated sector: a
    kernel may lie above the line of a memory that a cache before it has relieved.
    """
    shown, lines = points(comparison), roofs(comparison.device, limits)
    low, high = _ranges(shown, lines)
    figure = go.Figure()
    flat = min((roof.value for roof in lines if not roof.per_byte), default=high[1])
    for number, roof in enumerate(lines):
        edge = min(high[0], 1e3 * flat / roof.value) if roof.per_byte else high[0]
        start = max(low[0], 1e3 * low[1] / roof.value) if roof.per_byte else low[0]
        figure.add_scatter(
            x=[start, edge], y=[roof.at(start), roof.at(edge)], mode="lines", hoverinfo="skip",
            line={"color": REFERENCE_COLOUR, "width": 3, "dash": DASHES[number]},
            name=roof.name,
        )  # fmt: skip
    for one in shown:
        figure.add_scatter(
            x=[one.intensity], y=[one.kernel.tflops], mode="markers", showlegend=False,
            marker={
                "symbol": one.marker if one.kernel.verified else f"{one.marker}-open",
                "size": 13, "color": one.colour, "line": {"width": 1.5, "color": ink},
            },
            name=performance.label(one.kernel),
            hovertemplate="%{x:.3g} operations a byte, %{y:.3g} TFLOP/s<extra>"
            + performance.label(one.kernel) + "</extra>",
        )  # fmt: skip
    _name(figure, shown, lines, low, high, ink)
    font = {"size": performance.AXIS_SIZE, "color": ink}
    for axis, title, begin, end in (
        (figure.update_xaxes, ACROSS, low[0], high[0]),
        (figure.update_yaxes, "TFLOP/s", low[1], high[1]),
    ):  # fmt: skip
        ticks = [
            10.0**power for power in range(math.ceil(math.log10(begin)), 4) if 10.0**power <= end
        ]
        axis(
            type="log", title=title, range=[math.log10(begin), math.log10(end)], tickvals=ticks,
            ticktext=[f"{tick:,g}" for tick in ticks], tickfont=font, title_font=font,
            zeroline=False,
        )  # fmt: skip
    figure.update_layout(
        height=HEIGHT, margin=MARGIN,
        legend={
            "orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0,
            "font": {"size": performance.AXIS_SIZE, "color": ink},
        },
    )  # fmt: skip
    return figure


def _ranges(
    shown: Sequence[Point], lines: Sequence[Roof]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The lowest and the highest of both axes, with room around what is shown."""
    across = [one.intensity for one in shown] or [1.0]
    up = [one.kernel.tflops or 1.0 for one in shown] + [
        roof.value for roof in lines if not roof.per_byte
    ]
    up = up or [1.0]
    return (min(across) / 2.5, min(up) / 2.5), (max(across) * 8, max(up) * 2)


def _name(
    figure: go.Figure,
    shown: Sequence[Point],
    lines: Sequence[Roof],
    low: tuple[float, float],
    high: tuple[float, float],
    ink: str,
) -> None:
    """Write each kernel's name beside its point, off the ceilings' lines."""
    width, height = NARROW, HEIGHT - MARGIN["t"] - MARGIN["b"]

    def pixels(intensity: float, tflops: float) -> tuple[float, float]:
        across = math.log(intensity / low[0]) / math.log(high[0] / low[0])
        up = math.log(tflops / low[1]) / math.log(high[1] / low[1])
        return width * across, height * (1 - up)

    ordered = sorted(shown, key=lambda one: -(one.kernel.tflops or 0.0))
    names = [performance.label(one.kernel) for one in ordered]
    steps = [low[0] * (high[0] / low[0]) ** (n / STEPS) for n in range(STEPS + 1)]
    places = place(
        [pixels(one.intensity, one.kernel.tflops or 1.0) for one in ordered],
        [CHARACTER * len(name) for name in names],
        LINE,
        (0, 0, width, height),
        [pixels(step, roof.at(step)) for roof in lines for step in steps],
    )
    for one, name, at in zip(ordered, names, places, strict=True):
        figure.add_annotation(
            x=math.log10(one.intensity), y=math.log10(one.kernel.tflops or 1.0), text=name,
            ax=at.x, ay=at.y, xanchor=at.side, yanchor="middle", showarrow=True, arrowhead=0,
            arrowwidth=1, arrowcolor=ink if at.far else "rgba(0,0,0,0)",
            font={"size": NAME_SIZE, "color": ink}, borderpad=0, standoff=0,
        )  # fmt: skip


def description(comparison: Comparison, limits: Limits | None = None) -> str:
    """The picture in words, for readers who do not see it."""
    told = [
        f"{performance.label(one.kernel)}: {one.intensity:.3g} operations a byte, "
        f"{one.kernel.tflops:.3g} TFLOP/s"
        for one in points(comparison)
    ]
    told += [
        f"{performance.label(kernel)}: operations a byte unknown"
        for kernel in performance.measured(comparison)
        if kernel.element == "float32"
        and kernel.simulated is not None
        and global_bytes(kernel.simulated) is None
    ]
    ceilings = [roof.name for roof in roofs(comparison.device, limits)]
    return f"Ceilings: {', '.join(ceilings) or 'not known'}. Kernels: {'; '.join(told) or 'none'}."
