"""The scene's colours, light and dark: told apart by colour-blind readers, never colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one theme.

    tiles and tile_edges belong together: the fill and the outline of an outer iteration's tile.
    Their hues come from Okabe and Ito's palette, amber, sky, yellow, pink, green and lavender,
    warm and cool in turn, so that iterations that follow one another differ with any kind of
    colour blindness. Vermilion is kept for the focused thread. Which text may be on which fill
    is a table of tests/ui/test_palette.py, which computes every contrast.
    """

    paper: str  # the sheet
    ink: str  # text, and the outline of what a step touches
    faint: str  # text of less weight; not on tiles
    line: str  # borders
    far: str  # the frame of global memory
    near: str  # the frame of the chip
    cell: str  # a matrix's cell
    idle: str  # a thread's cell, a sum that has not been stored
    done: str  # what has been stored in C
    focus: str  # text and outline of the focused thread; as text not on tiles nor on done
    focus_fill: str  # its cell
    current_line: str  # of the source
    removed: str  # a line of the source that a what-if replaces
    added: str  # what it puts there
    keyword: str  # in the source
    number: str  # in the source
    comment: str  # in the source
    tiles: tuple[str, ...]
    tile_edges: tuple[str, ...]
    banks: tuple[str, str]  # the first and the last of shared memory; the others are between them
    phases: dict[str, str]  # the timeline's fills; a barrier's stands out from all others

    def tile_edge(self, iteration: int) -> str:
        """The outline of an outer iteration's tile."""
        return self.tile_edges[iteration % len(self.tile_edges)]


# Of each light and dark.
COLOURS: Mapping[str, tuple[Any, Any]] = {
    "paper": ("#ffffff", "#0e1420"),
    "ink": ("#0f1724", "#eef2f8"),
    "faint": ("#4e5969", "#b4c0d0"),
    "line": ("#828b99", "#66748a"),
    "far": ("#f7f9fc", "#121a28"),
    "near": ("#fff8ee", "#1d1a17"),
    "cell": ("#f3f5f8", "#1a2231"),
    "idle": ("#e6eaf0", "#263146"),
    "done": ("#e0cda4", "#5b4c2c"),
    "focus": ("#ad3f00", "#ff8f52"),
    "focus_fill": ("#fddac0", "#672f0c"),
    "current_line": ("#ffe08a", "#4a3d0c"),
    "removed": ("#fbe4e2", "#42202a"),
    "added": ("#dcf3e2", "#123420"),
    "keyword": ("#7a3e9d", "#dcb6f7"),
    "number": ("#0a6b4f", "#7fdcb8"),
    "comment": ("#55606f", "#a4afc0"),
    "tiles": (
        ("#fec778", "#7fcafb", "#e4de83", "#f6a4d7", "#82dda8", "#b8b4fb"),
        ("#7a5400", "#006287", "#635d0b", "#803e71", "#1c5932", "#453c8c"),
    ),
    "tile_edges": (
        ("#8a5a00", "#0b5f96", "#5f5800", "#8f2b7c", "#0a6b45", "#4a43a0"),
        ("#f5bb45", "#5db9f1", "#ebed78", "#fe91d0", "#75eca4", "#afb1df"),
    ),
    "banks": (("#e0f5f3", "#2f8f8a"), ("#0f2f2d", "#276f6a")),
    "phases": (
        {"load": "#0a6be0", "compute": "#888b93", "barrier": "#0f1724", "store": "#189b30",
         "other": "#e2e7ee"},
        {"load": "#1070f0", "compute": "#787e89", "barrier": "#eef2f8", "store": "#189430",
         "other": "#243044"},
    ),
}  # fmt: skip
LIGHT, DARK = (Palette(**{name: of[i] for name, of in COLOURS.items()}) for i in (0, 1))
PALETTES = {"light": LIGHT, "dark": DARK}

# The GPU page's charts. Only the two kernels that are compared have a colour (Okabe and Ito's);
# each is visible on both papers, as is the grey of all else.
COMPARED_COLOUR, BASE_COLOUR = "#D55E00", "#0072B2"
REFERENCE_COLOUR = "#8a8f98"  # other kernels, limits and claims
CHART_INKS = {"light": "#1d2330", "dark": "#f2f3f5"}  # text, by the page's theme
CHART_PAPERS = {CHART_INKS["light"]: LIGHT.paper, CHART_INKS["dark"]: DARK.paper}  # by the ink


def css_colours() -> str:
    """The palettes as the names that stepper.css takes colours from, for a file of its own."""
    light, dark = (
        f"--st-background-color: {one.paper}; --st-text-color: {one.ink}; "
        f"--st-secondary-background-color: {one.cell}; --st-border-color: {one.line}; "
        f"--st-primary-color: {one.focus}; --faint: {one.faint};"
        for one in (LIGHT, DARK)
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def css_charts_on_paper() -> str:
    """What prints a chart in light colours, for a page with read_web("lesson.css").

    Plotly writes text, outlines and the paper behind a name as styles of its SVG.
    """
    ink, paper = (
        (_rgb(colours["dark"]), colours["light"])
        for colours in (CHART_INKS, {theme: one.paper for theme, one in PALETTES.items()})
    )
    return (
        "@media print {\n"
        + "".join(
            f'.stPlotlyChart [style*="{name}: {dark}"] {{ {name}: {light} !important; }}\n'
            for dark, light in (ink, paper)
            for name in ("fill", "stroke")
        )
        + "}\n"
    )


def _rgb(colour: str) -> str:
    """A colour as browsers write it.

    >>> _rgb("#ff8000")
    'rgb(255, 128, 0)'
    """
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"
