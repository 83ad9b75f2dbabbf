"""A scene that a lesson's reader steps through: what its player takes, with every step."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from simulator import LaunchError, SourceError
from simulator.broken_file import Broken, BrokenFileError
from ui.drawing.look import Look
from ui.drawing.svg import draw_svg
from ui.drawing.viewport import USUAL
from ui.lessons.lesson import ScenePart
from ui.lessons.markup import scene_html
from ui.lessons.picture import figure_at_step
from ui.run.compute import draw_picture, figure_id, load_navigation, load_sides, scene_title
from ui.view.view_url import View, to_query

MOST_STEPS = 400  # all are sent at once, to each of a class, and four times in a lesson's file


def count_steps(part: ScenePart) -> int:
    """Run a scene and count its steps. Raises BrokenFileError where a lesson cannot play it."""
    try:
        steps = int(load_navigation(part.view)["steps"])
    except (SourceError, LaunchError) as error:
        sentence = f"The scene cannot be run: {error}"
        raise BrokenFileError(Broken(part.file, part.line, sentence)) from None
    if steps > MOST_STEPS:
        sentence = (
            f"The scene has {steps} steps, a lesson's at most {MOST_STEPS}: choose smaller sizes."
        )
        raise BrokenFileError(Broken(part.file, part.line, sentence))
    if part.view.step >= steps:
        sentence = f"The scene begins at step {part.view.step + 1} and has only {steps}."
        raise BrokenFileError(Broken(part.file, part.line, sentence))
    return steps


def describe(view: View) -> dict[str, Any]:
    """What a player needs of a scene beside its figure.

    Its order names the scene, whatever its colours; its stops are scene.navigation's.
    """
    navigation = dict(load_navigation(view))
    return {
        "order": urlencode(to_query(view)), "name": scene_title(load_sides(view)),
        "start": view.step, "stops": navigation, "first": 0, "end": navigation["steps"],
    }  # fmt: skip


def draw_figure(view: View, look: Look) -> bytes:
    """The figure of a scene with all its frames, as JSON with the frames packed."""
    look = replace(look, stage=view.stage)
    return draw_picture(view, look, range(load_navigation(view)["steps"])).figure


def print_picture(view: View) -> str:
    """The SVG of a scene at its step, which stands for it on paper."""
    return draw_svg(figure_at_step(view, replace(USUAL, stage=view.stage)))


def draw_scene(view: View, text: str, look: Look) -> bytes:
    """What the Learn page's player takes of a scene, a job of a worker process.

    A line of JSON about the scene, and its figure's JSON. Raises SourceError or LaunchError.
    """
    header = describe(view) | {
        "id": figure_id(view, look), "html": scene_html(text, print_picture(view), opens=True),
    }  # fmt: skip
    return json.dumps(header).encode() + b"\n" + draw_figure(view, look)
