"""How near the chosen kernels come to cuBLAS at every shape: a map, and the waves of one shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from gpu.shapes.plan import Plan, Table, plans
from gpu.shapes.shape import Shape, geometric_mean
from simulator.catalogue import FEW
from ui.drawing.palette import COMPARED_COLOUR, REFERENCE_COLOUR
from ui.gpu_charts import rows
from ui.gpu_charts.performance import format_milliseconds, format_percent, size_name

HEIGHT = 480  # pixels
SMALLEST, LARGEST = 10, 30  # pixels of a mark
FARTHEST = 0.25  # of a ratio from 1, from where colours do not change any more
MOST_WAVES = 12  # rows of the figure of waves; the last ones are drawn
EMPTY = "rgba(128,128,128,0.12)"
USUAL_KERNEL = "warptiles"  # the end of the ladder, which a chosen kernel is held against


def draw_map(shapes: Sequence[Shape], ink: str = rows.INK) -> go.Figure:
    """Draw each shape by the cells of its C and its K; the colour is the ratio to cuBLAS.

    A larger mark is a shape with more work. Blue is faster than cuBLAS, orange slower.
    """
    work = [math.log(math.prod(shape.size)) for shape in shapes]
    low, high = min(work), max(work)
    sizes = [SMALLEST + (LARGEST - SMALLEST) * (one - low) / (high - low or 1.0) for one in work]
    font = rows.axis_font(ink)
    figure = go.Figure(
        go.Scatter(
            x=[shape.size[0] * shape.size[1] for shape in shapes],
            y=[shape.size[2] for shape in shapes], mode="markers",
            marker={
                "size": sizes, "color": [shape.cublas_ratio for shape in shapes],
                "cmin": 1 - FARTHEST, "cmax": 1 + FARTHEST, "cmid": 1,
                "colorscale": [[0, COMPARED_COLOUR], [0.5, "#d9dee7"], [1, "#1d6fd0"]],
                "colorbar": {
                    "title": {"text": "of cuBLAS", "font": font}, "tickformat": ".0%",
                    "tickfont": font,
                    "orientation": "h", "y": 1.0, "yanchor": "bottom", "thickness": 14,
                },
                "line": {"width": 1, "color": ink},
                "symbol": ["circle" if shape.verified else "x" for shape in shapes],
            },
            text=[_hover_text(shape) for shape in shapes], hovertemplate="%{text}<extra></extra>",
        )
    )  # fmt: skip
    common = {
        "type": "log", "tickfont": font, "title_font": font, "gridcolor": EMPTY, "dtick": 1,
        "zeroline": False,
    }  # fmt: skip
    figure.update_xaxes(title="cells of C, M x N", **common)
    figure.update_yaxes(title="K", **common)
    figure.update_layout(height=HEIGHT, margin=rows.MARGIN | {"t": 16}, showlegend=False)
    return figure


def _hover_text(shape: Shape) -> str:
    verdict = "" if shape.verified else ", C is wrong"
    return (
        f"<b>{size_name(shape.size)}</b>: {format_percent(shape.cublas_ratio)} of cuBLAS{verdict}"
        f"<br>{shape.kernel}<br>{shape.plan.reason}"
    )


def summarize(shapes: Sequence[Shape]) -> str:
    """How near the shapes come to cuBLAS, in sentences."""
    drawn = [shape for shape in shapes if shape.is_random] or list(shapes)
    few = [shape for shape in drawn if shape.is_few]
    others = [shape for shape in drawn if not shape.is_few]
    wrong = sum(not shape.verified for shape in shapes)
    sentences = [
        f"**{len(group)} shapes {which}drawn at random: {format_percent(geometric_mean(group))} of "
        f"cuBLAS** (geometric mean), at worst {format_percent(worst.cublas_ratio)}, at "
        f"{size_name(worst.size)}."
        for group, which in ((others, ""), (few, f"with at most {FEW} rows or columns "))
        if group
        for worst in [min(group, key=lambda shape: shape.cublas_ratio)]
    ]
    return " ".join(
        [*sentences, f"{wrong} of their Cs are wrong." if wrong else "Every C is right."]
    )


def describe(shapes: Sequence[Shape]) -> str:
    """The map in words, for a screen reader."""
    listed = "; ".join(
        f"{size_name(shape.size)}, {format_percent(shape.cublas_ratio)}" for shape in shapes
    )
    return f"Speed as a share of cuBLAS's at each M × N × K: {listed}."


def usual_plan(table: Table, shape: Shape) -> Plan | None:
    """The plan of the ladder's last kernel, K in one piece; None where it cannot take the shape."""
    found = (plan for plan in plans(table, shape.size) if plan.kernel == USUAL_KERNEL)
    return next(found, None)


