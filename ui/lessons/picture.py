"""The picture of a stop: its scene at its step as SVG, with the place to look at in a frame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ui.drawing.look import Look
from ui.drawing.palette import PALETTES
from ui.drawing.sheet import Rectangle
from ui.drawing.svg import draw_svg
from ui.lessons.frame import find_frames
from ui.lessons.lesson import Mark, Stop
from ui.run.compute import load_drawing, load_navigation
from ui.view.view_url import View

FRAME = 4  # pixels


def draw_stops(first: View, stops: tuple[Stop, ...], look: Look) -> tuple[str, ...]:
    """Draw each of some stops as draw_stop; a job of the worker process that has the first view."""
    return tuple(
        draw_stop(one.view, replace(look, stage=one.view.stage), one.mark) for one in stops
    )


def draw_beats(view: View, look: Look) -> tuple[str, ...]:
    """Draw a view at each of its beats as SVG. Raises SourceError or LaunchError."""
    return tuple(
        draw_stop(replace(view, step=step), look) for step in load_navigation(view)["beat"]
    )


def draw_stop(view: View, look: Look, mark: Mark | None = None) -> str:
    """Draw a view at its step as SVG, with a frame around a place if one is named.

    The look has the view's stage. Raises SourceError or LaunchError.
    """
    figure = figure_at_step(view, look)
    colour = PALETTES[look.theme].focus
    is_pair = view.comparison is not None
    places = find_frames(figure, look, mark, is_pair=is_pair) if mark else ()
    frames = "".join(_frame(place, colour) for place in places)
    return draw_svg(figure).replace("</svg>", f"{frames}</svg>")


def figure_at_step(view: View, look: Look) -> dict[str, Any]:
    """The figure of a view at its step alone; the look has the view's stage."""
    step = min(view.step, load_navigation(view)["steps"] - 1)
    return load_drawing(view, look).plain(range(step, step + 1))


def _frame(place: Rectangle, colour: str) -> str:
    return (
        f'<rect class="mark" x="{place.left:.0f}" y="{place.top:.0f}" '
        f'width="{place.width:.0f}" height="{place.height:.0f}" '
        f'rx="8" fill="none" stroke="{colour}" stroke-width="{FRAME}"/>\n'
    )
