"""The picture of a word that a GPU shows and no scene: a small chart of a recorded run, as SVG."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_never

from gpu.bounds import QUARTERS
from gpu.comparison import Comparison, KernelResult
from gpu.cuda.device import Device
from gpu.cuda.microbenchmarks.latency import Latency
from gpu.recorded import RecordedRun, newest
from gpu.scale.plan import Plan
from gpu.scale.recorded import RecordedScaling, widest
from simulator.launch import WARP_SIZE
from ui.drawing.canvas import CLEAR, SANS, Shape, Trace, labels, outline
from ui.drawing.palette import CHART_INKS, PALETTES, Palette
from ui.drawing.paths import box
from ui.drawing.sheet import Rectangle
from ui.drawing.svg import draw_svg
from ui.glossary.entry import SmallChart
from ui.gpu_charts import performance, roofline, tiles_over_gpus
from ui.gpu_charts.latency import NAMES
from ui.lessons.charts import largest_square, limits_of

WIDTH = 400  # pixels, a card's
EDGE = 8  # pixels around all
LETTERS = 52  # of a sentence, that have room in a line
TEXT, SMALL = 14, 12  # pixels of letters: of all, and of where it was recorded
LINE = 1.4  # of letters, from one line of text to the next
TITLE_BELOW = 38  # pixels from above
FOOT = 24  # pixels for where it was recorded
ROW, BAR = 40, 12  # pixels: a bar with its name above, and the bar
PLOT_HEIGHT = 190  # pixels of the roofline's plot
SQUARE_HEIGHT = 210  # pixels of a GPU's square
ARROW_HEAD = 9  # pixels
LADDER = ("naive", "tiled", "registers", "warptiles", "cublas")
UNDER_THE_ROOF = ("tiled", "registers", "warptiles")
IN_WAVES = "warptiles"  # each of its blocks fills a multiprocessor


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar with what is above it."""

    name: str
    text: str  # its number, on the right
    share: float  # of the row, 0 to 1
    is_meant: bool = False  # whether the word is about this one


def draw_small_chart(chart: SmallChart, theme: str) -> str:
    """Draw the chart of a word as SVG; theme is a key of palette.PALETTES."""
    run = newest()
    match chart:
        case SmallChart.LATENCIES:
            return _bars("Clock cycles until a value arrives", _latencies(run), run, theme)
        case SmallChart.MEMORIES:
            return _bars("Size, and cycles until a value arrives", _memories(run), run, theme)
        case SmallChart.OCCUPANCY:
            return _bars("Warps that a multiprocessor holds", _occupancies(run), run, theme)
        case SmallChart.SPEEDS:
            size = performance.size_name(largest_square(run).size)
            return _bars(f"TFLOP/s at {size}", _speeds(run), run, theme)
        case SmallChart.WAVES:
            return _bars(f"Blocks of {IN_WAVES} that run at once", _waves(run), run, theme)
        case SmallChart.MULTIPROCESSOR:
            return _multiprocessor(run, theme)
        case SmallChart.ROOFLINE:
            return _roofline(run, theme)
        case SmallChart.PANELS | SmallChart.PEER_COPIES:
            return _gpus(widest(), chart is SmallChart.PEER_COPIES, theme)
        case _:
            assert_never(chart)


def draw_sentence(sentence: str, theme: str) -> str:
    """Draw a sentence instead of a picture, as SVG."""
    palette = PALETTES[theme]
    lines = textwrap.wrap(sentence, LETTERS)
    places = [(EDGE, TITLE_BELOW + i * LINE * TEXT) for i in range(len(lines))]
    texts = [_words(places, lines, palette, "middle right")]
    return _draw("No picture", [], texts, TITLE_BELOW + len(lines) * LINE * TEXT, "", palette)


def _latencies(run: RecordedRun) -> list[Bar]:
    latency = limits_of(run).latency
    return [_cycles(title, latency, name) for name, title in NAMES.items()]


def _memories(run: RecordedRun) -> list[Bar]:
    """The memories whose size the recording has; DRAM is the one that is meant."""
    latency, device = limits_of(run).latency, run.device
    return [
        _cycles(f"{NAMES[name]}, {size:.0f} {unit}", latency, name, name == "dram")
        for name, size, unit in (
            ("shared", device.shared_bytes_per_block / 2**10, "KB a block"),
            ("l2", device.l2_bytes / 2**20, "MB"),
            ("dram", device.memory_bytes / 2**30, "GB"),
        )
    ]


