"""The picture of a word: its scene as SVG, of which only the marked part is seen."""

from __future__ import annotations

from dataclasses import replace

from ui.drawing.look import Look
from ui.drawing.svg import crop, draw_svg
from ui.glossary.entry import SmallScene
from ui.lessons.frame import find_frames
from ui.lessons.lesson import Mark
from ui.lessons.picture import figure_at_step
from ui.view.view_url import View

# The viewports that scenes are drawn for, so that a part is about as wide as a card and nothing is
# made smaller.
STAGE = Look(width=1240, height=440)
ARRAYS = Look(width=700, height=410)  # of a kernel without a product, whose stage is wider
TENSOR_CORE = Look(width=900, height=440)  # the chip is wider, too
SIDE = Look(width=840, height=520)
LINES = Look(width=400, height=840)  # one area under another, each as wide as the viewport
WHOLE = Look(width=900, height=560)
MARGIN = 3  # pixels around the part
LABELS = 18  # pixels above a timeline


def draw_word(view: View, mark: Mark | None, theme: str) -> str:
    """Draw the part of a scene that shows a word, as SVG; a job of a worker process.

    Raises SourceError or LaunchError.
    """
    look = replace(_viewport(SmallScene(view, mark)), theme=theme, stage=view.stage)
    figure = figure_at_step(view, look)
    svg = draw_svg(figure)
    if mark is None:
        return svg
    [place] = find_frames(figure, look, mark, is_pair=view.comparison is not None)
    if mark is Mark.TIMELINE and view.comparison is None:  # with the iterations' names
        place = replace(place, top=place.top - LABELS)
    elif mark is Mark.TIMELINE:  # with the scenes' names
        place = replace(place, left=0)
    return crop(svg, place, MARGIN)


def _viewport(scene: SmallScene) -> Look:
    if scene.mark is None:
        return WHOLE
    if scene.mark is Mark.STAGE:
        if scene.view.user_kernel is not None:
            return ARRAYS
        return TENSOR_CORE if scene.view.kernel.startswith("tensor_") else STAGE
    return SIDE if scene.mark in (Mark.LEFT, Mark.RIGHT, Mark.COUNTS) else LINES
