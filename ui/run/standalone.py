"""A view run and drawn as a file of its own, without Streamlit and its caches."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ui.drawing.look import Look
from ui.run.compute import (
    animation_work,
    load_drawing,
    load_navigation,
    write_animation,
)
from ui.scene import scene
from ui.view.view_url import View, parse_view


@dataclass(frozen=True, slots=True)
class Standalone:
    """A scene as an HTML file."""

    steps: int
    beats: tuple[int, ...]  # those of them that are beats, from 0
    seconds: float  # of a processor that reading all pieces takes, estimated
    pieces: Iterator[str]  # of the file; they are built as they are read


def parse_address(address: str) -> View:
    """The view of an address of the Step page, or of what it has after the question mark.

    Raises as parse_view.
    """
    no_view = ValueError(f"{address!r} is not a view; write one as kernel=tiled&M=8&N=8&K=8.")
    try:
        query = urlsplit(address).query if "://" in address else address.lstrip("?")
    except ValueError:  # a bracket in the host's name
        raise no_view from None
    pairs = parse_qsl(query, keep_blank_values=True)
    if query and not pairs:
        raise no_view
    return parse_view(dict(pairs))


@dataclass(frozen=True, slots=True)
class Run:
    """A view that was run, to be drawn in any look."""

    stops: Mapping[str, Any]  # of its steps, as scene.navigation has them
    seconds: float  # of a processor to draw all of them for a look, estimated
    draw: Callable[[Look], scene.Drawing[Any]]


def run_view(view: View) -> Run:
    """Run a view. SourceError or LaunchError, a sentence, where that is not possible."""
    draw = functools.partial(load_drawing, view)
    return Run(load_navigation(view), animation_work(view).seconds, draw)


def draw_standalone(view: View, look: Look, begins: bool = False) -> Standalone:
    """Run a view and draw it: at its step, or with begins at its first beat.

    SourceError or LaunchError, a sentence, where it cannot be run.
    """
    work, stops = animation_work(view), load_navigation(view)
    pieces = write_animation(view, look, None if begins else view.step)
    return Standalone(stops["steps"], tuple(stops["beat"]), work.seconds, pieces)