def _cycles(name: str, latency: Latency, memory: str, is_meant: bool = False) -> Bar:
    cycles = getattr(latency, memory)
    return Bar(name, f"{cycles:,.0f} cycles", cycles / latency.dram, is_meant)


def _occupancies(run: RecordedRun) -> list[Bar]:
    most = run.device.threads_per_multiprocessor // WARP_SIZE
    return [
        Bar(
            performance.kernel_label(kernel),
            f"{kernel.occupancy * most:g} of {most}",
            kernel.occupancy,
        )
        for kernel in _chosen(largest_square(run), LADDER)
        if kernel.occupancy
    ]


def _speeds(run: RecordedRun) -> list[Bar]:
    kernels = _chosen(largest_square(run), LADDER)
    most = max(kernel.tflops or 0.0 for kernel in kernels)
    return [
        Bar(performance.kernel_label(one), f"{one.tflops:.1f}", one.tflops / most)
        for one in kernels
        if one.tflops
    ]


def _waves(run: RecordedRun) -> list[Bar]:
    """The waves of a kernel at the size of which there are the fewest, but not one alone."""
    launches = [
        (math.prod(kernel.grid or ()), _resident(run.device, kernel))
        for comparison in run.comparisons
        for kernel in _chosen(comparison, (IN_WAVES,))
    ]
    blocks, most = min((one for one in launches if one[0] > one[1]), key=lambda one: one[0])
    waves = [min(most, blocks - begin) for begin in range(0, blocks, most)]
    return [
        Bar(f"wave {n}", f"{here:,} of {most:,}", here / most, n == len(waves))
        for n, here in enumerate(waves, 1)
    ]


def _resident(device: Device, kernel: KernelResult) -> int:
    """Blocks of a kernel that the whole GPU holds at one time."""
    threads = (kernel.occupancy or 0) * device.threads_per_multiprocessor
    return round(threads / math.prod(kernel.block or (1,))) * device.multiprocessors


def _chosen(comparison: Comparison, names: Sequence[str]) -> tuple[KernelResult, ...]:
    return performance.choose_kernels(comparison, names).kernels


def _bars(title: str, bars: Sequence[Bar], run: RecordedRun, theme: str) -> str:
    """Draw bars under their names, each in a frame as long as the longest may be."""
    palette = PALETTES[theme]
    right, bottom = WIDTH - EDGE, TITLE_BELOW + ROW * len(bars)
    feet = [TITLE_BELOW + ROW * (i + 1) - EDGE for i in range(len(bars))]
    lines = [foot - BAR - 0.75 * TEXT for foot in feet]
    shapes = []
    for bar, foot in zip(bars, feet, strict=True):
        reach = EDGE + bar.share * (right - EDGE)
        colour = palette.focus if bar.is_meant else palette.phases["load"]
        shapes.append(
            outline(box(EDGE, foot - BAR, right, foot), palette.line, 1, palette.cell, "below")
        )
        shapes.append(outline(box(EDGE, foot - BAR, reach, foot), colour, 0, colour))
    texts = [
        _words([(EDGE, y) for y in lines], [bar.name for bar in bars], palette, "middle right"),
        _words([(right, y) for y in lines], [bar.text for bar in bars], palette, "middle left"),
    ]
    return _draw(title, shapes, texts, bottom, _source(run.device, run.when), palette)


