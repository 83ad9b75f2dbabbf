"""A picture of an inner loop's machine code: its instructions in order, in colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from compiler.iteration import MULTIPLY_ADD, iterations
from compiler.machine_code import Group, Instruction, MachineCode
from compiler.opcodes import REGISTER_BYTES
from ui.drawing.palette import CHART_INKS, DARK, LIGHT
from ui.gpu_charts import rows

COLUMNS = 6
ROW = 32  # pixels
SIZE = 13  # of letters, in pixels: LDS.128 fits a sixth of a phone
GAP = 0.06  # between two instructions, of a row
MARGIN = {"l": 4, "r": 4, "b": 4}
LEGEND_HEIGHT = 118  # pixels: five lines on a phone
ADDS, SHARED, FAR, WAITS, REST = (
    "multiply-add", "shared memory", "global memory", "barrier and branch",
    "addresses, comparisons, moves",
)  # fmt: skip
FAMILIES: Mapping[Group, str] = {
    Group.ARITHMETIC: ADDS, Group.SHARED_LOAD: SHARED, Group.SHARED_STORE: SHARED, Group.LOAD: FAR,
    Group.STORE: FAR, Group.COPY: FAR, Group.BARRIER: WAITS, Group.BRANCH: WAITS,
}  # fmt: skip


def inner_instructions(code: MachineCode) -> tuple[Instruction, ...]:
    """The instructions of the innermost loop with most multiply-adds, in their order."""
    inner = next(iter(iterations(code)), None)
    body = [] if inner is None else sorted(inner.loop.body)
    return tuple(code.instructions[number] for number in body)


def draw_instructions(shown: Sequence[Instruction], ink: str = rows.INK) -> go.Figure:
    """Draw a box for each instruction, six in a row from the left and from the top."""
    palette = LIGHT if ink == CHART_INKS["light"] else DARK
    colours = (*palette.tiles[:2], *palette.tiles[4:6], palette.idle)
    fills = dict(zip((ADDS, SHARED, FAR, WAITS, REST), colours, strict=True))
    chart = go.Figure()
    for name, fill in fills.items():
        places = [at for at, one in enumerate(shown) if FAMILIES.get(one.group, REST) == name]
        chart.add_bar(
            x=[0] * len(places), y=[1 - GAP] * len(places), name=name, marker_color=fill,
            base=[at // COLUMNS + GAP / 2 for at in places],
            offset=[at % COLUMNS + 0.02 for at in places], width=0.96,
            hovertext=[shown[at].text for at in places],
            hovertemplate="%{hovertext}<extra></extra>",
        )  # fmt: skip
    rows.annotate(chart, [
        go.layout.Annotation(
            x=at % COLUMNS + 0.5, y=at // COLUMNS + 0.5, text=short_name(one), showarrow=False,
            font={"size": SIZE, "color": ink},
        )
        for at, one in enumerate(shown)
    ])  # fmt: skip
    count = -(-len(shown) // COLUMNS)
    chart.update_xaxes(range=[0, COLUMNS], visible=False, fixedrange=True)
    chart.update_yaxes(range=[count, 0], visible=False, fixedrange=True)
    return chart.update_layout(
        height=count * ROW + LEGEND_HEIGHT, margin=MARGIN | {"t": LEGEND_HEIGHT},
        barmode="overlay", legend=rows.LEGEND | {"font": rows.axis_font(ink)},
    )  # fmt: skip


def describe(shown: Sequence[Instruction]) -> str:
    """The picture in words, for screen readers."""
    counts = Counter(short_name(one) for one in shown)
    listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    return f"{len(shown)} instructions, {counts[MULTIPLY_ADD]} of them {MULTIPLY_ADD}: {listed}."


def short_name(one: Instruction) -> str:
    """An opcode without modifiers, but with the bits of a wide load or store: "LDS.128"."""
    is_wide = (one.width or 0) > REGISTER_BYTES
    return f"{one.base}.{8 * (one.width or 0)}" if is_wide else one.base