def waves(plan: Plan, multiprocessors: int) -> list[int]:
    """The blocks of each wave of a plan's launch."""
    each = multiprocessors * plan.resident
    full, rest = divmod(plan.blocks, each)
    return [each] * full + [rest] * bool(rest)


def draw_waves(plan: Plan, multiprocessors: int, ink: str = rows.INK) -> go.Figure:
    """Draw the last waves of a launch: how many of a wave's places for blocks are taken.

    A wave is a row. Its hollow part are multiprocessors that wait for the others.
    """
    every = waves(plan, multiprocessors)
    first = max(0, len(every) - MOST_WAVES)
    shown = every[first:]
    most = multiprocessors * plan.resident
    names = [
        rows.Name(
            f"Wave {first + number + 1}",
            f"{blocks:,} of {most:,} places, {format_percent(blocks / most)}", False,
        )
        for number, blocks in enumerate(shown)
    ]  # fmt: skip
    return _draw_places(names, shown, most, ink)


def draw_known_waves(table: Table, shapes: Sequence[Shape], ink: str = rows.INK) -> go.Figure:
    """Draw the waves of the ladder's last kernel at some shapes that it can take, as draw_waves.

    Their names fit on a phone.
    """
    names: list[rows.Name] = []
    shown: list[int] = []
    most = 0
    for shape in shapes:
        plan = usual_plan(table, shape)
        assert plan is not None
        most = table.multiprocessors * plan.resident  # the same for all
        every = waves(plan, table.multiprocessors)
        shown += every
        for number, blocks in enumerate(every, 1):
            label = f"wave {number}" if number > 1 else size_name(shape.size)
            names.append(rows.Name(label, f"{blocks:,} of {most:,} places", number == 1))
    return _draw_places(names, shown, most, ink)


def _draw_places(
    names: Sequence[rows.Name], shown: Sequence[int], most: int, ink: str
) -> go.Figure:
    """Draw a row for each name: `most` places for blocks, and how many are taken."""
    at = list(range(len(shown)))
    figure = go.Figure(
        go.Bar(
            x=shown, y=at, orientation="h", width=rows.THICKNESS, hoverinfo="skip",
            marker={"color": COMPARED_COLOUR},
        )
    )  # fmt: skip
    figure.add_bar(
        x=[most] * len(shown), y=at, orientation="h", width=rows.THICKNESS, hoverinfo="skip",
        marker={"color": EMPTY, "line": {"color": REFERENCE_COLOUR, "width": 1.5}},
    )  # fmt: skip
    rows.write_names(figure, names, ink)
    rows.draw_axis(figure, ink, "blocks at once", range=[0, 1.02 * most], nticks=6)
    figure.update_layout(showlegend=False, barmode="overlay")
    return figure


def describe_known_waves(table: Table, shapes: Sequence[Shape]) -> str:
    """The waves of the ladder's last kernel at some shapes in words, for a screen reader."""
    plans = [(shape, usual_plan(table, shape)) for shape in shapes]
    return "; ".join(
        f"{size_name(shape.size)}: {', '.join(map(str, waves(plan, table.multiprocessors)))} of "
        f"{table.multiprocessors * plan.resident} places"
        for shape, plan in plans
        if plan is not None
    )


def explain_waves(plan: Plan, multiprocessors: int) -> str:
    """What share of the places for blocks a launch fills, and how long it is predicted to take."""
    every = waves(plan, multiprocessors)
    places = len(every) * multiprocessors * plan.resident
    name = plan.kernel.split(":")[0]
    in_pieces = f", K in {plan.pieces} pieces" if plan.pieces > 1 else ""
    return (
        f"{name}{in_pieces}: {plan.blocks:,} blocks fill {format_percent(plan.blocks / places)} of "
        f"the places of {len(every):,} wave{'s' if len(every) > 1 else ''}; predicted "
        f"{format_milliseconds(plan.predicted_ms)}."
    )