def _multiprocessor(run: RecordedRun, theme: str) -> str:
    """Draw four quarters, their one port, and the memory that it leads to."""
    palette, latency = PALETTES[theme], limits_of(run).latency
    each = (WIDTH - 2 * EDGE - (QUARTERS - 1) * EDGE) / QUARTERS
    quarters, port, memory = (TITLE_BELOW + at for at in (82, 110, 154))  # where each ends
    boxes: list[tuple[Rectangle, tuple[str, ...]]] = [
        (Rectangle(left, TITLE_BELOW, left + each, quarters), ("quarter", "issues 1", "a cycle"))
        for left in (EDGE + number * (each + EDGE) for number in range(QUARTERS))
    ]
    boxes += [
        (Rectangle(WIDTH / 2 - 40, quarters, WIDTH / 2 + 40, port), ("1 port",)),
        (Rectangle(EDGE, port, WIDTH - EDGE, memory),
         ("L1 and shared memory: 1 wavefront a cycle",
          f"after {latency.l1:.0f} and {latency.shared:.0f} cycles")),
    ]  # fmt: skip
    shapes, texts = [], []
    for place, lines in boxes:
        path = box(place.left, place.top, place.right, place.bottom)
        shapes.append(outline(path, palette.line, 1.5, palette.near, "below"))
        middle = (place.left + place.right) / 2
        top = (place.top + place.bottom - (len(lines) - 1) * LINE * TEXT) / 2
        points = [(middle, top + i * LINE * TEXT) for i in range(len(lines))]
        texts.append(_words(points, lines, palette, "middle center"))
    where = _source(run.device, run.when)
    return _draw("One multiprocessor", shapes, texts, memory + EDGE, where, palette)


def _roofline(run: RecordedRun, theme: str) -> str:
    """Draw the ceilings of arithmetic and DRAM, and a few kernels beneath; both scales log."""
    palette = PALETTES[theme]
    comparison = performance.choose_kernels(largest_square(run), UNDER_THE_ROOF)
    flat, slope = roofline.find_roofs(run.device, limits_of(run))[:2]
    points = roofline.find_points(comparison)
    area = Rectangle(EDGE + 30, TITLE_BELOW + 1.5 * TEXT, WIDTH - EDGE, TITLE_BELOW + PLOT_HEIGHT)
    corner = 1e3 * flat.value / slope.value  # operations a byte from which arithmetic limits
    low, high = (0.5, 2.0), (10 * corner, flat.value)

    def place(intensity: float, tflops: float) -> tuple[float, float]:
        across = math.log(intensity / low[0]) / math.log(high[0] / low[0])
        up = math.log(tflops / low[1]) / math.log(high[1] / low[1])
        return area.left + across * area.width, area.bottom - up * area.height

    foot = place(1e3 * low[1] / slope.value, low[1])
    ridge, end = place(corner, flat.value), place(high[0], flat.value)
    beside = place(2e3 * low[1] / slope.value, 2 * low[1])  # where the slope has its name
    roof = f"M{foot[0]:.1f},{foot[1]:.1f}L{ridge[0]:.1f},{ridge[1]:.1f}L{end[0]:.1f},{end[1]:.1f}"
    axes = f"M{area.left:g},{area.top:.1f}V{area.bottom:g}H{area.right:g}"
    places = [place(point.intensity, point.kernel.tflops or 1.0) for point in points]
    shapes = [
        outline(axes, palette.line, 1, layer="below"),
        outline(roof, palette.ink, 2.5),
        *(outline(box(x - 4, y - 4, x + 4, y + 4), palette.focus, 0, palette.focus)
          for x, y in places),
    ]  # fmt: skip
    ticks = {n: place(n, n) for n in (1, 10, 100)}
    texts = [
        _words([(end[0], end[1] - TEXT)], [flat.name], palette, "middle left"),
        _words([(beside[0] + 1.5 * TEXT, beside[1])], [slope.name], palette, "middle right"),
        _words([(x + TEXT, y + 4) for x, y in places],
               [performance.kernel_label(point.kernel) for point in points], palette,
               "middle right"),
        _words([(x, area.bottom + TEXT) for x, _ in ticks.values()], [f"{n:g}" for n in ticks],
               palette, "middle center"),
        _words([(area.right, area.bottom + (1 + LINE) * TEXT)], [roofline.X_TITLE], palette,
               "middle left"),
        _words([(area.left - 5, y) for n, (_, y) in ticks.items() if low[1] < n < high[1]],
               [f"{n:g}" for n in ticks if low[1] < n < high[1]], palette, "middle left"),
    ]  # fmt: skip
    bottom = area.bottom + (2 + LINE) * TEXT
    return _draw("TFLOP/s and their ceilings", shapes, texts, bottom,
                 _source(run.device, run.when), palette)  # fmt: skip


