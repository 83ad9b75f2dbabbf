"""The picture of a stop: its scene at its step as SVG, with the place to look at in a frame."""

from __future__ import annotations

from dataclasses import replace

from ui.compute import load_drawing, load_navigation
from ui.lecture.layout import areas_for
from ui.lecture.pair_layout import areas_for_pair
from ui.lessons.lesson import Mark, Stop
from ui.look import Look
from ui.palette import PALETTES
from ui.sheet import Rectangle
from ui.svg import draw_svg
from ui.view_url import View

FRAME = 4  # pixels


def draw_stops(first: View, stops: tuple[Stop, ...], look: Look) -> tuple[str, ...]:
    """Draw each of some stops as draw_stop; a job of the worker process that has the first view."""
    return tuple(
        draw_stop(one.view, replace(look, sheet=one.view.sheet, stage=one.view.stage), one.mark)
        for one in stops
    )


def draw_stop(view: View, look: Look, mark: Mark) -> str:
    """Draw a view at its step as SVG, with a frame around a place.

    The look has the view's stage. Raises SourceError or LaunchError.
    """
    step = min(view.step, load_navigation(view)["steps"] - 1)
    svg = draw_svg(load_drawing(view, look).plain(range(step, step + 1)))
    colour = PALETTES[look.theme].focus
    frames = "".join(_frame(area, colour) for area in _areas(view, look, mark))
    return svg.replace("</svg>", f"{frames}</svg>")


def _areas(view: View, look: Look, mark: Mark) -> list[Rectangle]:
    """Where a mark is."""
    if view.partner is None:
        return [getattr(areas_for(look), mark.value)]
    pair = areas_for_pair(look)
    if mark is Mark.TIMELINE:
        return [pair.timeline]
    if mark is Mark.COUNTS:
        return list(pair.counts)
    side = 0 if mark is Mark.LEFT else 1
    above, below = pair.headings[side], pair.counts[side]
    return [Rectangle(above.left, above.top, above.right, below.bottom)]


def _frame(area: Rectangle, colour: str) -> str:
    grown = FRAME / 2 + 2
    return (
        f'<rect class="mark" x="{area.left - grown:.0f}" y="{area.top - grown:.0f}" '
        f'width="{area.width + 2 * grown:.0f}" height="{area.bottom - area.top + 2 * grown:.0f}" '
        f'rx="8" fill="none" stroke="{colour}" stroke-width="{FRAME}"/>\n'
    )
