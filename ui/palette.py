"""The scene's colours, light and dark: told apart by colour-blind readers, never colour alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours of one theme.

    tiles and tile_edges belong together: the fill and the outline of an outer iteration's tile.
    They come from Okabe and Ito's palette; vermilion is kept for the focused thread.
    """

    paper: str
    ink: str
    faint: str
    line: str
    cell: str
    idle: str
    done: str
    focus: str
    focus_fill: str
    current_line: str
    keyword: str
    number: str
    comment: str
    tiles: tuple[str, ...]
    tile_edges: tuple[str, ...]
    phases: dict[str, str]

    def tile_edge(self, iteration: int) -> str:
        """The outline of an outer iteration's tile."""
        return self.tile_edges[iteration % len(self.tile_edges)]


LIGHT = Palette(
    paper="#ffffff",
    ink="#1a2433",
    faint="#5a6675",
    line="#c9d1dc",
    cell="#f3f5f8",
    idle="#e6eaf0",
    done="#e3d6bd",
    focus="#C44E00",
    focus_fill="#f6c9a8",
    current_line="#ffe08a",
    keyword="#7a3e9d",
    number="#0a6b4f",
    comment="#6b7787",
    tiles=("#f8ddA0", "#bfe2f8", "#b5e5d4", "#f2d3e5", "#c9cff2", "#f4efa6"),
    tile_edges=("#B87900", "#0072B2", "#00795a", "#a8477c", "#4a55b0", "#8a8200"),
    phases={
        "load": "#0072B2", "compute": "#a9bfd3", "barrier": "#1a2433", "store": "#00795a",
        "other": "#e2e7ee",
    },
)  # fmt: skip

DARK = Palette(
    paper="#0e1420",
    ink="#eef2f8",
    faint="#a3b0c2",
    line="#3a4659",
    cell="#1a2231",
    idle="#222c3e",
    done="#5b4c2c",
    focus="#ff9a4d",
    focus_fill="#7a3b0c",
    current_line="#5a4a10",
    keyword="#d3a6f2",
    number="#7fdcb8",
    comment="#8794a8",
    tiles=("#6b5117", "#1d5075", "#175a46", "#6a3553", "#3a4284", "#5d5910"),
    tile_edges=("#f0b83c", "#56B4E9", "#3ccf9f", "#e08abb", "#98a3f5", "#e6dd4a"),
    phases={
        "load": "#56B4E9", "compute": "#48617c", "barrier": "#eef2f8", "store": "#3ccf9f",
        "other": "#243044",
    },
)  # fmt: skip

PALETTES = {"light": LIGHT, "dark": DARK}

# The GPU page's charts: Okabe and Ito's palette, visible on light and dark.
KERNEL_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
MEASURED_COLOUR = KERNEL_COLOURS[1]  # beside what is predicted or claimed
REFERENCE_COLOUR = "#8a8f98"  # cuBLAS, limits and claims
CHART_INKS = {"light": "#1d2330", "dark": "#f2f3f5"}  # text, by the page's theme