def _gpus(recorded: RecordedScaling, with_moves: bool, theme: str) -> str:
    """Draw the GPUs of a recorded run: the step in which pieces move, or the last one."""
    palette = PALETTES[theme]
    plan = _smallest(recorded)
    figure = tiles_over_gpus.draw_plan(
        plan, 0 if with_moves else len(plan.steps) - 1, CHART_INKS[theme]
    )
    across, down = figure.layout.xaxis.range[1], figure.layout.yaxis.range[0]
    width, height = (WIDTH - 2 * EDGE) / across, SQUARE_HEIGHT / down
    shapes: list[Shape] = []
    texts: list[Trace] = []
    for one in figure.layout.shapes:
        path = box(
            EDGE + width * one.x0, TITLE_BELOW + height * one.y0,
            EDGE + width * one.x1, TITLE_BELOW + height * one.y1,
        )  # fmt: skip
        fill = CLEAR if one.fillcolor == tiles_over_gpus.NOTHING else one.fillcolor
        dash = "dot" if one.line.dash == "dash" else "solid"
        shapes.append(outline(path, one.line.color, one.line.width, fill, "below", dash))
    for one in figure.layout.annotations:
        x, y = EDGE + width * one.x, TITLE_BELOW + height * one.y
        if one.showarrow:
            begin = (EDGE + width * one.ax, TITLE_BELOW + height * one.ay)
            shapes.append(outline(_arrow(begin, (x, y)), one.arrowcolor, 3, one.arrowcolor))
            continue
        lines = one.text.split("<br>")
        top = y - (len(lines) - 1) / 2 * LINE * TEXT + (TEXT / 2 if one.yanchor == "top" else 0)
        align = "middle right" if one.xanchor == "left" else "middle center"
        texts.append(_words([(x, top + i * LINE * TEXT) for i in range(len(lines))], lines,
                            palette, align))  # fmt: skip
    title = "GPUs, each with its panels of A and B"
    if with_moves:
        title = "Pieces of A and B on their way to another GPU"
    where = _source(recorded.scaling.device, recorded.when)
    return _draw(title, shapes, texts, TITLE_BELOW + SQUARE_HEIGHT, where, palette)


def _smallest(recorded: RecordedScaling) -> Plan:
    """The plan of a recorded run over the fewest GPUs but one: a small picture has room for it."""
    plans = [run.plan for run in recorded.scaling.runs if run.plan and run.plan.gpus > 1]
    return min(plans, key=lambda plan: plan.gpus)


def _arrow(begin: tuple[float, float], end: tuple[float, float]) -> str:
    """A line with a head at its end."""
    angle = math.atan2(end[1] - begin[1], end[0] - begin[0])
    wings = [
        (end[0] - ARROW_HEAD * math.cos(angle + turn), end[1] - ARROW_HEAD * math.sin(angle + turn))
        for turn in (-0.5, 0.5)
    ]
    tip = f"{end[0]:.1f},{end[1]:.1f}"
    head = "".join(f"L{x:.1f},{y:.1f}" for x, y in wings)
    return f"M{begin[0]:.1f},{begin[1]:.1f}L{tip}M{tip}{head}Z"


def _words(
    points: Sequence[tuple[float, float]], texts: Sequence[str], palette: Palette, align: str
) -> Trace:
    return labels(points, texts, TEXT, palette.ink, align)


def _source(device: Device, when: datetime) -> str:
    return f"{device.name}, recorded {when.day} {when:%B %Y}"


def _draw(
    title: str, shapes: list[Shape], texts: list[Trace], bottom: float, where: str, palette: Palette
) -> str:
    """Write a chart as SVG, under its title and above where it was recorded."""
    height = bottom + FOOT
    above: dict[str, Any] = {
        "text": f"<b>{title}</b>", "x": EDGE / WIDTH, "y": 1 - TITLE_BELOW / 2 / height,
        "font": {"family": SANS, "size": TEXT, "color": palette.ink},
    }  # fmt: skip
    foot = labels([(EDGE, height - FOOT / 2)], [where], SMALL, palette.faint)
    layout = {
        "width": WIDTH, "height": height, "paper_bgcolor": palette.paper, "title": above,
        "shapes": shapes,
    }  # fmt: skip
    return draw_svg({"data": [*texts, foot], "layout": layout})
